#pragma once

#include <string>
#include <string_view>

#include "protocol/messages/root_params.h"
#include "protocol/messages/workspace_edit.h"

namespace modlock {

// Returns the text after applying `document` of an edit to its base.
std::string text_after(std::string_view base, const messages::EditedDocument& document);

// Returns params that show a root module as it is after these edits.
messages::RootParams with_edits(messages::RootParams root, const messages::WorkspaceEdit& edits);

}  // namespace modlock
