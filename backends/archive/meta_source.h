#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace modlock::archive {

// The content of the first <meta name="terraform-get" content="…"> with one, before </head> or <body>. Read as
// OpenTofu does, as lax XML (encoding/xml of Go): what is no tag ends the search, as "<" in a script does.
std::optional<std::string> meta_source(std::string_view page);

}  // namespace modlock::archive
