#pragma once

#include <map>
#include <memory>
#include <string>

#include "backends/base/context.h"
#include "plugin/mirror/registry_routes.h"

namespace modlock {

// A module registry on a free port of 127.0.0.1, for the lifetime of the object. Serves GET and HEAD, and only requests
// whose Host header is "127.0.0.1:PORT" (others: 421). A connection serves one request of at most 16 KiB, which must
// arrive within ten seconds. A response continues as long as the client reads some of it within ten seconds. At most 32
// connections are served at a time. A further one replaces the oldest connection that has not sent the secret path
// within a second, so that slow connections of other users block nothing; if all have sent it, it waits.
class MirrorServer {
 public:
  // Errors: IO_ERROR if it cannot listen. `context` outlives the server; its log receives packages that could not be
  // served.
  static Result<std::unique_ptr<MirrorServer>> start(std::vector<MirroredModule> modules, const Context& context);
  virtual ~MirrorServer() = default;

  // Returns "http://127.0.0.1:PORT/…/v1/" for each host.
  virtual std::map<std::string, std::string> modules_urls() const = 0;
};

}  // namespace modlock
