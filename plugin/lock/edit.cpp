#include "plugin/lock/edit.h"

#include <fmt/format.h>

#include "backends/base/digest.h"
#include "backends/base/files.h"
#include "backends/base/pinned_directory.h"
#include "backends/git/line_diff.h"
#include "plugin/hcl/characters.h"

namespace modlock {
namespace {

// Positions of the starts of the lines of a text, and of its end.
std::vector<Position> line_positions(const std::vector<std::string_view>& lines) {
  std::vector<Position> positions = {Position{}};
  for (const std::string_view line : lines) {
    positions.push_back(hcl::advance(positions.back(), line));
  }
  return positions;
}

}  // namespace

std::vector<RangeEdit> diff_edits(std::string_view before, std::string_view after) {
  const std::vector<std::string_view> old_lines = git::split_lines(before);
  const std::vector<std::string_view> new_lines = git::split_lines(after);
  const std::vector<Position> old_positions = line_positions(old_lines);
  const std::vector<Position> new_positions = line_positions(new_lines);
  std::vector<RangeEdit> edits;
  for (const git::LineChange& change : git::diff_lines(before, after)) {
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

std::string apply_edits(std::string_view before, const std::vector<RangeEdit>& edits) {
  std::string result;
  std::size_t done = 0;
  for (const RangeEdit& edit : edits) {
    result += before.substr(done, edit.start - done);
    result += edit.new_text;
    done = edit.end;
  }
  result += before.substr(done);
  return result;
}

std::optional<EditedDocument> make_document_edit(std::string path, std::optional<std::string_view> before,
                                                 std::string_view after) {
  if (before == after) {
    return std::nullopt;
  }
  EditedDocument edit{.path = std::move(path),
                      .operation = before ? EditOperation::modify : EditOperation::create,
                      .new_text = std::string(after),
                      .edits = diff_edits(before.value_or(""), after),
                      .result_sha256 = sha256_hex(after),
                      .before = std::string(before.value_or(""))};
  if (before) {
    edit.base_sha256 = sha256_hex(*before);
  }
  return edit;
}

Result<void> check_no_link(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::is_symlink(path, ignored)) {
    return {};
  }
  return fail(Code::io_error,
              fmt::format("cannot write {}: it is a link to {}", path.string(),
                          std::filesystem::read_symlink(path, ignored).string()),
              "replace the link with a copy of the file, or make the change there by hand: --dry-run shows it");
}

Result<void> replace_file(const std::filesystem::path& directory, const std::filesystem::path& name,
                          const std::optional<std::string>& text) {
  MODLOCK_TRY(const auto pinned, PinnedDirectory::open(directory.root_path(), directory.relative_path()));
  const std::filesystem::path path = pinned.path() / name;
  std::error_code error;
  auto ok = text ? write_file_atomically(path, *text) : Result<void>();
  if (!text && !std::filesystem::remove(path, error) && error) {
    ok = fail(Code::io_error, fmt::format("cannot remove {}: {}", (directory / name).string(), error.message()));
  }
  return ok.map_error([&](Error failure) { return pinned.with_real_path(std::move(failure)); });
}

std::string unified_diff(std::string_view path, std::string_view before, std::string_view after) {
  const std::string hunks = git::unified_hunks(before, after);
  return hunks.empty() ? "" : fmt::format("--- {0}\n+++ {0}\n{1}", path, hunks);
}

}  // namespace modlock
