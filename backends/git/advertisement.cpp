#include "backends/git/advertisement.h"

#include <git2.h>
#include <git2/sys/transport.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "backends/git/library.h"

namespace modlock::git {
namespace {

using Remote = std::unique_ptr<git_remote, Free<git_remote, git_remote_free>>;

struct Exchange {
  std::function<Result<std::string>()> request;
  std::string body = {};
  std::size_t offset = 0;
  std::optional<Error> error = {};
};

// libgit2 knows both by pointers to their first member, which their bases are.
struct Stream : git_smart_subtransport_stream {
  Exchange* exchange = nullptr;
};
struct Subtransport : git_smart_subtransport {
  Exchange* exchange = nullptr;
};

int read(git_smart_subtransport_stream* stream, char* buffer, std::size_t size, std::size_t* got) {
  Exchange& exchange = *static_cast<Stream*>(stream)->exchange;
  *got = std::min(size, exchange.body.size() - exchange.offset);
  std::memcpy(buffer, exchange.body.data() + exchange.offset, *got);
  exchange.offset += *got;
  return 0;
}

int refuse_write(git_smart_subtransport_stream* /*stream*/, const char* /*buffer*/, std::size_t /*size*/) {
  git_error_set_str(GIT_ERROR_NET, "nothing is written while references are listed");
  return -1;
}

void free_stream(git_smart_subtransport_stream* stream) {
  delete static_cast<Stream*>(stream);
}

int act(git_smart_subtransport_stream** out, git_smart_subtransport* subtransport, const char* /*url*/,
        git_smart_service_t service) {
  Exchange& exchange = *static_cast<Subtransport*>(subtransport)->exchange;
  if (service != GIT_SERVICE_UPLOADPACK_LS) {
    git_error_set_str(GIT_ERROR_NET, "only references are listed");
    return -1;
  }
  auto body = exchange.request();
  if (!body) {
    exchange.error = std::move(body.error());
    git_error_set_str(GIT_ERROR_HTTP, "the request failed");
    return -1;
  }
  exchange.body = std::move(*body);
  auto stream = std::make_unique<Stream>();
  stream->subtransport = subtransport;
  stream->read = read;
  stream->write = refuse_write;
  stream->free = free_stream;
  stream->exchange = &exchange;
  *out = stream.release();
  return 0;
}

int close_subtransport(git_smart_subtransport* /*subtransport*/) {
  return 0;
}

void free_subtransport(git_smart_subtransport* subtransport) {
  delete static_cast<Subtransport*>(subtransport);
}

int make_subtransport(git_smart_subtransport** out, git_transport* /*owner*/, void* payload) {
  auto subtransport = std::make_unique<Subtransport>();
  subtransport->action = act;
  subtransport->close = close_subtransport;
  subtransport->free = free_subtransport;
  subtransport->exchange = static_cast<Exchange*>(payload);
  *out = subtransport.release();
  return 0;
}

int make_transport(git_transport** out, git_remote* owner, void* payload) {
  git_smart_subtransport_definition definition{make_subtransport, 1, payload};
  return git_transport_smart(out, owner, &definition);
}

std::string text_of(const git_oid& id) {
  std::string text(GIT_OID_HEXSZ, '\0');
  git_oid_fmt(text.data(), &id);
  return text;
}

tl::unexpected<Error> bad_response() {
  return fail(Code::bad_response, library_reason());
}

// In the order of the server: a peeled name stands behind its tag.
References references_of(const git_remote_head* const* heads, std::size_t count) {
  constexpr std::string_view kPeeled = "^{}";
  References references;
  references.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    std::string_view name = heads[i]->name;
    std::string id = text_of(heads[i]->oid);
    if (name.ends_with(kPeeled)) {
      name.remove_suffix(kPeeled.size());
      if (!references.empty() && references.back().name == name) {
        references.back().commit = std::move(id);
      }
      continue;
    }
    references.push_back({std::string(name), id, id});
  }
  return references;
}

}  // namespace

Result<References> read_advertisement(const std::string& url, std::function<Result<std::string>()> request) {
  start_library();
  Exchange exchange{std::move(request)};
  git_remote* raw = nullptr;
  if (git_remote_create_detached(&raw, url.c_str()) != 0) {
    return bad_response();
  }
  const Remote remote(raw);
  git_remote_callbacks callbacks{};
  git_remote_init_callbacks(&callbacks, GIT_REMOTE_CALLBACKS_VERSION);
  callbacks.transport = make_transport;
  callbacks.payload = &exchange;
  git_error_clear();
  const int connected = git_remote_connect(remote.get(), GIT_DIRECTION_FETCH, &callbacks, nullptr, nullptr);
  if (exchange.error) {
    return fail(std::move(*exchange.error));
  }
  const git_remote_head** heads = nullptr;
  std::size_t count = 0;
  if (connected != 0 || git_remote_ls(&heads, &count, remote.get()) != 0) {
    return bad_response();
  }
  return references_of(heads, count);
}

}  // namespace modlock::git
