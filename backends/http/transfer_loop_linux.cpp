#include <sys/socket.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "backends/base/process.h"
#include "backends/http/transfer_loop.h"

namespace modlock::http {
namespace {

constexpr long kIdleConnections = 128;
constexpr std::chrono::milliseconds kQuiet{1000};

}  // namespace

TransferLoop::~TransferLoop() {
  if (thread_.joinable()) {
    {
      const std::scoped_lock lock(mutex_);
      is_ending_ = true;
    }
    curl_multi_wakeup(multi_.get());
    thread_.join();
  }
}

bool TransferLoop::open() {
  if (!thread_.joinable()) {
    multi_.reset(curl_multi_init());
    nudge_.reset(curl_easy_init());
    if (multi_ == nullptr || nudge_ == nullptr) {
      return false;
    }
    curl_multi_setopt(multi_.get(), CURLMOPT_PIPELINING, CURLPIPE_MULTIPLEX);
    curl_multi_setopt(multi_.get(), CURLMOPT_MAX_HOST_CONNECTIONS, static_cast<long>(connections_per_host_));
    curl_multi_setopt(multi_.get(), CURLMOPT_MAXCONNECTS, kIdleConnections);
    thread_ = std::thread([this] { run(); });
  }
  return true;
}

// C code calls the callbacks, and no exception may pass through it: noexcept ends the process instead.
void TransferLoop::set_callbacks(Transfer& transfer) {
  const auto set = [&](CURLoption option, auto value) { curl_easy_setopt(transfer.easy_, option, value); };
  using Resolve = int (*)(void*, void*, void*) noexcept;
  const Resolve on_resolve = [](void*, void*, void* self) noexcept {
    auto& resolving = *static_cast<Transfer*>(self);
    resolving.loop_->note_connecting(resolving);
    return 0;
  };
  // libcurl's own sockets would stay open in child processes.
  using Open = curl_socket_t (*)(void*, curlsocktype, curl_sockaddr*) noexcept;
  const Open on_open = [](void* self, curlsocktype, curl_sockaddr* to) noexcept {
    auto& connecting = *static_cast<Transfer*>(self);
    connecting.loop_->note_connecting(connecting);
    return ::socket(to->family, to->socktype | SOCK_CLOEXEC, to->protocol);
  };
  using Request = int (*)(void*, char*, char*, int, int) noexcept;
  const Request on_request = [](void* self, char*, char*, int, int) noexcept {
    auto& connected = *static_cast<Transfer*>(self);
    connected.loop_->note_connected(connected);
    return CURL_PREREQFUNC_OK;
  };
  transfer.loop_ = this;
  set(CURLOPT_PRIVATE, &transfer);
  set(CURLOPT_RESOLVER_START_FUNCTION, on_resolve);
  set(CURLOPT_RESOLVER_START_DATA, &transfer);
  set(CURLOPT_OPENSOCKETFUNCTION, on_open);
  set(CURLOPT_OPENSOCKETDATA, &transfer);
  set(CURLOPT_PREREQFUNCTION, on_request);
  set(CURLOPT_PREREQDATA, &transfer);
  // CurlTransfer has its own timeout for connecting: libcurl's would include the wait for a free connection.
  set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(std::numeric_limits<int>::max()));
}

bool TransferLoop::start(Transfer& transfer) {
  set_callbacks(transfer);
  {
    const std::scoped_lock lock(mutex_);
    if (!open()) {
      return false;
    }
    transfer.started_ = Clock::now();
  }
  give({Order::Kind::start, &transfer});
  return true;
}

void TransferLoop::resume(Transfer& transfer) {
  give({Order::Kind::resume, &transfer});
}

void TransferLoop::cancel(Transfer& transfer) {
  give({Order::Kind::cancel, &transfer});
}

void TransferLoop::give(Order order) {
  {
    const std::scoped_lock lock(mutex_);
    orders_.push_back(order);
  }
  curl_multi_wakeup(multi_.get());
}

TransferLoop::Clock::time_point TransferLoop::connecting_since(const Transfer& transfer) const {
  const std::scoped_lock lock(mutex_);
  if (transfer.connecting_) {
    return *transfer.connecting_;
  }
  if (std::ranges::any_of(running_, [&](const Transfer* other) {
        return other->is_connected_ && other->origin_ == transfer.origin_;
      })) {
    return Clock::now();
  }
  const auto reached = reached_.find(transfer.origin_);
  return reached == reached_.end() ? transfer.started_ : std::max(transfer.started_, reached->second);
}

void TransferLoop::note_connecting(Transfer& transfer) {
  const std::scoped_lock lock(mutex_);
  transfer.connecting_ = transfer.connecting_.value_or(Clock::now());
}

void TransferLoop::note_connected(Transfer& transfer) {
  Clock::time_point since;
  {
    const std::scoped_lock lock(mutex_);
    transfer.is_connected_ = true;
    since = transfer.connecting_.value_or(Clock::now());
  }
  has_changed_ = true;
  transfer.connected(since);
}

void TransferLoop::run() {
  const PipeSignalBlocked guard;  // OpenSSL writes without MSG_NOSIGNAL
  while (obey()) {
    int running = 0;
    curl_multi_perform(multi_.get(), &running);
    collect();
    if (std::exchange(has_changed_, false)) {
      retry_waiting();
    }
    const auto begun = Clock::now();
    int events = 0;
    curl_multi_poll(multi_.get(), nullptr, 0U, static_cast<int>(kQuiet.count()), &events);
    if (events == 0 && Clock::now() - begun >= kQuiet) {
      read_again();
    }
  }
  nudge_.reset();
  multi_.reset();  // closes each TLS connection properly
}

// Returns false at the end.
bool TransferLoop::obey() {
  std::vector<Order> orders;
  {
    const std::scoped_lock lock(mutex_);
    if (is_ending_) {
      return false;
    }
    orders.swap(orders_);
  }
  for (const Order& order : orders) {
    Transfer& transfer = *order.transfer;
    if (order.kind == Order::Kind::start) {
      {
        const std::scoped_lock lock(mutex_);
        running_.push_back(&transfer);
      }
      if (curl_multi_add_handle(multi_.get(), transfer.easy_) != CURLM_OK) {
        end(transfer, CURLE_FAILED_INIT);
      }
    } else if (std::ranges::find(running_, &transfer) == running_.end()) {
      continue;  // it has already ended
    } else if (order.kind == Order::Kind::cancel) {
      end(transfer, CURLE_ABORTED_BY_CALLBACK);
    } else if (const CURLcode result = curl_easy_pause(transfer.easy_, CURLPAUSE_CONT); result != CURLE_OK) {
      end(transfer, result);
    }
  }
  return true;
}

void TransferLoop::collect() {
  int queued = 0;
  while (const CURLMsg* const message = curl_multi_info_read(multi_.get(), &queued)) {
    const CURLcode result = message->data.result;
    Transfer* transfer = nullptr;
    if (curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer) == CURLE_OK && transfer != nullptr) {
      end(*transfer, result);
    }
  }
}

void TransferLoop::end(Transfer& transfer, CURLcode result) {
  curl_multi_remove_handle(multi_.get(), transfer.easy_);
  {
    const std::scoped_lock lock(mutex_);
    std::erase(running_, &transfer);
    if (transfer.is_connected_) {
      reached_[transfer.origin_] = Clock::now();
    }
  }
  has_changed_ = true;
  transfer.ended(result);
}

// libcurl 7.88 can read the last frame of an HTTP/2 stream for another transfer and not end the stream: seen with
// answers without a body. Its socket is silent from then on. To pause and resume a transfer makes libcurl read from it
// again.
void TransferLoop::read_again() {
  for (Transfer* const transfer : std::vector<Transfer*>(running_)) {
    if (transfer->is_connected_ && curl_easy_pause(transfer->easy_, CURLPAUSE_RECV) == CURLE_OK) {
      if (const CURLcode result = curl_easy_pause(transfer->easy_, CURLPAUSE_CONT); result != CURLE_OK) {
        end(*transfer, result);
      }
    }
  }
}

// When a connection becomes free, libcurl tries only the first waiting transfer, of any host, even if that one cannot
// use it. Each time a handle is removed, libcurl tries one more.
void TransferLoop::retry_waiting() {
  const auto waiting =
      std::ranges::count_if(running_, [](const Transfer* transfer) { return !transfer->is_connected_; });
  for (std::ptrdiff_t i = 0; i < waiting; ++i) {
    curl_multi_add_handle(multi_.get(), nudge_.get());
    curl_multi_remove_handle(multi_.get(), nudge_.get());
  }
}

}  // namespace modlock::http
