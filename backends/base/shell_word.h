#pragma once

#include <string>
#include <string_view>

namespace modlock {

// Returns the text as one word of a shell, in quotation marks only if they are needed.
std::string shell_word(std::string_view text);

}  // namespace modlock
