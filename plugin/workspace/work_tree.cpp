#include "plugin/workspace/work_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "backends/base/collections.h"
#include "backends/base/files.h"
#include "backends/base/text.h"
#include "backends/git/git_command.h"
#include "plugin/config/config_files.h"
#include "plugin/config/roots.h"
#include "plugin/lock/local_git.h"
#include "plugin/lock/lock_file.h"
#include "plugin/resolve/module_tree.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;

bool is_installed(const fs::path& path) {
  return contains(path, ".terraform");
}

// Returns the file that OpenTofu ignores because of this one in the same directory: `main.tf` for `main.tofu`.
std::optional<std::string> hidden_file(const std::string& path) {
  const std::size_t dot = path.rfind(".tofu");
  if (dot == std::string::npos || path.find('/', dot) != std::string::npos) {
    return std::nullopt;
  }
  return path.substr(0, dot) + ".tf" + path.substr(dot + std::string_view(".tofu").size());
}

bool is_control(char c) {
  return static_cast<unsigned char>(c) < ' ';
}

void add_document(RevisionDiff& diff, const fs::path& path, std::string_view text) {
  diff.documents.push_back({path.string(), std::string(text)});
}

// A directory of configuration may be reached through a symbolic link, and a file may be one: a change of the target is
// a change there, too.
Result<void> add_linked(const RevisionReader& repository, const fs::path& top, RevisionDiff& diff) {
  MODLOCK_TRY(const auto listed, repository.ask({"ls-files", "-s", "-z"}));
  const std::vector<messages::Document> documents = diff.documents;
  for (const std::string& entry : lines_of(listed, '\0')) {
    const std::size_t tab = entry.find('\t');
    if (!entry.starts_with("120000 ") || tab == std::string::npos) {
      continue;
    }
    const fs::path link = document_path(top / entry.substr(tab + 1));
    std::error_code error;
    const fs::path target = fs::weakly_canonical(link, error);
    for (const messages::Document& document : error ? std::vector<messages::Document>() : documents) {
      const fs::path file = document.path;
      const fs::path real = fs::weakly_canonical(file.parent_path(), error) / file.filename();
      if (real == target && file != link) {
        add_document(diff, link, document.text);
        diff.files.push_back(link);
      } else if (const fs::path below = real.lexically_relative(target);
                 !below.empty() && below != "." && *below.begin() != "..") {
        add_document(diff, link / below, document.text);
        diff.files.push_back(link / below);
      }
    }
  }
  return {};
}

// Returns the text of a file of the root at the revision, or now; empty if it does not exist.
Result<std::string> lock_text(const fs::path& path, const RevisionDiff* diff) {
  const auto* document = diff == nullptr ? nullptr : find_by(diff->documents, path.string(), &messages::Document::path);
  if (document != nullptr) {
    return document->text;
  }
  auto text = read_file(path);
  return text || text.error().code != Code::not_found ? text : Result<std::string>(std::string());
}

// Returns the entries of both lock files. `diff` null: the current ones.
Result<LockFile> read_lock(const fs::path& root, const RevisionDiff* diff) {
  std::array<LockFile, 2> files;
  std::string both;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const std::string_view name = i == 0 ? kLockFileName : kSidecarFileName;
    MODLOCK_TRY(const auto text, lock_text(root / name, diff));
    MODLOCK_TRY(files.at(i), parse_lock(text, std::string(name)));
    files.at(i).exists = !text.empty();
    both += text.empty() ? "" : fmt::format("{}\n{}", name, text);
  }
  // The setting can differ at the revision. It matters only until the next lock, which leaves one file with blocks.
  LockFile all = with_module_blocks(std::move(files[0]), std::move(files[1]), std::nullopt);
  all.text = std::move(both);
  return all;
}

// Returns source and constraints of the calls, by key.
std::map<std::string, std::string> calls_of(const messages::ConfigInspectResult& inspected) {
  std::map<std::string, std::string> calls;
  for (const messages::InspectedModule& module : inspected.modules) {
    calls.emplace(module.key, fmt::format("{}\n{}", module.source.value_or(""), module.constraint.value_or("")));
  }
  return calls;
}

// Returns the constraints of the root and its local modules on each provider. Those of packages change with the
// package.
std::map<std::string, std::multiset<std::string>> requirements_of(const messages::ConfigInspectResult& inspected) {
  std::set<std::string> own_files;
  for (const messages::InspectedFile& file : inspected.files) {
    own_files.insert(file.path);
  }
  std::map<std::string, std::multiset<std::string>> requirements;
  for (const messages::InspectedProvider& provider : inspected.providers) {
    auto& constraints = requirements[provider.address];
    for (const messages::InspectedConstraint& constraint : provider.constraints) {
      if (own_files.count(constraint.location.path) != 0) {
        constraints.insert(constraint.text);
      }
    }
  }
  return requirements;
}

template <typename Locks, typename Key>
bool has_same_entry(const Locks& before, const Locks& now, const Key& key) {
  const auto* old_entry = find_in(before, key);
  const auto* entry = find_in(now, key);
  return entry != nullptr && old_entry != nullptr && *entry == *old_entry;
}

bool is_left_out(std::string_view component) {
  constexpr std::array<std::string_view, 3> kNames = {".git", ".terraform", ".terragrunt-cache"};
  return contains(kNames, component);
}

bool is_below_left_out(std::string_view path) {
  bool is_below = false;
  while (!is_below && path.find('/') != std::string_view::npos) {
    is_below = is_left_out(take_line(path, '/'));
  }
  return is_below;
}

// git skips a directory that it cannot open, and reports it.
void take_unlisted(std::string_view messages, std::vector<std::string>& unlisted) {
  constexpr std::string_view kStart = "warning: could not open directory '";
  for (std::size_t at = messages.find(kStart); at != std::string_view::npos; at = messages.find(kStart)) {
    messages.remove_prefix(at + kStart.size());
    const std::string_view line = messages.substr(0, messages.find('\n'));
    std::string path(line.substr(0, line.rfind("': ")));
    path.resize(path.ends_with('/') ? path.size() - 1 : path.size());
    if (!is_below_left_out(path + "/")) {
      unlisted.push_back(path.empty() ? "." : std::move(path));
    }
  }
}

Result<void> list_repository(TreeFiles& tree, const Context& context) {
  const auto listed = run_command(
      git::enclosing_command(tree.top, {"ls-files", "-z", "-t", "--cached", "--others", "--exclude-standard"}),
      context);
  if (!listed) {
    Error error = listed.error();
    error.notes.push_back(fmt::format("git lists the files of {} for --recursive", tree.top.string()));
    return fail(std::move(error));
  }
  if (listed->exit_code != 0) {
    auto [why, hint] = explain_fault(tree.top, listed->error_output);
    return fail(Code::io_error, fmt::format("cannot list the files of {}: {}", tree.top.string(), why),
                std::move(hint));
  }
  take_unlisted(listed->error_output, tree.unlisted);
  for (const std::string& line : lines_of(listed->output, '\0')) {  // "H path"; S: not in a sparse checkout
    const std::string path = line.substr(std::min<std::size_t>(2, line.size()));
    if (is_below_left_out(path)) {
      continue;
    }
    tree.paths.push_back(path);
    if (line.starts_with('S')) {
      tree.sparse.insert(path);
    }
  }
  return {};
}

void list_directory(const fs::path& directory, TreeFiles& tree) {
  std::error_code error;
  fs::directory_iterator entry(directory, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    std::error_code ignored;
    const bool is_directory = !entry->is_symlink(ignored) && entry->is_directory(ignored);
    if (!is_directory) {
      tree.paths.push_back(relative_to_root(entry->path(), tree.top));
    } else if (!is_left_out(entry->path().filename().string())) {
      list_directory(entry->path(), tree);
    }
  }
  if (error) {
    tree.unlisted.push_back(relative_to_root(directory, tree.top));
  }
}

}  // namespace

Result<RevisionDiff> diff_with_revision(const fs::path& repository, const std::string& revision,
                                        const Context& context) {
  if (!path_exists(repository / ".git")) {
    return fail(Code::invalid_params, fmt::format("{} is not in a git repository", repository.string()),
                "run the command in a git work tree");
  }
  const RevisionReader git(repository, context);
  MODLOCK_TRY(const auto commit, git.commit_of(revision));
  const auto changed = git.changed_since(commit);
  MODLOCK_TRY(const auto untracked,
              changed ? git.ask({"ls-files", "-z", "--others", "--exclude-standard"}) : fail(changed.error()));
  std::map<std::string, bool> added;  // by path
  const std::vector<std::string> fields = lines_of(*changed, '\0');
  for (std::size_t i = 0; i + 1 < fields.size(); i += 2) {
    added.emplace(fields[i + 1], fields[i] == "A");
  }
  for (const std::string& path : lines_of(untracked, '\0')) {
    added.emplace(path, true);
  }
  std::vector<std::string> wanted;
  std::erase_if(added, [](const auto& file) { return is_installed(file.first); });
  for (const auto& [path, is_added] : added) {
    const auto text_from = is_added ? hidden_file(path) : std::optional(path);
    if (text_from && std::ranges::none_of(*text_from, is_control)) {
      wanted.push_back(*text_from);
    }
  }
  MODLOCK_TRY(const auto texts, git.texts(commit, wanted));
  RevisionDiff diff{.revision = revision, .files = {}, .unknown = {}};
  for (const auto& [path, is_added] : added) {
    const fs::path place = document_path(repository / path);
    const std::string* text = find_in(texts, is_added ? hidden_file(path).value_or("") : path);
    diff.files.push_back(place);
    if (std::ranges::any_of(path, is_control)) {
      diff.unknown.push_back(place);
    } else if (text != nullptr) {
      add_document(diff, place, *text);
    } else if (is_added) {
      add_document(diff, place, path.ends_with(".json") ? "{}" : "");  // an empty configuration
    } else {
      diff.unknown.push_back(place);
    }
  }
  MODLOCK_TRY(add_linked(git, repository, diff));
  return diff;
}

Result<ConfigurationChange> compare_configurations(const fs::path& root, const RevisionDiff& diff,
                                                   const messages::ConfigInspectResult& before,
                                                   const messages::ConfigInspectResult& now) {
  const auto old_lock = read_lock(root, &diff);
  MODLOCK_TRY(const auto lock, old_lock ? read_lock(root, nullptr) : old_lock);
  ConfigurationChange change;
  const auto old_calls = calls_of(before);
  const auto calls = calls_of(now);
  const auto old_requirements = requirements_of(before);
  const auto requirements = requirements_of(now);
  change.is_changed = old_calls != calls || old_requirements != requirements || old_lock->text != lock.text;
  std::vector<std::string> keys;
  for (const auto& [key, text] : calls) {
    const std::string* old_call = find_in(old_calls, key);
    const bool is_below_another =
        std::ranges::any_of(keys, [&, &key = key](const std::string& above) { return is_below(key, above); });
    if (!is_below_another && old_call != nullptr && *old_call != text &&
        has_same_entry(old_lock->modules, lock.modules, key)) {
      keys.push_back(key);
      change.targets.push_back("module." + key);
    }
  }
  for (const auto& [address, constraints] : requirements) {
    const auto* old_constraints = find_in(old_requirements, address);
    const auto parsed = ProviderAddress::parse(address, kOpenTofuRegistry);
    if (parsed && old_constraints != nullptr && *old_constraints != constraints &&
        has_same_entry(old_lock->providers, lock.providers, *parsed)) {
      change.targets.push_back("provider." + address);
    }
  }
  return change;
}

Result<TreeFiles> list_tree_files(const fs::path& top, const Context& context) {
  TreeFiles tree{.top = top, .paths = {}};
  if (path_exists(find_repository_root(top) / ".git")) {
    MODLOCK_TRY(list_repository(tree, context));
  } else {
    list_directory(tree.top, tree);
  }
  sort_unique(tree.paths);
  return tree;
}

TreeFiles list_ignored_files(const fs::path& top, const fs::path& directory) {
  TreeFiles tree{.top = top, .paths = {}};
  list_directory(directory, tree);
  return tree;
}

}  // namespace modlock
