#include "plugin/workspace/root_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "backends/base/collections.h"
#include "backends/base/files.h"
#include "backends/base/parallel.h"
#include "plugin/config/config_files.h"
#include "plugin/config/roots.h"
#include "plugin/engine/open_root.h"
#include "plugin/hcl/characters.h"
#include "plugin/lock/local_git.h"
#include "plugin/lock/lock_file.h"
#include "plugin/settings/directory_glob.h"
#include "plugin/terragrunt/unit_check.h"
#include "plugin/terragrunt/unit_lock.h"
#include "plugin/terragrunt/unit_source.h"
#include "plugin/workspace/root_candidate.h"
#include "plugin/workspace/work_tree.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;

struct PlacedGlob {
  DirectoryGlob glob;
  std::string text;
  fs::path base;
  std::string origin;
  bool is_users = false;  // of the user's settings or of this search
  bool is_used = false;   // or need not be: settings of the user or above the top are for other trees, too
};

std::string directory_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

bool is_lock(std::string_view name) {
  return name == kLockFileName || name == kSidecarFileName;
}

// Returns the directory that a glob names before its first wildcard.
fs::path named_directory(const PlacedGlob& glob) {
  const std::string head = glob.text.substr(0, glob.text.find_first_of("*?[{\\"));
  return document_path(glob.base / (head == glob.text ? head : head.substr(0, head.rfind('/') + 1)));
}

// The candidates of one tree, and which of them are roots.
class Tree {
 public:
  Tree(const RootSearch& search, TreeFiles files, const Context& context)
      : search_(search), files_(std::move(files)), repository_(find_repository_root(files_.top)), context_(context) {
    find_candidates(files_);
  }

  Result<void> find(messages::WorkspaceRootsResult& found) {
    MODLOCK_TRY(find_named());
    MODLOCK_TRY(read_sparse(found));
    parallel_for(candidates_.size(), core_count(),
                 [this](std::size_t i) { read_candidate(candidates_[i], top_, documents_, context_); });
    MODLOCK_TRY(context_.check());
    find_checked_units();
    find_left_locks(found);
    find_called();
    MODLOCK_TRY(find_committed_entries());
    std::set<std::size_t> chosen;
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      check(i, chosen, found);
    }
    take_undecided(chosen);
    found.has_units |= std::ranges::any_of(units_, [&](const std::string& unit) {
      const std::size_t* place = find_in(places_, unit);
      return place == nullptr || chosen.count(*place) == 0;
    });
    for (const std::size_t i : chosen) {
      found.roots.push_back(directory(i).string());
    }
    for (const PlacedGlob& glob : roots_) {
      if (!glob.is_used) {
        found.diagnostics.push_back(
            as_warning({.code = Code::config_parse,
                        .message = fmt::format("no directory with configuration matches {}", glob.origin)}));
      }
    }
    return {};
  }

 private:
  fs::path directory(std::size_t i) const { return document_path(top_ / candidates_[i].path); }

  std::size_t candidate(const std::string& path) {
    const auto [known, is_new] = places_.emplace(path, candidates_.size());
    if (is_new) {
      candidates_.push_back({.path = path});
    }
    return known->second;
  }

  void find_candidates(const TreeFiles& files) {
    std::set<std::string> test_directories;
    for (const std::string& path : files.paths) {
      const std::string name = fs::path(path).filename().string();
      const auto kind = config_kind(name);
      const bool is_sparse = files.sparse.count(path) != 0;
      if (kind == ConfigKind::module) {
        RootCandidate& one = candidates_[candidate(directory_of(path))];
        one.is_sparse = one.is_sparse && is_sparse;
      } else if (kind == ConfigKind::test) {
        test_directories.insert(directory_of(path));
      } else if (name == "terragrunt.hcl") {
        units_.push_back(directory_of(path));
        if (search_.with_units && !is_sparse) {
          RootCandidate& unit = candidates_[candidate(units_.back())];
          unit.is_unit = true;
          unit.is_sparse = false;
        }
      } else if (search_.only_locks && is_lock(name) && !is_sparse) {
        lock_directories_.insert(directory_of(path));
        candidates_[candidate(directory_of(path))].is_sparse = false;
      }
    }
    for (const std::string& path : files.unlisted) {
      candidates_[candidate(path)].is_sparse = false;
    }
    for (const std::string& path : test_directories) {
      give_tests(path);
    }
  }

  // Tests are in the directory of a module, or below it.
  void give_tests(const std::string& path) {
    for (fs::path above = path;; above = above.parent_path()) {
      const std::string place = above.empty() ? "." : above.generic_string();
      if (const std::size_t* found = find_in(places_, place)) {
        if (place != path) {
          candidates_[*found].test_files.insert(fs::path(path).lexically_relative(place).generic_string());
          return;
        }
        candidates_[*found].test_files.insert("tests");  // those in the module's directory are read in any case
      }
      if (place == ".") {
        return;
      }
    }
  }

  std::optional<std::size_t> candidate_at(const fs::path& path) const {
    const std::size_t* known = find_in(places_, relative_to_root(path, top_));
    std::error_code error;
    if (const fs::path real = fs::canonical(path, error); known == nullptr && !error) {
      known = find_in(places_, relative_to_root(real, fs::canonical(top_, error)));
    }
    return known == nullptr ? std::nullopt : std::optional(*known);
  }

  // Adds directories that the search names and git ignores, and reads the globs of all settings files.
  Result<void> find_named() {
    for (const fs::path& searched : search_.directories) {
      add_ignored(searched);
    }
    MODLOCK_TRY(add_named(search_.root_globs, search_.root_globs_name, roots_));
    MODLOCK_TRY(add_named(search_.exclude, search_.exclude_name, exclude_));
    const fs::path beside = search_.user_file.parent_path();
    const fs::path& base = !beside.empty() && is_inside(top_, beside) ? beside : top_;
    add_written(search_.user_roots, "roots", base, true, roots_);
    add_written(search_.user_exclude, "exclude", base, true, exclude_);
    for (const fs::path& searched : search_.directories) {
      read_settings(searched);
    }
    const auto read_all = [&] {
      for (std::size_t i = 0; i < candidates_.size(); ++i) {
        read_settings(directory(i));
      }
    };
    read_all();
    for (std::size_t i = 0, count = roots_.size(); i < count; ++i) {
      add_ignored(named_directory(roots_[i]));
    }
    read_all();
    return {};
  }

  // Adds what is in and below a directory in which no file is listed.
  void add_ignored(const fs::path& named) {
    if (!is_inside(named, top_) || !path_is_directory(named)) {
      return;
    }
    const std::string start = named == top_ ? "" : relative_to_root(named, top_) + "/";
    const auto first = std::ranges::lower_bound(files_.paths, start);
    if (first == files_.paths.end() || !first->starts_with(start)) {
      find_candidates(list_ignored_files(top_, named));
    }
  }

  // Reads the files of a sparse checkout that are not on disk from the index.
  Result<void> read_sparse(messages::WorkspaceRootsResult& found) {
    std::vector<std::string> paths;
    for (const std::string& path : files_.sparse) {
      const fs::path name = fs::path(path).filename();
      if (config_kind(name.native()) || (name.extension() == ".hcl" && !is_lock(name.native()))) {
        paths.push_back(relative_to_root(top_ / path, repository_));
      }
    }
    const auto count = std::ranges::count(candidates_, true, &RootCandidate::is_sparse);
    found.not_on_disk += static_cast<std::uint64_t>(count);
    const auto texts = RevisionReader(repository_, context_).texts("", paths);
    MODLOCK_TRY(context_.check());
    for (const auto& [path, text] : texts ? *texts : std::map<std::string, std::string>()) {
      documents_.insert_or_assign(repository_ / path, DocumentText(text));
    }
    if (!texts && count != 0) {
      found.diagnostics.push_back(as_warning(
          {.code = Code::config_parse,
           .message = fmt::format("the checkout is sparse, and the calls of {} directories that are not on disk "
                                  "are not known: {}",
                                  count, texts.error().message)}));
    }
    return {};
  }

  // Modules that call each other may have no other caller. Then each may be a root, and processing it reports the
  // cycle.
  void find_called() {
    std::vector<std::vector<std::size_t>> calls(candidates_.size());
    std::vector<bool> called(candidates_.size());
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      for (const fs::path& path : candidates_[i].calls) {
        if (const auto other = candidate_at(path); other && *other != i) {
          calls[i].push_back(*other);
          called[*other] = true;
        }
      }
    }
    std::vector<std::size_t> waiting = called_by_units();
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      if (!called[i]) {
        waiting.push_back(i);
      }
    }
    std::vector<bool> reached(candidates_.size());
    while (!waiting.empty()) {
      const std::size_t i = waiting.back();
      waiting.pop_back();
      if (reached[i]) {
        continue;
      }
      reached[i] = true;
      for (const std::size_t other : calls[i]) {
        note_caller(other, candidates_[i].path);
        candidates_[other].has_module_caller = true;
        waiting.push_back(other);
      }
    }
  }

  // A terragrunt.hcl above other units is for them to include.
  void find_checked_units() {
    const bool is_any_locked =
        std::ranges::any_of(candidates_, [](const RootCandidate& one) { return one.is_unit && one.has_entries; });
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      RootCandidate& one = candidates_[i];
      const bool is_above = std::ranges::any_of(units_, [&](const std::string& unit) {
        return unit != one.path && is_inside(document_path(top_ / unit), directory(i));
      });
      one.is_unit = one.is_unit && is_any_locked && (one.has_entries || !is_above) &&
                    (!one.exists || terragrunt::is_unit(directory(i)));
    }
  }

  void find_left_locks(messages::WorkspaceRootsResult& found) const {
    std::set<fs::path> kept;
    for (const std::string& path : files_.paths) {
      const fs::path file = document_path(top_ / path);
      if (is_lock(file.filename().native()) && kept.insert(file.parent_path()).second &&
          terragrunt::UnitLock::is_left(file.parent_path())) {
        found.diagnostics.push_back(as_warning(
            {.code = Code::config_parse,
             .message = fmt::format("{} has lock files of a unit that is not in its stack any more: delete them",
                                    file.parent_path().string())}));
      }
    }
  }

  void note_caller(std::size_t called, const std::string& path) {
    std::string& caller = candidates_[called].caller;
    caller = caller.empty() || path < caller ? path : caller;
  }

  std::vector<std::size_t> called_by_units() {
    std::vector<std::size_t> called;
    for (const std::string& path : units_) {
      const fs::path unit = document_path(top_ / path);
      const auto found = terragrunt::find_unit_source(unit, "", ClientKind::opentofu, repository_, documents_);
      if (!found || !found->source) {
        continue;
      }
      const std::string& text = found->source->source.text;
      const bool is_path = text.starts_with('/') || text.starts_with("./") || text.starts_with("../");
      const auto other = is_path ? candidate_at(document_path(unit / text)) : std::nullopt;
      if (other && candidates_[*other].path != path) {
        called.push_back(*other);
        note_caller(*other, path);
      }
    }
    return called;
  }

  // A change cannot turn a root into a called module by removing its lock file: the entries of the last commit and of
  // the base count, too.
  Result<void> find_committed_entries() {
    std::map<std::string, std::size_t> asked;  // by the path of a lock file
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      const RootCandidate& one = candidates_[i];
      for (const std::string_view name : {kLockFileName, kSidecarFileName}) {
        if (!one.caller.empty() && one.exists && !one.has_entries) {
          asked.emplace(relative_to_root(directory(i) / name, repository_), i);
        }
      }
    }
    if (!path_exists(repository_ / ".git") || (asked.empty() && search_.base.empty())) {
      return {};
    }
    const std::vector<std::string> paths = keys_of(asked);
    for (const std::string& revision : {std::string("HEAD"), search_.base}) {
      const auto texts = revision.empty() ? Result<std::map<std::string, std::string>>()
                                          : RevisionReader(repository_, context_).texts_at(revision, paths);
      if (!texts && (revision != "HEAD" || texts.error().code != Code::invalid_params)) {  // there may be no commit
        return fail(texts.error());
      }
      for (const auto& [path, text] : texts ? *texts : std::map<std::string, std::string>()) {
        RootCandidate& one = candidates_[asked.at(path)];
        one.has_entries = one.has_entries || may_have_entries(text, path);
      }
    }
    return {};
  }

  Result<void> add_named(const std::vector<std::string>& texts, std::string_view name, std::vector<PlacedGlob>& globs) {
    for (const std::string& text : texts) {
      auto glob = DirectoryGlob::parse(text);
      if (!glob) {
        return fail(Code::invalid_params, fmt::format("{} {}, found \"{}\"", name, glob.error().message, text),
                    "write a glob of a relative path, as in \"live/*\"");
      }
      globs.push_back({std::move(*glob), text, search_.current, fmt::format("{} {}", name, text), true});
    }
    return {};
  }

  void add_written(const std::vector<SourceText>& list, std::string_view setting, const fs::path& base, bool is_users,
                   std::vector<PlacedGlob>& globs) const {
    for (const SourceText& written : list) {
      if (auto glob = DirectoryGlob::parse(written.text)) {  // the settings reader has rejected invalid globs
        const auto& range = written.location.range;
        const std::string line = range ? fmt::format(":{}", range->start.line) : "";
        globs.push_back({std::move(*glob), written.text, base,
                         fmt::format("{} in {}{}", setting, written.location.path, line), is_users,
                         is_users || !is_inside(base, top_)});
      }
    }
  }

  // Reads the settings files in and above a directory that were not read yet.
  void read_settings(const fs::path& directory) {
    for (fs::path at = directory; is_inside(at, repository_) && read_places_.insert(at).second; at = at.parent_path()) {
      if (const auto settings = load_directory_settings(at, repository_)) {
        add_written(settings->roots, "roots", at, false, roots_);
        add_written(settings->exclude, "exclude", at, false, exclude_);
      } else {
        undecided_.push_back(at);
      }
    }
  }

  bool is_searched(std::size_t i) const {
    const fs::path place = directory(i);
    return std::ranges::any_of(search_.directories,
                               [&](const fs::path& searched) { return is_inside(place, searched); });
  }

  bool matches(const PlacedGlob& glob, std::size_t i) const {
    const fs::path place = directory(i);
    return is_inside(place, glob.base) && glob.glob.matches(relative_to_root(place, glob.base));
  }

  // Adds the candidate to the chosen roots, or to the excluded ones.
  void check(std::size_t i, std::set<std::size_t>& chosen, messages::WorkspaceRootsResult& found) {
    const RootCandidate& one = candidates_[i];
    if (!one.exists && !one.is_unit && lock_directories_.count(one.path) == 0) {
      return;
    }
    bool is_named = false;
    bool is_users = false;
    for (PlacedGlob& glob : roots_) {
      if (matches(glob, i)) {
        glob.is_used = is_named = true;
        is_users = is_users || glob.is_users;
      }
    }
    if (!is_searched(i) || (!is_named && !one.is_root())) {
      if (is_searched(i) && one.exists && one.qualifies()) {
        found.called.push_back({directory(i).string(), document_path(top_ / one.caller).string()});
      }
      return;
    }
    const auto excludes = [&](const PlacedGlob& glob) { return (glob.is_users || !is_users) && matches(glob, i); };
    if (const PlacedGlob* excluding = find_where(exclude_, excludes)) {
      found.excluded.push_back({directory(i).string(), excluding->origin});
    } else {
      chosen.insert(i);
    }
  }

  // The content of settings that cannot be read is not known.
  void take_undecided(std::set<std::size_t>& chosen) const {
    for (const fs::path& place : undecided_) {
      const auto is_below = [&](std::size_t i) { return is_inside(directory(i), place); };
      if (std::ranges::any_of(chosen, is_below)) {
        continue;
      }
      for (std::size_t i = 0; i < candidates_.size(); ++i) {
        if (candidates_[i].exists && is_below(i) && is_searched(i)) {
          chosen.insert(i);
        }
      }
    }
  }

  const RootSearch& search_;
  const TreeFiles files_;
  const fs::path& top_ = files_.top;
  const fs::path repository_;  // that top_ is in, or top_ itself
  const Context& context_;
  std::vector<RootCandidate> candidates_;
  std::map<std::string, std::size_t, std::less<>> places_;  // in candidates_, by path
  std::vector<std::string> units_;                          // directories of terragrunt.hcl
  std::set<std::string> lock_directories_;
  Documents documents_;             // what a sparse checkout leaves out
  std::set<fs::path> read_places_;  // of settings files
  std::vector<PlacedGlob> roots_;
  std::vector<PlacedGlob> exclude_;
  std::vector<fs::path> undecided_;  // their settings cannot be read
};

// Returns the top of the tree that a directory is in.
fs::path top_of(const fs::path& directory, const std::vector<fs::path>& bounds) {
  fs::path repository = find_repository_root(directory);
  const fs::path* bound = find_where(bounds, [&](const fs::path& each) { return is_inside(directory, each); });
  return bound == nullptr || is_inside(repository, *bound) ? std::move(repository) : *bound;
}

}  // namespace

bool has_lock(const fs::path& directory) {
  return path_exists(directory / kLockFileName) || path_exists(directory / kSidecarFileName);
}

Result<messages::WorkspaceRootsResult> search_roots(const RootSearch& search, const Context& context) {
  messages::WorkspaceRootsResult found;
  std::set<fs::path> searched;
  for (const fs::path& directory : search.directories) {
    const fs::path top = top_of(directory, search.bounds);
    if (!searched.insert(top).second) {
      continue;
    }
    MODLOCK_TRY(auto files, list_tree_files(top, context));
    MODLOCK_TRY(Tree(search, std::move(files), context).find(found));
  }
  sort_unique(found.roots);
  std::ranges::sort(found.excluded, {}, &messages::ExcludedRoot::root);
  std::ranges::sort(found.called, {}, &messages::CalledModule::directory);
  return found;
}

RootSearch search_of_user(const Engine& engine) {
  return {.user_file = engine.options().user_settings.value_or(fs::path()),
          .user_roots = engine.user_settings().roots,
          .user_exclude = engine.user_settings().exclude};
}

Result<messages::WorkspaceRootsResult> find_roots(const Engine& engine, const messages::WorkspaceRootsParams& params,
                                                  Run& run) {
  MODLOCK_TRY(auto directory, open_directory(params.directory, engine));
  RootSearch search = search_of_user(engine);
  search.directories = {directory.path};
  search.bounds = std::move(directory.bounds);
  search.current = std::move(directory.path);
  search.root_globs = params.root_globs;
  search.root_globs_name = "params.rootGlobs";
  search.exclude = params.exclude;
  search.exclude_name = "params.exclude";
  search.base = engine.options().base;
  auto found = search_roots(search, engine.context_for(run));
  run.diagnostics = found ? found->diagnostics : Diagnostics();
  return found;
}

ExcludeLine exclude_line(const fs::path& root, const std::vector<fs::path>& directories) {
  const fs::path* searched = find_where(directories, [&](const fs::path& each) { return is_inside(root, each); });
  const fs::path top = find_repository_root(searched == nullptr ? root : *searched);
  std::string list;
  if (const auto settings = load_directory_settings(top, top)) {
    for (const SourceText& written : settings->exclude) {
      list += hcl::quoted(written.text) + ", ";
    }
  }
  return {.file = (top / kSettingsFileName).string(),
          .text = fmt::format("exclude = [{}{}]", list, hcl::quoted(literal_glob(relative_to_root(root, top))))};
}

}  // namespace modlock
