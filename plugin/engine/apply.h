#pragma once

#include <string>
#include <string_view>

#include "protocol/messages/workspace_edit.h"

namespace modlock {

// Returns the text after applying `document` of an edit to its base.
std::string text_after(std::string_view base, const messages::EditedDocument& document);

}  // namespace modlock
