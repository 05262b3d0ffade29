#include "plugin/workspace/root_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include "backends/base/files.h"
#include "backends/base/parallel.h"
#include "plugin/config/config_files.h"
#include "plugin/config/confined_files.h"
#include "plugin/config/module_scope.h"
#include "plugin/config/roots.h"
#include "plugin/engine/root_request.h"
#include "plugin/lock/lock_file.h"
#include "plugin/resolve/module_reader.h"
#include "plugin/settings/directory_glob.h"
#include "plugin/terragrunt/unit_source.h"
#include "plugin/update/text_origin.h"
#include "plugin/workspace/tree_files.h"
#include "protocol/base/result.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kUnitFile = "terragrunt.hcl";

// A directory that may be a root.
struct Candidate {
  std::string path;                       // relative to the top of its tree, "." for that
  std::set<std::string> test_files = {};  // directories of test files of this module, relative to it
  bool exists = true;                     // false: git lists files that do not exist
  bool is_broken = false;                 // it cannot be read, or not completely
  bool has_lock = false;
  bool keeps_state = false;
  bool configures_provider = false;
  bool calls_remote = false;
  std::vector<fs::path> calls = {};  // directories
};

struct PlacedGlob {
  DirectoryGlob glob;
  fs::path base;
  std::string origin;
  bool is_users = false;  // of the user's settings or of this search
  bool is_used = false;   // or need not be: settings of the user or above the top are for other trees, too
};

std::string directory_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

// Returns whether a directory above it, below the top, has a name that is common for modules and examples.
bool is_kept_apart(const std::string& path) {
  constexpr std::array<std::string_view, 4> kNames = {"modules", "examples", "test", "tests"};
  const fs::path above = fs::path(path).parent_path();
  return std::any_of(above.begin(), above.end(), [&](const fs::path& name) {
    return std::find(kNames.begin(), kNames.end(), name.native()) != kNames.end();
  });
}

bool is_lock(std::string_view name) {
  return name == kLockFileName || name == kSidecarFileName;
}

bool has_block(const ParsedModule& module, std::string_view type) {
  return std::any_of(module.files.begin(), module.files.end(), [&](const ConfigText& file) {
    const auto& blocks = file.parsed.body.blocks;
    return std::any_of(blocks.begin(), blocks.end(), [&](const hcl::Block& block) { return block.type == type; });
  });
}

// Reads the root criteria and the calls of a candidate.
class CandidateReader {
 public:
  CandidateReader(Candidate& candidate, const fs::path& top, const Context& context)
      : candidate_(candidate), top_(top), directory_(document_path(top / candidate.path)), context_(context) {}

  void read() {
    candidate_.has_lock = has_lock(directory_);
    const Documents none;
    ModuleReader reader(none, ClientKind::opentofu, context_);
    const auto module = reader.read(directory_, {top_});
    if (!module) {
      candidate_.exists = module.error().code != Code::not_found;
      candidate_.is_broken = candidate_.exists;
      return;
    }
    candidate_.exists = !(*module)->files.empty();
    candidate_.is_broken = (*module)->incomplete;
    candidate_.keeps_state = !(*module)->state.location.path.empty();
    candidate_.configures_provider = has_block(**module, "provider");
    read_calls(*module);
  }

 private:
  void read_calls(const std::shared_ptr<const ParsedModule>& module) {
    if (module->calls.empty() && candidate_.test_files.empty()) {
      return;
    }
    Diagnostics ignored;
    auto values = read_variable_values(directory_, {}, {}, {top_}, ignored);
    const ScopeContext environment{directory_, "default", ClientKind::opentofu,
                                   make_confined_files(directory_, {top_}, {})};
    ModuleScope scope(module, environment, ".", values ? *values : std::make_shared<const VariableValues>());
    candidate_.calls_remote = take_calls(*module, scope);
    for (const std::string& tests : candidate_.test_files) {
      if (const auto read = read_test_files(*module, {}, ClientKind::opentofu, tests)) {
        take_calls(**read, scope);
      }
    }
  }

  // Records local calls. Returns whether another one is or may be remote.
  bool take_calls(const ParsedModule& module, ModuleScope& scope) {
    const EvaluatedCalls evaluated = evaluate_calls(module, scope, context_);
    bool is_remote = !evaluated.unresolved.empty();
    for (const ModuleCall& call : evaluated.calls) {
      const auto address = parse_source(call.source.text);
      if (address && address->source.is_local()) {
        candidate_.calls.push_back(document_path(directory_ / address->source.path));
      } else {
        is_remote = is_remote || !address || !address->source.is_directory();
      }
    }
    return is_remote;
  }

  Candidate& candidate_;
  const fs::path& top_;
  const fs::path directory_;
  const Context& context_;
};

// The candidates of one tree, and which of them are roots.
class Tree {
 public:
  Tree(const RootSearch& search, TreeFiles files, const Context& context)
      : search_(search), top_(std::move(files.top)), repository_(find_repository_root(top_)), context_(context) {
    find_candidates(files);
  }

  Result<void> find(messages::WorkspaceRootsResult& found) {
    parallel_for(candidates_.size(), core_count(),
                 [this](std::size_t i) { CandidateReader(candidates_[i], top_, context_).read(); });
    MODLOCK_TRY(context_.check());
    find_called();
    MODLOCK_TRY(read_globs());
    std::set<std::size_t> chosen;
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      check(i, chosen, found);
    }
    take_undecided(chosen);
    found.has_units |= std::any_of(units_.begin(), units_.end(), [&](const std::string& unit) {
      const auto place = places_.find(unit);
      return place == places_.end() || chosen.count(place->second) == 0;
    });
    for (const std::size_t i : chosen) {
      found.roots.push_back(directory(i).string());
    }
    for (const PlacedGlob& glob : roots_) {
      if (!glob.is_used) {
        found.diagnostics.push_back(
            {Severity::warning,
             Error{.code = Code::config_parse,
                   .message = fmt::format("no directory with configuration matches {}", glob.origin)}});
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
      if (kind == ConfigKind::module) {
        candidate(directory_of(path));
      } else if (kind == ConfigKind::test) {
        test_directories.insert(directory_of(path));
      } else if (name == kUnitFile) {
        units_.push_back(directory_of(path));
      } else if (search_.only_locks && is_lock(name)) {
        lock_directories_.insert(directory_of(path));
      }
    }
    for (const std::string& path : files.unlisted) {
      candidate(path);
    }
    for (const std::string& path : lock_directories_) {
      candidate(path);
    }
    for (const std::string& path : test_directories) {
      give_tests(path);
    }
  }

  // Tests are in the directory of a module, or below it.
  void give_tests(const std::string& path) {
    for (fs::path above = path;; above = above.parent_path()) {
      const std::string place = above.empty() ? "." : above.generic_string();
      if (const auto found = places_.find(place); found != places_.end()) {
        if (place != path) {
          candidates_[found->second].test_files.insert(fs::path(path).lexically_relative(place).generic_string());
          return;
        }
        candidates_[found->second].test_files.insert("tests");  // those in the module's directory are read in any case
      }
      if (place == ".") {
        return;
      }
    }
  }

  std::optional<std::size_t> candidate_at(const fs::path& path) const {
    const auto known = places_.find(relative_to_root(path, top_));
    if (known != places_.end()) {
      return known->second;
    }
    std::error_code error;
    const fs::path real = fs::canonical(path, error);
    const fs::path real_top = error ? fs::path() : fs::canonical(top_, error);
    const auto resolved = error ? places_.end() : places_.find(relative_to_root(real, real_top));
    return resolved == places_.end() ? std::nullopt : std::optional(resolved->second);
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
    called_.assign(candidates_.size(), false);
    for (const std::size_t i : waiting) {
      called_[i] = true;
    }
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
        called_[other] = true;
        waiting.push_back(other);
      }
    }
  }

  std::vector<std::size_t> called_by_units() const {
    std::vector<std::size_t> called;
    for (const std::string& path : units_) {
      const fs::path unit = document_path(top_ / path);
      const auto found = terragrunt::find_unit_source(unit, "", ClientKind::opentofu, repository_);
      if (!found || !found->source) {
        continue;
      }
      const std::string& text = found->source->source.text;
      const bool is_path = text.starts_with('/') || text.starts_with("./") || text.starts_with("../");
      const auto other = is_path ? candidate_at(document_path(unit / text)) : std::nullopt;
      if (other && candidates_[*other].path != path) {
        called.push_back(*other);
      }
    }
    return called;
  }

  Result<void> add_named(const std::vector<std::string>& texts, std::string_view name, std::vector<PlacedGlob>& globs) {
    for (const std::string& text : texts) {
      auto glob = DirectoryGlob::parse(text);
      if (!glob) {
        return fail(Code::invalid_params, fmt::format("{} {}, found \"{}\"", name, glob.error().message, text),
                    "write a glob of a relative path, as in \"live/*\"");
      }
      globs.push_back({std::move(*glob), search_.current, fmt::format("{} {}", name, text), true});
    }
    return {};
  }

  void add_written(const std::vector<SourceText>& list, std::string_view setting, const fs::path& base, bool is_users,
                   std::vector<PlacedGlob>& globs) const {
    for (const SourceText& written : list) {
      if (auto glob = DirectoryGlob::parse(written.text)) {  // the settings reader has rejected invalid globs
        const auto& range = written.location.range;
        const std::string line = range ? fmt::format(":{}", range->start.line) : "";
        globs.push_back({std::move(*glob), base, fmt::format("{} in {}{}", setting, written.location.path, line),
                         is_users, is_users || !is_inside(base, top_)});
      }
    }
  }

  Result<void> read_globs() {
    MODLOCK_TRY(add_named(search_.root_globs, search_.root_globs_name, roots_));
    MODLOCK_TRY(add_named(search_.exclude, search_.exclude_name, exclude_));
    const fs::path beside = search_.user_file.parent_path();
    const fs::path& base = !beside.empty() && is_inside(top_, beside) ? beside : top_;
    add_written(search_.user_roots, "roots", base, true, roots_);
    add_written(search_.user_exclude, "exclude", base, true, exclude_);
    std::set<fs::path> directories;
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      for (fs::path at = directory(i); directories.insert(at).second && at != repository_;) {
        at = at.parent_path();
      }
    }
    for (const fs::path& directory : directories) {
      const auto settings = load_directory_settings(directory, repository_);
      if (!settings) {
        undecided_.push_back(directory);
        continue;
      }
      add_written(settings->roots, "roots", directory, false, roots_);
      add_written(settings->exclude, "exclude", directory, false, exclude_);
    }
    return {};
  }

  bool is_searched(std::size_t i) const {
    const fs::path place = directory(i);
    return std::any_of(search_.directories.begin(), search_.directories.end(),
                       [&](const fs::path& searched) { return is_inside(place, searched); });
  }

  bool is_root(std::size_t i) const {
    const Candidate& one = candidates_[i];
    return !called_[i] && (one.is_broken || one.has_lock || one.keeps_state ||
                           (!is_kept_apart(one.path) && (one.configures_provider || one.calls_remote)));
  }

  bool matches(const PlacedGlob& glob, std::size_t i) const {
    const fs::path place = directory(i);
    return is_inside(place, glob.base) && glob.glob.matches(relative_to_root(place, glob.base));
  }

  // Adds the candidate to the chosen roots, or to the excluded ones.
  void check(std::size_t i, std::set<std::size_t>& chosen, messages::WorkspaceRootsResult& found) {
    const Candidate& one = candidates_[i];
    if (!one.exists && lock_directories_.count(one.path) == 0) {
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
    if (!is_searched(i) || (!is_named && !is_root(i))) {
      return;
    }
    const auto excluding = std::find_if(exclude_.begin(), exclude_.end(), [&](const PlacedGlob& glob) {
      return (glob.is_users || !is_users) && matches(glob, i);
    });
    if (excluding == exclude_.end()) {
      chosen.insert(i);
    } else {
      found.excluded.push_back({directory(i).string(), excluding->origin});
    }
  }

  // The content of settings that cannot be read is not known.
  void take_undecided(std::set<std::size_t>& chosen) const {
    for (const fs::path& place : undecided_) {
      const auto is_below = [&](std::size_t i) { return is_inside(directory(i), place); };
      if (std::any_of(chosen.begin(), chosen.end(), is_below)) {
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
  const fs::path top_;
  const fs::path repository_;  // that top_ is in, or top_ itself
  const Context& context_;
  std::vector<Candidate> candidates_;
  std::map<std::string, std::size_t, std::less<>> places_;  // in candidates_, by path
  std::vector<std::string> units_;                          // directories of terragrunt.hcl
  std::set<std::string> lock_directories_;
  std::vector<bool> called_;  // as a local module
  std::vector<PlacedGlob> roots_;
  std::vector<PlacedGlob> exclude_;
  std::vector<fs::path> undecided_;  // their settings cannot be read
};

// Returns the top of the tree that a directory is in.
fs::path top_of(const fs::path& directory, const std::vector<fs::path>& bounds) {
  fs::path repository = find_repository_root(directory);
  const auto bound =
      std::find_if(bounds.begin(), bounds.end(), [&](const fs::path& each) { return is_inside(directory, each); });
  return bound == bounds.end() || is_inside(repository, *bound) ? std::move(repository) : *bound;
}

std::string hcl_string(std::string_view text) {
  return fmt::format("\"{}\"", spell(text, Quoting::quoted));
}

}  // namespace

bool has_lock(const fs::path& directory) {
  std::error_code ignored;
  return fs::exists(directory / kLockFileName, ignored) || fs::exists(directory / kSidecarFileName, ignored);
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
  std::sort(found.roots.begin(), found.roots.end());
  found.roots.erase(std::unique(found.roots.begin(), found.roots.end()), found.roots.end());
  std::sort(found.excluded.begin(), found.excluded.end(),
            [](const auto& left, const auto& right) { return left.root < right.root; });
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
  auto found = search_roots(search, engine.context_for(run));
  run.diagnostics = found ? found->diagnostics : Diagnostics();
  return found;
}

ExcludeLine exclude_line(const fs::path& root, const std::vector<fs::path>& directories) {
  const auto searched = std::find_if(directories.begin(), directories.end(),
                                     [&](const fs::path& directory) { return is_inside(root, directory); });
  const fs::path top = find_repository_root(searched == directories.end() ? root : *searched);
  std::string list;
  if (const auto settings = load_directory_settings(top, top)) {
    for (const SourceText& written : settings->exclude) {
      list += hcl_string(written.text) + ", ";
    }
  }
  return {.file = (top / kSettingsFileName).string(),
          .text = fmt::format("exclude = [{}{}]", list, hcl_string(literal_glob(relative_to_root(root, top))))};
}

}  // namespace modlock
