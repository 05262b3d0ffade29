#include "plugin/install/overrides.h"

#include <fmt/format.h>

#include "backends/base/collections.h"
#include "backends/base/files.h"
#include "plugin/config/config_files.h"
#include "plugin/config/roots.h"
#include "plugin/hcl/characters.h"
#include "plugin/lock/edit.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kHidingName = "modlock_override.tofu";
constexpr const char* kOtherWay =
    "write the version into the configuration itself (update/plan), or into .tofu-modlock.hcl";

// What one directory is to say.
struct Directory {
  std::string name;  // as locations have it: relative to the root
  struct Call {
    const ModuleNode* node = nullptr;
    std::string source;
  };
  std::map<std::string, Call> calls = {};           // by the name of the block
  std::map<std::string, std::string> sources = {};  // by key
  std::optional<Error> problem = {};                // why no file can be written

  std::string text() const {
    std::string out = std::string(kOverrideMarker) + "\n";
    for (const auto& [block, call] : calls) {
      out += fmt::format("\nmodule \"{}\" {{\n  source  = {}\n  version = null\n}}\n", block, hcl::quoted(call.source));
    }
    return out;
  }
};

class OverridePlanner {
 public:
  explicit OverridePlanner(const OverrideRequest& request) : request_(request) {}

  Result<OverridePlan> run() {
    directories_.emplace(key_of(request_.root), Directory{.name = "."});
    for (const auto& [key, node] : request_.tree.nodes) {
      if (is_in_reach(node) && !node.directory.empty()) {
        directories_.try_emplace(key_of(node.directory), Directory{.name = node.manifest_directory});
      }
    }
    for (const auto& [key, node] : request_.tree.nodes) {
      if (needs_override(node)) {
        add(node);
      }
    }
    for (const auto& [path, directory] : directories_) {
      MODLOCK_TRY(plan_override_file(path, directory));
    }
    return std::move(plan_);
  }

 private:
  // One directory may be reached by several paths.
  static fs::path key_of(const fs::path& directory) {
    std::error_code error;
    fs::path real = fs::canonical(directory, error);
    return error ? directory : real;
  }

  const ModuleNode* parent_of(const ModuleNode& node) const {
    const std::size_t dot = node.key.rfind('.');
    return dot == std::string::npos ? nullptr : find_in(request_.tree.nodes, std::string_view(node.key).substr(0, dot));
  }

  // The root's own local modules, at any depth.
  bool is_in_reach(const ModuleNode& node) const {
    const ModuleNode* at = &node;
    while (at != nullptr && at->is_local()) {
      at = parent_of(*at);
    }
    return at == nullptr;
  }

  void add(const ModuleNode& node) {
    const ModuleNode* caller = parent_of(node);
    if (caller != nullptr && (!is_in_reach(*caller) || caller->directory.empty())) {
      return;
    }
    const fs::path place = key_of(caller == nullptr ? request_.root : caller->directory);
    Directory& directory = directories_.at(place);
    auto source = source_of(node, place, directory);
    if (!source) {
      directory.problem = directory.problem ? std::move(directory.problem) : std::move(source.error());
      return;
    }
    const auto [known, is_new] = directory.calls.try_emplace(node.call.name, Directory::Call{&node, *source});
    if (!is_new && known->second.source != *source) {
      directory.problem =
          at(node, Code::constraint_conflict,
             fmt::format("module \"{}\" and module \"{}\" are one block and are locked to different packages, so no "
                         "override file can serve both",
                         known->second.node->key, node.key),
             kOtherWay);
    }
    directory.sources.insert_or_assign(node.key, std::move(*source));
  }

  Result<std::string> source_of(const ModuleNode& node, const fs::path& place, const Directory& directory) const {
    MODLOCK_TRY(check_later_overrides(node, directory));
    std::error_code ignored;
    if (fs::exists(fs::symlink_status(place / kHidingName, ignored))) {
      return fail(at(node, Code::config_parse,
                     fmt::format("{} makes OpenTofu pass over {}",
                                 join_relative(directory.name, std::string(kHidingName)), kOwnOverrideName),
                     "give the file another name"));
    }
    const ModuleLock* entry = find_in(request_.locks, node.key);
    if (entry == nullptr) {
      return fail(at(node, Code::frozen, fmt::format("module \"{}\" is not locked", node.key), review_lock_hint()));
    }
    return pinned_source(node, *entry);
  }

  // Override files are merged in the order of their names.
  static Result<void> check_later_overrides(const ModuleNode& node, const Directory& directory) {
    for (const char* name : {"source", "version"}) {
      const Argument argument = node.call.written->find(name);
      if (argument.attribute == nullptr || argument.file->role != ConfigFile::Role::override_file ||
          argument.file->name < kOwnOverrideName) {
        continue;
      }
      Error error =
          at(node, Code::config_parse,
             fmt::format("{} sets the {} of module \"{}\" and is merged after {}",
                         join_relative(directory.name, argument.file->path), name, node.key, kOwnOverrideName),
             "give the file a name that sorts before it, or write the argument into the call");
      error.location = Location{join_relative(directory.name, argument.file->path), argument.attribute->value.range};
      return fail(std::move(error));
    }
    return {};
  }

  static Error at(const ModuleNode& node, Code code, std::string message, Hint hint) {
    return placed(node.error(code, std::move(message), std::move(hint)), node.subject(), node.call.location);
  }

  Result<void> plan_override_file(const fs::path& path, const Directory& directory) {
    const fs::path file = path / kOwnOverrideName;
    const std::string name = join_relative(directory.name, std::string(kOwnOverrideName));
    MODLOCK_TRY(const auto before, own_text(file, name));
    const bool keeps = request_.mode == OverrideMode::leave || request_.mode == OverrideMode::refresh;
    const bool is_wanted = request_.mode == OverrideMode::write || (keeps && before);
    if (is_wanted && directory.problem) {
      return fail(*directory.problem);
    }
    const std::optional<std::string> after =
        is_wanted && !directory.calls.empty() ? std::optional(directory.text()) : std::nullopt;
    const bool is_shared = request_.mode == OverrideMode::refresh && !confine(path, {request_.root});
    if (before != after && (request_.mode == OverrideMode::leave || is_shared)) {
      Error stale{.code = Code::frozen,
                  .message = fmt::format("{} does not match the lock file", name),
                  .location = Location{name, std::nullopt},
                  .hint = "run: " + tofu_modlock("install", "--overrides") + ", or --no-overrides to remove the file"};
      if (!is_shared) {
        return fail(std::move(stale));
      }
      plan_.left.push_back(std::move(stale));
      return {};
    }
    if (after) {
      plan_.sources.insert(directory.sources.begin(), directory.sources.end());
    }
    if (before == after) {
      return {};
    }
    std::vector<fs::path> bounds = request_.bounds;
    bounds.push_back(request_.root);
    MODLOCK_TRY(confine(path, bounds));
    plan_.writes.push_back({file, after, before, name});
    return {};
  }

  // Our file, where there is one.
  static Result<std::optional<std::string>> own_text(const fs::path& file, const std::string& name) {
    std::error_code ignored;
    const fs::file_status status = fs::symlink_status(file, ignored);
    if (!fs::exists(status)) {
      return std::nullopt;
    }
    MODLOCK_TRY(auto text, fs::is_regular_file(status) ? read_file(file) : Result<std::string>());
    if (!text.starts_with(std::string(kOverrideMarker) + "\n")) {
      return fail(Error{.code = Code::config_parse,
                        .message = fmt::format("{} was not written by tofu-modlock, which keeps that name for itself "
                                               "and does not read it, while a client does",
                                               name),
                        .location = Location{name, std::nullopt},
                        .hint = "rename the file; it is not overwritten"});
    }
    return text;
  }

  const OverrideRequest& request_;
  std::map<fs::path, Directory> directories_;  // of the root and of its local modules, links resolved
  OverridePlan plan_;
};

}  // namespace

bool needs_override(const ModuleNode& node) {
  return node.call.version && node.address.source.has_tags() && node.call.written != nullptr &&
         !node.call.written->literal_only;
}

Result<OverridePlan> plan_overrides(const OverrideRequest& request) {
  return OverridePlanner(request).run();
}

Result<void> apply_overrides(const OverridePlan& plan) {
  for (const OverridePlan::Write& write : plan.writes) {
    // The plan has its path with all links resolved.
    MODLOCK_TRY(replace_file(write.path.parent_path(), write.path.filename(), write.text));
  }
  return {};
}

void check_override_files(const OverrideRequest& request, Diagnostics& diagnostics, Severity severity) {
  auto plan = plan_overrides(request);
  if (plan) {
    drop_enforced(*plan, diagnostics);
    return;
  }
  Error reason = std::move(plan.error());
  reason.code = severity == Severity::error ? reason.code : Code::lock_unenforced;
  diagnostics.push_back({severity, std::move(reason)});
}

void drop_enforced(const OverridePlan& plan, Diagnostics& diagnostics) {
  constexpr std::string_view kPrefix = "module.";
  const auto is_enforced = [&](const Diagnostic& diagnostic) {
    const std::string_view subject(diagnostic.what.subject);
    return diagnostic.what.code == Code::lock_unenforced && subject.starts_with(kPrefix) &&
           plan.sources.contains(subject.substr(kPrefix.size()));
  };
  std::erase_if(diagnostics, is_enforced);
}

Result<std::string> pinned_source(const ModuleNode& node, const ModuleLock& lock) {
  const bool is_commit = node.address.source.has_commits();
  const std::string id = lock.hash_value(is_commit ? "git" : "oci");
  if (id.empty()) {
    return fail(placed(node.error(Code::frozen,
                                  fmt::format("the lock entry of module \"{}\" names no {}", node.key,
                                              is_commit ? "commit" : "digest"),
                                  "run: " + tofu_modlock("upgrade", "--target", node.subject())),
                       node.subject(), node.call.location));
  }
  const std::string address = printable_form(node.address);
  const std::string text =
      fmt::format("{}?{}={}", address.substr(0, address.find('?')), node.address.source.traits().id_argument, id);
  return parse_source(text).map([](const SourceAddress& parsed) { return parsed.normalised.reveal(); });
}

bool is_source_of(std::string_view recorded, const ModuleNode& node, const ModuleLock* lock) {
  if (recorded == node.address.normalised.reveal()) {
    return true;
  }
  if (!needs_override(node)) {
    return false;
  }
  if (lock != nullptr) {
    const auto pinned = pinned_source(node, *lock);
    return pinned && *pinned == recorded;
  }
  const std::string address = printable_form(node.address);
  return recorded.substr(0, recorded.find('?')) == address.substr(0, address.find('?'));
}

}  // namespace modlock
