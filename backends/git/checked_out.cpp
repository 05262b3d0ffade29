#include "backends/git/checked_out.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <system_error>

#include "backends/base/files.h"
#include "backends/git/references.h"

namespace modlock::git {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kLongestPackedRefs = std::uintmax_t{64} << 20U;
constexpr std::uintmax_t kLongestReference = 4096;
constexpr std::string_view kBranches = "refs/heads/";

// The text of a regular file, without the space at its end; nullopt where it is none, or longer than it could be.
std::optional<std::string> read_small(const fs::path& path, std::uintmax_t longest) {
  std::error_code error;
  if (!fs::is_regular_file(fs::symlink_status(path, error)) || fs::file_size(path, error) > longest || error) {
    return std::nullopt;
  }
  auto text = read_file(path);
  if (!text) {
    return std::nullopt;
  }
  text->resize(text->find_last_not_of(" \t\r\n") + 1);
  return std::move(*text);
}

// git writes ids in lower case.
std::optional<std::string> as_commit(std::string_view text) {
  const bool fits = is_full_commit(text) && text.find_first_of("ABCDEF") == std::string_view::npos;
  return fits ? std::optional<std::string>(text) : std::nullopt;
}

// Lines are "<id> <name>"; those of comments and of peeled tags begin otherwise.
std::optional<std::string> packed_commit(const fs::path& repository, std::string_view name) {
  const auto text = read_small(repository / "packed-refs", kLongestPackedRefs);
  std::string_view rest = text ? std::string_view(*text) : std::string_view();
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    const std::size_t space = line.find(' ');
    if (space != std::string_view::npos && line.substr(space + 1) == name) {
      return as_commit(line.substr(0, space));
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> checked_out_commit(const fs::path& work_tree) {
  const fs::path repository = work_tree / ".git";
  std::error_code ignored;
  if (!fs::is_directory(fs::symlink_status(repository, ignored))) {
    return std::nullopt;
  }
  const auto head = read_small(repository / "HEAD", kLongestReference);
  constexpr std::string_view kSymbolic = "ref: ";
  if (!head || !head->starts_with(kSymbolic)) {
    return head ? as_commit(*head) : std::nullopt;
  }
  const std::string name = head->substr(kSymbolic.size());
  if (!name.starts_with(kBranches) || !is_reference_name(name)) {
    return std::nullopt;
  }
  const auto loose = read_small(repository / name, kLongestReference);
  return loose ? as_commit(*loose) : packed_commit(repository, name);
}

}  // namespace modlock::git
