#include "plugin/lock/local_git.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <utility>

#include "backends/address/source_text.h"
#include "backends/base/collections.h"
#include "backends/base/files.h"
#include "backends/base/text.h"
#include "backends/git/git_command.h"
#include "backends/git/library.h"
#include "protocol/base/utf8.h"

namespace modlock {
namespace {

bool ends_the_run(const Error& error) {
  return error.code == Code::request_cancelled || error.code == Code::deadline_exceeded || error.code == Code::io_error;
}

namespace fs = std::filesystem;

constexpr const char* kEmptyVariable = "MODLOCK_EMPTY";

Result<Finished> run_git(const fs::path& directory, std::vector<std::string> arguments, const Context& context,
                         std::string input = {}) {
  Command command = git::enclosing_command(directory, std::move(arguments));
  command.input = std::move(input);
  command.set_environment[kEmptyVariable] = "";
  return run_command(command, context);
}

// The git directory of the work tree, which is elsewhere if the work tree is a linked one. Empty: none exists.
fs::path find_git_directory(const fs::path& repository) {
  constexpr std::string_view kPointer = "gitdir: ";
  const fs::path path = repository / ".git";
  if (path_is_directory(path)) {
    return path;
  }
  const auto pointer = read_file(path);
  if (!pointer || !pointer->starts_with(kPointer)) {
    return {};
  }
  return repository / pointer->substr(kPointer.size(), pointer->find_last_not_of("\r\n") + 1 - kPointer.size());
}

// Avoids processes if no commit is being applied. REBASE_HEAD remains after a rebase is left with --quit.
std::vector<std::string_view> heads_in(const fs::path& git_directory) {
  const auto has = [&](std::string_view name) { return path_exists(git_directory / name); };
  std::vector<std::string_view> heads;
  for (const std::string_view name : {"MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD"}) {
    if (has(name)) {
      heads.push_back(name);
    }
  }
  if (has("rebase-merge") || has("rebase-apply")) {
    heads.push_back("REBASE_HEAD");
  }
  return heads;
}

class SideReader {
 public:
  SideReader(const fs::path& root, const std::string& path, const Context& context)
      : root_(root), path_(path), context_(context) {}

  // `heads` name the commits that may be in the process of being applied.
  Result<std::optional<MergeSides>> read(const std::vector<std::string_view>& heads) const {
    auto sides = read_stages();
    return sides && !*sides ? read_commits(heads) : std::move(sides);
  }

 private:
  using Output = Result<std::optional<std::string>>;

  Output git(const std::vector<std::string>& arguments) const { return run_local_git(root_, arguments, context_); }

  // The blob of an id that git itself printed.
  Result<std::string> blob(const std::string& id) const {
    MODLOCK_TRY(auto text, git({"cat-file", "blob", id}));
    return text ? Result<std::string>(*std::move(text))
                : fail(Code::io_error, fmt::format("git cannot read {} as a side of the merge has it ({})", path_, id),
                       "check the repository with: git fsck");
  }

  Result<std::optional<MergeSides>> read_stages() const {
    MODLOCK_TRY(const auto listed, git({"--literal-pathspecs", "ls-files", "--unmerged", "-z", "--", path_}));
    // "<mode> <id> <stage>\t<path>\0"
    std::array<std::string, 3> ids;
    bool any = false;
    for (const std::string& line : lines_of(listed.value_or(""), '\0')) {
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
      MODLOCK_TRY(texts.at(i), ids.at(i).empty() ? Result<std::string>() : blob(ids.at(i)));
    }
    return MergeSides{std::move(texts[0]), {std::move(texts[1]), std::move(texts[2])}};
  }

  Result<std::string> id_of(const std::string& expression) const { return find_object(root_, expression, context_); }

  Result<std::string> text_in(const std::string& commit) const {
    MODLOCK_TRY(const auto id, id_of(commit + ":./" + path_));
    return id.empty() ? Result<std::string>() : blob(id);
  }

  Result<std::string> merge_base(const std::string& commit) const {
    MODLOCK_TRY(const auto found, git({"merge-base", "HEAD", commit}));
    return found ? found->substr(0, found->find('\n')) : std::string();
  }

  // The parent that a commit is compared with; empty if it has none, or if it has several.
  Result<std::string> parent_of(const std::string& commit) const {
    MODLOCK_TRY(const auto second, id_of(commit + "^2"));
    return second.empty() ? id_of(commit + "^1") : Result<std::string>();
  }

  struct Applied {
    std::string theirs;  // empty: no commit is being applied
    std::string base;    // empty: unknown
  };

  Result<Applied> find_commits(const std::vector<std::string_view>& heads) const {
    for (const std::string_view name : heads) {
      MODLOCK_TRY(const auto commit, id_of(std::string(name) + "^{commit}"));
      if (commit.empty()) {
        continue;
      }
      const bool is_merge = name == "MERGE_HEAD";
      MODLOCK_TRY(auto other, is_merge ? merge_base(commit) : parent_of(commit));
      if (other.empty() && !is_merge) {
        continue;
      }
      return name == "REVERT_HEAD" ? Applied{std::move(other), commit} : Applied{commit, std::move(other)};
    }
    return Applied{};
  }

  Result<std::optional<MergeSides>> read_commits(const std::vector<std::string_view>& heads) const {
    MODLOCK_TRY(const auto commits, find_commits(heads));
    const auto& [theirs, base] = commits;
    if (theirs.empty()) {
      return std::nullopt;
    }
    MergeSides sides;
    if (!base.empty()) {
      MODLOCK_TRY(sides.base, text_in(base));
    }
    for (const std::string& commit : {std::string("HEAD"), theirs}) {
      MODLOCK_TRY(auto text, text_in(commit));
      sides.sides.push_back(std::move(text));
    }
    return sides;
  }

  const fs::path& root_;
  const std::string& path_;
  const Context& context_;
};

constexpr std::size_t kLongestText = std::size_t{4} << 20U;  // no configuration file is longer
constexpr std::size_t kMostNamedPaths = 64;                  // on a command line

// A line of `git cat-file`, about one path.
struct ObjectLine {
  bool is_object = false;  // "<id> <type> <size>"
  bool is_file = false;
  bool has_text = false;  // a text follows in either mode: of a dangling symbolic link
  std::size_t size = 0;   // of the object, or of the text
};

ObjectLine read_line(std::string_view text) {
  constexpr std::array<std::string_view, 4> kLinks = {"symlink", "dangling", "loop", "notdir"};
  const std::string_view first = text.substr(0, text.find(' '));
  const std::string_view digits = text.substr(std::min(text.rfind(' ') + 1, text.size()));
  ObjectLine line;
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), line.size);
  const bool has_size = parsed.ec == std::errc() && parsed.ptr == digits.data() + digits.size();
  line.is_object = has_size && first.find_first_not_of("0123456789abcdef") == std::string_view::npos;
  line.is_file = line.is_object && text.substr(first.size()).starts_with(" blob ");
  line.has_text = has_size && contains(kLinks, first);
  return line;
}

}  // namespace

Result<std::optional<std::string>> run_local_git(const std::filesystem::path& root,
                                                 const std::vector<std::string>& arguments, const Context& context) {
  Result<Finished> finished = run_git(root, arguments, context);
  if (!finished && ends_the_run(finished.error())) {
    return fail(std::move(finished).error());
  }
  return finished && finished->exit_code == 0 ? std::optional(std::move(finished->output)) : std::nullopt;
}

Result<std::string> find_object(const fs::path& root, const std::string& expression, const Context& context) {
  MODLOCK_TRY(const auto id, run_local_git(root, {"rev-parse", "--verify", "--quiet", expression}, context));
  return id ? id->substr(0, id->find('\n')) : std::string();
}

RepositoryFault explain_fault(const fs::path& repository, std::string_view message) {
  if (message.empty()) {
    return {"git is not installed", "install git"};
  }
  if (message.find("dubious ownership") != std::string_view::npos) {
    return {"the repository belongs to another user, so git does not read it",
            fmt::format("run: git config --global --add safe.directory {}", shell_word(repository.string()))};
  }
  if (message.find("from promisor remote") != std::string_view::npos) {
    return {"the clone is partial and lacks files", "clone the repository without --filter"};
  }
  return {fmt::format("git cannot read the repository: {}", escape_controls(message.substr(0, message.find('\n')))),
          fmt::format("run: git -C {} status, then fix what it reports", shell_word(repository.string()))};
}

Result<std::optional<RepositoryFault>> find_repository_fault(const fs::path& repository, const fs::path& directory,
                                                             const std::vector<std::string>& arguments,
                                                             const Context& context) {
  const auto finished = run_git(directory, arguments, context);
  if (!finished && ends_the_run(finished.error())) {
    return fail(finished.error());
  }
  return finished && finished->exit_code == 0
             ? std::nullopt
             : std::optional(explain_fault(repository, finished ? finished->error_output : ""));
}

Result<std::string> find_tracked_entry(const fs::path& path, const Context& context) {
  std::error_code ignored;
  for (fs::path top = path.parent_path(); top.has_relative_path(); top = top.parent_path()) {
    if (!fs::exists(fs::symlink_status(top / ".git", ignored))) {
      continue;
    }
    // A submodule above the path is in the list of its parent directory, but the path itself would be an error.
    const fs::path below = path.lexically_relative(top);
    const auto listed = run_git(top, {"--literal-pathspecs", "ls-files", "-z", "--", below.begin()->string()}, context);
    if (!listed || listed->exit_code != 0) {
      const auto [why, hint] = explain_fault(top, listed ? listed->error_output : "");
      return fail(Code::path_outside_root,
                  fmt::format("the index of the repository {} cannot be read: {}", top.string(), why), hint);
    }
    const std::string wanted = below.generic_string() + "/";
    for (const std::string& entry : lines_of(listed->output, '\0')) {
      if (wanted.starts_with(entry + "/") || entry.starts_with(wanted)) {
        return entry;
      }
    }
  }
  return "";
}

Result<Diagnostics> warn_of_ignored_files(const fs::path& directory, const std::vector<std::string>& files,
                                          const Context& context) {
  std::vector<std::string> arguments = {"-c", "core.quotePath=false", "check-ignore", "--verbose", "--", "."};
  arguments.insert(arguments.end(), files.begin(), files.end());
  MODLOCK_TRY(const auto found, run_local_git(directory, arguments, context));
  Diagnostics warnings;
  for (const std::string_view line : lines_of(found.value_or(""))) {  // "<file>:<line>:<pattern>\t<path>"
    const std::size_t tab = std::min(line.rfind('\t'), line.size());
    const std::string_view rule = line.substr(0, tab);
    const std::string path(line.substr(std::min(tab + 1, line.size())));
    if (path == ".") {
      return Diagnostics();
    }
    if (!path.empty() && rule.find(":!") == std::string_view::npos) {
      warnings.push_back(
          as_warning({.code = Code::lock_incomplete,
                      .message = fmt::format("git ignores {}, so a clone does not have it (rule {})",
                                             escape_controls(path), escape_controls(rule)),
                      .hint = fmt::format("run: git add --force {}, then commit it; or remove the rule", path)}));
    }
  }
  return warnings;
}

Result<std::optional<MergeSides>> find_merge_sides(const fs::path& repository, const fs::path& root,
                                                   const std::string& path, const Context& context) {
  const fs::path git_directory = find_git_directory(repository);
  if (git_directory.empty()) {
    return std::nullopt;
  }
  const std::vector<std::string_view> heads = heads_in(git_directory);
  const bool may_conflict = !heads.empty() || git::may_have_conflicts(git_directory / "index");
  return may_conflict ? SideReader(root, path, context).read(heads) : Result<std::optional<MergeSides>>();
}

Result<std::string> RevisionReader::ask(std::vector<std::string> arguments, std::string input) const {
  MODLOCK_TRY(const auto finished, run(std::move(arguments), std::move(input)));
  return finished.exit_code == 0 ? Result<std::string>(std::move(finished.output)) : cannot_read(finished);
}

// git would run filters to compare files, and hooks after it refreshed the index: all settings of both, of any origin,
// are replaced by empty ones.
Result<std::string> RevisionReader::changed_since(const std::string& commit) const {
  MODLOCK_TRY(const auto settings, run({"config", "--null", "--name-only", "--get-regexp", "^(filter|hook)[.]"}));
  std::vector<std::string> arguments;
  for (const std::string& key : lines_of(settings.output, '\0')) {
    arguments.push_back(fmt::format("--config-env={}={}", key, kEmptyVariable));
  }
  arguments.insert(arguments.end(), {"diff", "--name-status", "-z", "--no-renames", "--no-ext-diff",
                                     "--ignore-submodules=dirty", commit, "--"});
  return ask(std::move(arguments));
}

Result<std::string> RevisionReader::commit_of(const std::string& revision) const {
  MODLOCK_TRY(const auto found, run({"rev-parse", "--verify", "--quiet", "--end-of-options", revision + "^{commit}"}));
  constexpr int kNotFound = 1;
  if (found.exit_code > kNotFound) {
    return cannot_read(found);
  }
  if (found.exit_code != 0) {
    MODLOCK_TRY(const auto shallow, run({"rev-parse", "--is-shallow-repository"}));
    const bool is_shallow = shallow.output.starts_with("true");
    return fail(Code::invalid_params,
                fmt::format("revision \"{}\" not found in the {} {}", revision,
                            is_shallow ? "shallow clone" : "repository", top_.string()),
                is_shallow ? "clone with the history (fetch-depth: 0 on GitHub, GIT_DEPTH: \"0\" on GitLab), or fetch "
                             "the revision before"
                           : "name a branch, tag or commit that was fetched");
  }
  return found.output.substr(0, found.output.find('\n'));
}

Result<std::map<std::string, std::string>> RevisionReader::texts(const std::string& commit,
                                                                 const std::vector<std::string>& paths) const {
  std::map<std::string, std::string> texts;
  std::vector<std::string> short_files;
  std::vector<std::string> asked = paths;
  std::erase_if(asked, [](const std::string& path) { return path.find('\n') != std::string::npos; });
  MODLOCK_TRY(read_objects("--batch-check", commit, asked,
                           [&](const std::string& path, std::string_view) { short_files.push_back(path); }));
  MODLOCK_TRY(read_objects("--batch", commit, short_files, [&](const std::string& path, std::string_view text) {
    if (is_utf8(text)) {
      texts.emplace(path, text);
    }
  }));
  return texts;
}

Result<std::map<std::string, std::string>> RevisionReader::texts_at(const std::string& revision,
                                                                    const std::vector<std::string>& paths) const {
  MODLOCK_TRY(const auto commit, commit_of(revision));
  std::vector<std::string> arguments = {"--literal-pathspecs", "ls-tree",     "-r",   "-z",
                                        "--name-only",         "--full-tree", commit, "--"};
  if (paths.size() <= kMostNamedPaths) {
    arguments.insert(arguments.end(), paths.begin(), paths.end());
  }
  MODLOCK_TRY(const auto listed, ask(std::move(arguments)));
  const std::set<std::string> wanted(paths.begin(), paths.end());
  std::vector<std::string> existing = lines_of(listed, '\0');
  std::erase_if(existing, [&](const std::string& path) { return wanted.count(path) == 0; });
  MODLOCK_TRY(auto found, texts(commit, existing));
  const std::string* lacking = find_where(existing, [&](const std::string& path) { return !found.contains(path); });
  if (lacking != nullptr) {
    return fail(Code::io_error, fmt::format("cannot read {} at the revision \"{}\": no text file", *lacking, revision),
                fmt::format("run: git -C {} show {}, and fix the file", shell_word(top_.string()),
                            shell_word(commit + ":" + *lacking)));
  }
  return found;
}

tl::unexpected<Error> RevisionReader::cannot_read(const Finished& finished) const {
  RepositoryFault fault = explain_fault(top_, finished.error_output);
  return fail(Code::io_error, fmt::format("cannot read revisions of {}: {}", top_.string(), fault.why),
              std::move(fault.hint));
}

Result<Finished> RevisionReader::run(std::vector<std::string> arguments, std::string input) const {
  return run_git(top_, std::move(arguments), context_, std::move(input)).map_error([](Error error) {
    return with_note(std::move(error), "git reads the configuration at the revision");
  });
}

template <typename Take>
Result<void> RevisionReader::read_objects(const char* mode, const std::string& commit,
                                          const std::vector<std::string>& paths, const Take& take) const {
  std::string input;
  for (const std::string& path : paths) {
    input += fmt::format("{}:{}\n", commit, path);
  }
  if (input.empty()) {
    return {};
  }
  std::vector<std::string> arguments = {"cat-file", mode};
  if (!commit.empty()) {  // git does not follow links of the index
    arguments.emplace_back("--follow-symlinks");
  }
  MODLOCK_TRY(const auto output, ask(std::move(arguments), std::move(input)));
  const bool has_texts = std::string_view(mode) == "--batch";
  std::string_view rest = output;
  for (const std::string& path : paths) {
    const ObjectLine line = read_line(take_line(rest));
    std::string_view text;
    if (line.has_text || (has_texts && line.is_object)) {
      text = rest.substr(0, line.size);
      rest.remove_prefix(std::min(line.size + 1, rest.size()));
    }
    if (line.is_file && line.size <= kLongestText) {
      take(path, text);
    }
  }
  return {};
}

}  // namespace modlock
