#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace modlock::eval {

// A point in time of YAML ("2001-12-14", "2001-12-14 21:59:43.1", "2001-12-14t21:59:43-05:00") as RFC 3339 writes it,
// without fractions of a second; nullopt for any other text.
std::optional<std::string> yaml_time(std::string_view text);

}  // namespace modlock::eval
