#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/base/result.h"
#include "protocol/messages/workspace_edit.h"

namespace modlock {

using messages::EditedDocument;
using messages::EditOperation;
using messages::RangeEdit;

// Returns the edits that turn `before` into `after`, as git finds them. Each replaces a run of whole lines.
std::vector<RangeEdit> diff_edits(std::string_view before, std::string_view after);
std::string apply_edits(std::string_view before, const std::vector<RangeEdit>& edits);
// Returns a document with both its new text and its edits. nullopt if nothing changes. `before` absent: the document is
// created.
std::optional<EditedDocument> make_document_edit(std::string path, std::optional<std::string_view> before,
                                                 std::string_view after);
// A lock file that is a symbolic link is only read. Errors: IO_ERROR naming the target.
Result<void> check_no_link(const std::filesystem::path& path);
// Writes a file of a directory, whose path has no links, or removes it for nullopt. Follows no link that has been put
// in the place of a directory since. Errors: IO_ERROR.
Result<void> replace_file(const std::filesystem::path& directory, const std::filesystem::path& name,
                          const std::optional<std::string>& text);
// Returns a unified diff with three lines of context, like `diff -u`; empty if nothing changes.
std::string unified_diff(std::string_view path, std::string_view before, std::string_view after);

}  // namespace modlock
