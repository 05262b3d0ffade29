#pragma once

#include <string>
#include <string_view>

#include "protocol/messages/workspace_edit.h"

namespace modlock {

// The text that `document` of an edit makes of its base.
std::string text_after(std::string_view base, const messages::EditedDocument& document);

}  // namespace modlock
