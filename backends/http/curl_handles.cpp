#include "backends/http/curl_handles.h"

#include <algorithm>
#include <utility>

#include "backends/base/pipe_signal.h"

namespace modlock::http {
namespace {

constexpr std::size_t kIdleHandles = 64;

bool initialise_curl() {
  static const bool is_ready = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
  return is_ready;
}

}  // namespace

CurlHandle::~CurlHandle() {
  const PipeSignalBlocked guard;  // closing a TLS connection says so to the other side, which may be gone
  easy.reset();                   // first: it may still need what the multi handle owns
  multi.reset();
}

HandlePool::HandlePool(std::size_t most_of_one_origin) : most_of_one_origin_(most_of_one_origin) {}

// With the first handle: loading libcurl and all that it needs takes longer than many a run that asks nobody.
void HandlePool::open_share() {
  if (!initialise_curl()) {
    return;
  }
  share_.reset(curl_share_init());
  curl_share_setopt(share_.get(), CURLSHOPT_LOCKFUNC, &HandlePool::lock);
  curl_share_setopt(share_.get(), CURLSHOPT_UNLOCKFUNC, &HandlePool::unlock);
  curl_share_setopt(share_.get(), CURLSHOPT_USERDATA, this);
  curl_share_setopt(share_.get(), CURLSHOPT_SHARE, CURL_LOCK_DATA_DNS);
  curl_share_setopt(share_.get(), CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION);
}

HandlePool::~HandlePool() {
  idle_.clear();  // before what they share
}

void HandlePool::lock(CURL*, curl_lock_data data, curl_lock_access, void* self) {
  static_cast<HandlePool*>(self)->locks_[data].lock();
}

void HandlePool::unlock(CURL*, curl_lock_data data, void* self) {
  static_cast<HandlePool*>(self)->locks_[data].unlock();
}

std::unique_ptr<CurlHandle> HandlePool::make_handle(const std::string& origin) {
  std::call_once(is_open_, [this] { open_share(); });
  auto handle = std::make_unique<CurlHandle>();
  handle->multi.reset(share_ == nullptr ? nullptr : curl_multi_init());
  handle->easy.reset(share_ == nullptr ? nullptr : curl_easy_init());
  if (handle->multi == nullptr || handle->easy == nullptr) {
    return nullptr;
  }
  curl_multi_setopt(handle->multi.get(), CURLMOPT_MAXCONNECTS, 1L);
  curl_easy_setopt(handle->easy.get(), CURLOPT_SHARE, share_.get());
  handle->origin = origin;
  return handle;
}

// False where the context ends first.
bool HandlePool::wait_for_turn(const std::string& origin, const Context& context) {
  std::unique_lock lock(mutex_);
  const auto is_free = [&] { return lent_[origin] < most_of_one_origin_; };
  const bool came = context.deadline ? turn_ended_.wait_until(lock, context.stop, *context.deadline, is_free)
                                     : turn_ended_.wait(lock, context.stop, is_free);
  if (came) {
    ++lent_[origin];
  }
  return came;
}

void HandlePool::end_turn(const std::string& origin) {
  {
    const std::scoped_lock lock(mutex_);
    const auto lent = lent_.find(origin);
    if (--lent->second == 0) {
      lent_.erase(lent);
    }
  }
  turn_ended_.notify_all();  // those who wait, wait for different origins
}

std::unique_ptr<CurlHandle> HandlePool::take_idle(const std::string& origin) {
  const std::scoped_lock lock(mutex_);
  const auto found =
      std::find_if(idle_.rbegin(), idle_.rend(), [&](const auto& idle) { return idle->origin == origin; });
  if (found == idle_.rend()) {
    return nullptr;
  }
  auto handle = std::move(*found);
  idle_.erase(std::next(found).base());
  return handle;
}

HandlePool::PooledHandle HandlePool::acquire(const std::string& origin, const Context& context) {
  if (!wait_for_turn(origin, context)) {
    return nullptr;
  }
  auto handle = take_idle(origin);
  if (handle == nullptr) {
    handle = make_handle(origin);
  }
  if (handle == nullptr) {
    end_turn(origin);
  }
  return {handle.release(), {this}};
}

bool HandlePool::wants_spare(const std::string& origin) {
  const std::scoped_lock lock(mutex_);
  const auto lent = lent_.find(origin);
  return lent != lent_.end() && lent->second > 1 && lent->second < most_of_one_origin_;
}

void HandlePool::offer_spare_connection(CURL* easy) {
  using Open = curl_socket_t (*)(void*, curlsocktype, curl_sockaddr*) noexcept;
  const Open open = [](void* self, curlsocktype, curl_sockaddr* to) noexcept {
    const std::string address(reinterpret_cast<const char*>(&to->addr), to->addrlen);
    const int spare = static_cast<HandlePool*>(self)->spares_.take(address);
    return spare >= 0 ? spare : open_socket(to->family, to->socktype, to->protocol);
  };
  using Prepare = int (*)(void*, curl_socket_t, curlsocktype) noexcept;
  const Prepare prepare = [](void*, curl_socket_t socket, curlsocktype) noexcept {
    return is_connected(socket) ? CURL_SOCKOPT_ALREADY_CONNECTED : CURL_SOCKOPT_OK;
  };
  curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open);
  curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, this);
  curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, prepare);
}

void HandlePool::give_back(std::unique_ptr<CurlHandle> handle) {
  if (const int socket = std::exchange(handle->connected_socket, -1); socket >= 0 && wants_spare(handle->origin)) {
    spares_.open_like(socket);
  }
  curl_easy_reset(handle->easy.get());  // forgets the options, which hold secrets; connections stay
  const std::string origin = handle->origin;
  std::unique_ptr<CurlHandle> oldest;
  {
    const std::scoped_lock lock(mutex_);
    idle_.push_back(std::move(handle));
    if (idle_.size() > kIdleHandles) {
      oldest = std::move(idle_.front());
      idle_.erase(idle_.begin());
    }
  }
  end_turn(origin);
}

}  // namespace modlock::http
