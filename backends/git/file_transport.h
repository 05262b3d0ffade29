#pragma once

#include <string_view>

#include "backends/base/context.h"
#include "backends/git/remote_address.h"
#include "protocol/base/result.h"

namespace modlock::git {

// Whether a repository may be asked that not the user names but a repository or a server: git refuses the file
// transport there unless protocol.file.allow, protocol.allow or GIT_ALLOW_PROTOCOL allow it. SOURCE_DENIED otherwise,
// of `thing` ("submodule") with `reason` ("which git does not allow to submodules").
Result<void> check_file_transport(const RemoteAddress& address, std::string_view thing, std::string_view reason,
                                  const Context& context);

}  // namespace modlock::git
