#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/base/error.h"
#include "protocol/base/result.h"

namespace modlock {

// One replacement. Offsets are 0-based bytes in the base text, `end` exclusive.
struct TextEdit {
  std::size_t start = 0;
  std::size_t end = 0;
  std::string old_text;
  std::string new_text;
  Range range;  // of start..end in the base
};

// A change to one document. A host applies it only if the base is still the same.
struct DocumentEdit {
  std::string path;  // relative to the root
  enum class Operation { modify, create, remove } operation = Operation::modify;
  std::optional<std::string> base_sha256;  // 64 hex digits; absent for create
  std::string new_text;                    // the full text; empty for remove
  std::vector<TextEdit> edits;             // sorted, not overlapping; applying them to the base gives new_text
  std::string result_sha256;               // of new_text
};

// Returns the smallest edits that turn `before` into `after`. Each replaces a run of whole lines.
std::vector<TextEdit> diff_edits(std::string_view before, std::string_view after);
std::string apply_edits(std::string_view before, const std::vector<TextEdit>& edits);
// nullopt if nothing changes. `before` absent: the document is created.
std::optional<DocumentEdit> make_document_edit(std::string path, std::optional<std::string_view> before,
                                               std::string_view after);
// A lock file that is a symbolic link is only read. Errors: IO_ERROR naming the target.
Result<void> check_no_link(const std::filesystem::path& path);
// Returns a unified diff with three lines of context, like `diff -u`; empty if nothing changes.
std::string unified_diff(std::string_view path, std::string_view before, std::string_view after);

}  // namespace modlock
