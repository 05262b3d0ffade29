#include "plugin/lock/edit.h"

#include "backends/base/digest.h"
#include "plugin/hcl/characters.h"
#include "plugin/lock/line_diff.h"

namespace modlock {
namespace {

// Positions of the line starts of a text, and of its end.
std::vector<Position> line_positions(const std::vector<std::string_view>& lines) {
  std::vector<Position> positions = {Position{}};
  for (const std::string_view line : lines) {
    positions.push_back(hcl::advance(positions.back(), line));
  }
  return positions;
}

}  // namespace

std::vector<TextEdit> diff_edits(std::string_view before, std::string_view after) {
  const std::vector<std::string_view> old_lines = split_lines(before);
  const std::vector<std::string_view> new_lines = split_lines(after);
  const std::vector<Position> old_positions = line_positions(old_lines);
  const std::vector<Position> new_positions = line_positions(new_lines);
  std::vector<TextEdit> edits;
  for (const LineChange& change : diff_lines(old_lines, new_lines)) {
    const Range range{old_positions[change.before_start], old_positions[change.before_end]};
    const std::size_t new_start = new_positions[change.after_start].byte;
    const std::size_t new_end = new_positions[change.after_end].byte;
    edits.push_back({.start = range.start.byte,
                     .end = range.end.byte,
                     .old_text = std::string(before.substr(range.start.byte, range.end.byte - range.start.byte)),
                     .new_text = std::string(after.substr(new_start, new_end - new_start)),
                     .range = range});
  }
  return edits;
}

std::string apply_edits(std::string_view before, const std::vector<TextEdit>& edits) {
  std::string result;
  std::size_t done = 0;
  for (const TextEdit& edit : edits) {
    result += before.substr(done, edit.start - done);
    result += edit.new_text;
    done = edit.end;
  }
  result += before.substr(done);
  return result;
}

std::optional<DocumentEdit> make_document_edit(std::string path, std::optional<std::string_view> before,
                                               std::string_view after) {
  if (before == after) {
    return std::nullopt;
  }
  DocumentEdit edit{.path = std::move(path),
                    .operation = before ? DocumentEdit::Operation::modify : DocumentEdit::Operation::create,
                    .base_sha256 = {},
                    .new_text = std::string(after),
                    .edits = diff_edits(before.value_or(""), after),
                    .result_sha256 = sha256_hex(after)};
  if (before) {
    edit.base_sha256 = sha256_hex(*before);
  }
  return edit;
}

}  // namespace modlock
