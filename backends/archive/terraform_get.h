#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "backends/address/source.h"
#include "backends/http/http_client.h"
#include "protocol/base/result.h"

namespace modlock::archive {

// The content of the first <meta name="terraform-get" content="…"> with one, before </head> or <body>. Read as
// OpenTofu does, as lax XML (encoding/xml of Go): what is no tag ends the search, as "<" in a script does.
std::optional<std::string> meta_source(std::string_view page);

// Where a server that was asked with terraform-get=1 says that the package is: its X-Terraform-Get header, else
// meta_source() of its page. It has to be a whole address, "scheme://…" or "getter::…": OpenTofu takes no relative one
// and no shorthand. Pure. `display` names what was asked.
// Errors: BAD_RESPONSE (it says nothing, or no such address); SOURCE_UNSUPPORTED (`oci`, which OpenTofu cannot be sent
// to from here); those of parse_source() that are neither.
Result<SourceAddress> read_terraform_get(const HttpResponse& response, std::string_view display);

}  // namespace modlock::archive
