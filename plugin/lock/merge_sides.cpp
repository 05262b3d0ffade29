#include "plugin/lock/merge_sides.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "plugin/lock/local_git.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;

// Spares processes if git's files show that nothing is under way. A stash that left a conflict has no file of its own,
// but stays in the list of stashes.
bool may_be_merging(const fs::path& repository) {
  std::error_code ignored;
  const fs::path directory = repository / ".git";
  if (!fs::is_directory(directory, ignored)) {
    return fs::exists(directory, ignored);  // a linked work tree
  }
  const auto has = [&](const char* name) { return fs::exists(directory / name, ignored); };
  return has("MERGE_HEAD") || has("CHERRY_PICK_HEAD") || has("REVERT_HEAD") || has("rebase-merge") ||
         has("rebase-apply") || has("refs/stash");
}

class SideReader {
 public:
  SideReader(const fs::path& root, const std::string& path, const Context& context)
      : root_(root), path_(path), context_(context) {}

  Result<std::optional<MergeSides>> read() {
    auto sides = read_stages();
    return sides && !*sides ? read_commits() : std::move(sides);
  }

 private:
  using Output = Result<std::optional<std::string>>;

  Output git(const std::vector<std::string>& arguments) const { return run_local_git(root_, arguments, context_); }

  // The blob of an id that git named itself.
  Result<std::string> blob(const std::string& id) const {
    auto text = git({"cat-file", "blob", id});
    if (text && !*text) {
      return fail(Code::io_error, fmt::format("git cannot read {} as a side of the merge has it ({})", path_, id),
                  "check the repository with: git fsck");
    }
    return text ? Result<std::string>(std::move(**text)) : fail(std::move(text.error()));
  }

  Result<std::optional<MergeSides>> read_stages() const {
    const auto listed = git({"--literal-pathspecs", "ls-files", "--unmerged", "-z", "--", path_});
    if (!listed) {
      return fail(listed.error());
    }
    // "<mode> <id> <stage>\t<path>\0"
    std::array<std::string, 3> ids;
    std::string_view rest = *listed ? std::string_view(**listed) : std::string_view();
    bool any = false;
    while (!rest.empty()) {
      const std::string_view line = rest.substr(0, rest.find('\0'));
      rest.remove_prefix(std::min(line.size() + 1, rest.size()));
      const std::size_t id = line.find(' ') + 1;
      const std::size_t stage = line.find(' ', id) + 1;
      if (id == 0 || stage == 0 || stage >= line.size() || line[stage] < '1' || line[stage] > '3') {
        continue;
      }
      ids.at(static_cast<std::size_t>(line[stage] - '1')) = line.substr(id, stage - 1 - id);
      any = true;
    }
    if (!any) {
      return std::nullopt;
    }
    std::array<std::string, 3> texts;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      auto text = ids.at(i).empty() ? Result<std::string>() : blob(ids.at(i));
      if (!text) {
        return fail(std::move(text.error()));
      }
      texts.at(i) = std::move(*text);
    }
    return MergeSides{std::move(texts[0]), {std::move(texts[1]), std::move(texts[2])}};
  }

  // The full id of what an expression names; empty if it names nothing.
  Result<std::string> id_of(const std::string& expression) const {
    auto id = git({"rev-parse", "--verify", "--quiet", expression});
    if (!id) {
      return fail(std::move(id.error()));
    }
    return *id ? (*id)->substr(0, (*id)->find('\n')) : std::string();
  }

  Result<std::string> text_in(const std::string& commit) const {
    const auto id = id_of(commit + ":./" + path_);
    if (!id || id->empty()) {
      return id;
    }
    return blob(*id);
  }

  Result<std::string> merge_base(const std::string& commit) const {
    const auto found = git({"merge-base", "HEAD", commit});
    if (!found) {
      return fail(found.error());
    }
    return *found ? (*found)->substr(0, (*found)->find('\n')) : std::string();
  }

  // The commit that is being applied, and the one that it is compared with.
  Result<std::pair<std::string, std::string>> find_commits() const {
    for (const char* name : {"MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD"}) {
      const auto commit = id_of(std::string(name) + "^{commit}");
      if (!commit) {
        return fail(commit.error());
      }
      if (commit->empty()) {
        continue;
      }
      const bool is_merge = std::string_view(name) == "MERGE_HEAD";
      auto base = is_merge ? merge_base(*commit) : id_of(*commit + "^");
      if (!base) {
        return fail(std::move(base.error()));
      }
      return std::string_view(name) == "REVERT_HEAD" ? std::pair(std::move(*base), *commit)
                                                     : std::pair(*commit, std::move(*base));
    }
    return std::pair<std::string, std::string>();
  }

  Result<std::optional<MergeSides>> read_commits() const {
    const auto commits = find_commits();
    if (!commits) {
      return fail(commits.error());
    }
    const auto& [theirs, base] = *commits;
    if (theirs.empty()) {
      return std::nullopt;
    }
    MergeSides sides;
    if (!base.empty()) {
      auto text = text_in(base);
      if (!text) {
        return fail(std::move(text.error()));
      }
      sides.base = std::move(*text);
    }
    for (const std::string& commit : {std::string("HEAD"), theirs}) {
      auto text = text_in(commit);
      if (!text) {
        return fail(std::move(text.error()));
      }
      sides.sides.push_back(std::move(*text));
    }
    return sides;
  }

  const fs::path& root_;
  const std::string& path_;
  const Context& context_;
};

}  // namespace

Result<std::optional<MergeSides>> find_merge_sides(const fs::path& repository, const fs::path& root,
                                                   const std::string& path, const Context& context) {
  if (!may_be_merging(repository)) {
    return std::nullopt;
  }
  return SideReader(root, path, context).read();
}

}  // namespace modlock
