#pragma once

#include <map>
#include <memory>
#include <string>

#include "backends/base/context.h"
#include "plugin/mirror/registry_routes.h"

namespace modlock {

// A registry of modules on a free port of 127.0.0.1, for as long as the object lives. Serves GET and HEAD, and only
// requests whose Host header is "127.0.0.1:PORT" (others: 421). A connection serves one request, of at most 16 KiB,
// which has ten seconds to arrive; a response continues as long as the other side takes some of it within ten seconds.
// Thirty-two connections are served at a time. A further one takes the place of the oldest that has not shown the
// secret path within a second, so that slow connections of other users block nothing; if all have shown it, it waits.
class MirrorServer {
 public:
  // Errors: IO_ERROR where it cannot listen. `context` outlives the server; its log hears of packages that could not be
  // handed out.
  static Result<std::unique_ptr<MirrorServer>> start(std::vector<MirroredModule> modules, const Context& context);
  ~MirrorServer();
  MirrorServer(const MirrorServer&) = delete;
  MirrorServer& operator=(const MirrorServer&) = delete;

  // "http://127.0.0.1:PORT/…/v1/" of each host.
  std::map<std::string, std::string> modules_urls() const;

 private:
  class Impl;
  explicit MirrorServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace modlock
