#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "backends/address/source.h"
#include "backends/http/http_client.h"
#include "protocol/base/result.h"

namespace modlock::archive {

// Returns the first non-empty content of <meta name="terraform-get" content="…"> before </head> or <body>. Reads the
// page as OpenTofu does, as lax XML (encoding/xml of Go): the search ends at a malformed tag, such as "<" in a script.
std::optional<std::string> meta_source(std::string_view page);

// Returns the location of the package from the response to a request with terraform-get=1: the X-Terraform-Get header,
// else meta_source() of the page. The location must be a full address, "scheme://…" or "getter::…": OpenTofu accepts
// neither relative addresses nor shorthands here. Pure. `display` names the request.
// Errors: BAD_RESPONSE (no location, or not a full address); SOURCE_UNSUPPORTED (`oci`, which OpenTofu does not follow
// from here); other errors of parse_source().
Result<SourceAddress> read_terraform_get(const HttpResponse& response, std::string_view display);

}  // namespace modlock::archive
