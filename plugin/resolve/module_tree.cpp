#include "plugin/resolve/module_tree.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "backends/address/source_remote.h"
#include "backends/base/collections.h"
#include "backends/base/text.h"
#include "backends/package/tree_scan.h"
#include "plugin/config/confined_files.h"
#include "plugin/config/module_scope.h"
#include "plugin/lock/locked_text.h"
#include "plugin/resolve/module_reader.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxLevels = 64;
constexpr std::size_t kMaxCalls = 200'000;
constexpr std::size_t kLongestKey = 255;  // it becomes a directory name

// Whether a dot in its first part would make the text the address of a registry module.
bool has_host_without_dot(const std::string& text) {
  const auto with_dot = parse_source("x." + text);
  return text.find('.') >= text.find('/') && with_dot && with_dot->source.is_registry();
}

class TreeWalk {
 public:
  TreeWalk(const WalkRequest& request, const VisitLevel& visit, const Context& context)
      : request_(request),
        visit_(visit),
        context_(context),
        environment_{request.root, request.workspace, request.tool,
                     make_confined_files(request.root, request.bounds, request.documents)},
        modules_(request.documents, request.tool, context) {}

  Result<ModuleTree> run() {
    modules_.read_ahead(request_.installed);
    MODLOCK_TRY(read_root());
    for (int level = 0; !remote_.empty(); ++level) {
      if (level > kMaxLevels) {
        return fail(too_deep(*remote_.front().node));
      }
      MODLOCK_TRY(walk_level());
    }
    return std::move(tree_);
  }

 private:
  Result<void> walk_level() {
    MODLOCK_TRY(context_.check());
    std::vector<Waiting> level = std::move(remote_);
    remote_.clear();
    std::ranges::sort(level, {}, [](const Waiting& one) -> const std::string& { return one.node->key; });
    const std::vector<ModuleNode*> nodes = mapped(level, &Waiting::node);
    MODLOCK_TRY(visit_(nodes));
    std::vector<Result<std::string>> subdirs;
    for (const ModuleNode* node : nodes) {
      const bool is_there = !node->package_directory.empty();
      subdirs.push_back(is_there ? expand_subdir(node->package_directory, node->subdir()) : Result<std::string>());
    }
    read_ahead(nodes, subdirs);
    for (std::size_t i = 0; i < level.size(); ++i) {
      const Waiting& waiting = level[i];
      ModuleNode& node = *waiting.node;
      if (node.package_directory.empty()) {
        tree_.complete = false;
        continue;
      }
      const Result<std::string>& subdir = subdirs[i];
      if (!subdir) {
        report(node, no_such_module(node, subdir.error()));
        tree_.complete = false;
        continue;
      }
      node.directory = directory_of(node, *subdir);
      node.manifest_directory = join_relative(node.manifest_package, *subdir);
      MODLOCK_TRY(read_called(node, waiting.caller));
    }
    return {};
  }

  static fs::path directory_of(const ModuleNode& node, const std::string& subdir) {
    return (node.package_directory / subdir).lexically_normal();
  }

  void read_ahead(const std::vector<ModuleNode*>& nodes, const std::vector<Result<std::string>>& subdirs) {
    std::set<fs::path> directories;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (!nodes[i]->package_directory.empty() && subdirs[i]) {
        directories.insert(directory_of(*nodes[i], *subdirs[i]));
      }
    }
    modules_.read_ahead(directories);
  }

  Result<void> read_root() {
    ModuleNode root;
    root.directory = request_.root;
    root.manifest_directory = root.manifest_package = ".";
    MODLOCK_TRY(auto parsed, modules_.read(root.directory, request_.bounds));
    MODLOCK_TRY(auto values, read_variable_values(request_.root, request_.variables, request_.documents,
                                                  request_.bounds, tree_.diagnostics));
    MODLOCK_TRY(auto tests, modules_.read_tests(*parsed, request_.bounds));
    const auto scope = std::make_shared<ModuleScope>(parsed, environment_, root.manifest_directory, values);
    take_module(root, parsed);
    ModuleNode root_of_tests = root;
    root_of_tests.of_tests = true;
    take_module(root_of_tests, tests);
    take_diagnostics(values->undeclared(parsed->variables), root);
    auto ok = add_calls(root, *parsed, scope);
    return ok ? add_calls(root_of_tests, *tests, scope) : ok;
  }

  // Reads the files of a called module and adds its calls. Local ones are read at once, remote ones wait for their
  // level.
  Result<void> read_called(ModuleNode& node, const std::shared_ptr<ModuleScope>& caller) {
    auto parsed = modules_.read(node.directory, bounds_of(node, request_.bounds));
    if (!parsed) {
      MODLOCK_TRY(context_.check());
      report(node, no_such_module(node, parsed.error()));
      tree_.complete = false;
      return {};
    }
    if (auto cycle = find_cycle(node)) {
      report(node, std::move(*cycle));
      tree_.complete = false;
      return {};
    }
    take_module(node, *parsed);
    const auto scope =
        std::make_shared<ModuleScope>(*parsed, environment_, node.manifest_directory, caller, *node.call.written);
    return add_calls(node, **parsed, scope);
  }

  void take_module(const ModuleNode& node, const std::shared_ptr<const ParsedModule>& parsed) {
    for (const ConfigFile& file : parsed->file_hashes) {
      tree_.files.push_back({join_relative(node.manifest_directory, file.path), file.role, file.sha256});
    }
    if (reported_.insert(parsed.get()).second) {
      Diagnostics diagnostics = parsed->diagnostics;
      for (Diagnostic& diagnostic : diagnostics) {
        relocate(diagnostic.what, node);
        if (diagnostic.severity == Severity::error && node.manifest_package != ".") {
          diagnostic.what.hint =
              "the file is part of a package: name another version of it, or report this to its author";
        }
      }
      take_diagnostics(std::move(diagnostics), node);
    }
    tree_.modules.push_back({node.key, node.manifest_directory, parsed, node.call.source.location, node.of_tests});
  }

  void take_diagnostics(Diagnostics diagnostics, const ModuleNode& node) {
    for (Diagnostic& diagnostic : diagnostics) {
      tree_.complete = tree_.complete && diagnostic.severity != Severity::error;
      if (diagnostic.what.subject.empty() && !node.key.empty()) {
        diagnostic.what.subject = node.subject();
      }
      tree_.diagnostics.push_back(std::move(diagnostic));
    }
  }

  Result<void> add_calls(const ModuleNode& node, const ParsedModule& parsed,
                         const std::shared_ptr<ModuleScope>& scope) {
    EvaluatedCalls evaluated = evaluate_calls(parsed, *scope, context_);
    MODLOCK_TRY(context_.check());
    take_diagnostics(std::move(evaluated.diagnostics), node);
    for (const ModuleCallSyntax* call : evaluated.unresolved) {
      leave_out(node, *call);
    }
    for (ModuleCall& call : evaluated.calls) {
      MODLOCK_TRY(context_.check());
      MODLOCK_TRY(add_call(node, std::move(call), scope));
    }
    return {};
  }

  static std::string key_below(const ModuleNode& parent, const std::string& name) {
    return parent.key.empty() ? name : parent.key + "." + name;
  }

  void leave_out(const ModuleNode& parent, const ModuleCallSyntax& call) {
    tree_.unresolved.push_back({key_below(parent, call.name), parent.manifest_directory, &call});
  }

  void give_up(const ModuleNode& parent, const ModuleNode& node, Error error) {
    tree_.complete = false;
    leave_out(parent, *node.call.written);
    report(node, std::move(error));
  }

  // A module that calls itself would be read without end. A module of a run block may call the root module: the run
  // block is in a test file.
  std::optional<Error> find_cycle(const ModuleNode& node) const {
    std::string key = node.key;
    while (!key.empty()) {
      key.resize(key.find('.') == std::string::npos ? 0 : key.rfind('.'));
      const ModuleNode* ancestor = find_in(tree_.nodes, key);
      const bool known = key.empty() ? !node.of_tests : ancestor != nullptr;
      if (known && (key.empty() ? request_.root : ancestor->directory) == node.directory) {
        return node.error(Code::limit_exceeded,
                          fmt::format("module \"{}\" calls itself: its files are those of {}", node.key,
                                      key.empty() ? "the root module" : "module \"" + key + "\""),
                          "break the cycle");
      }
    }
    return std::nullopt;
  }

  Result<void> add_call(const ModuleNode& parent, ModuleCall call, const std::shared_ptr<ModuleScope>& scope) {
    if (tree_.nodes.size() >= kMaxCalls) {
      return fail(Error{.code = Code::limit_exceeded,
                        .message = fmt::format("the configuration has more than {} module calls", kMaxCalls),
                        .location = call.location,
                        .hint = "split it into several root modules"});
    }
    ModuleNode node;
    node.key = key_below(parent, call.name);
    node.of_tests = parent.of_tests;
    auto address = parse_source(call.source.text, default_registry(request_.registry_of.value_or(request_.tool)));
    node.call = std::move(call);
    if (node.call.version && (!address || address->source.is_external()) &&
        has_host_without_dot(node.call.source.text)) {
      address = fail(Code::source_invalid,
                     fmt::format("the module source \"{}\" has a registry host without a dot", node.call.source.text),
                     "write the full name of the host");
    }
    if (address && node.key.size() > kLongestKey) {
      address = fail(
          Code::limit_exceeded,
          fmt::format("the key \"{}…\" of a module call is longer than {} bytes", node.key.substr(0, 60), kLongestKey),
          "give the call, or those it is nested in, shorter names");
    }
    if (!address) {
      address.error().location = node.call.source.location;
      give_up(parent, node, std::move(address.error()));
      return {};
    }
    node.address = std::move(*address);
    node.address.is_users = parent.package_directory.empty();
    if (node.address.is_users && !request_.settings.git_helpers.empty()) {
      serve_by_git_helper(node.address);
    }
    serve_externally(request_.settings, node.address.source);
    Diagnostics warnings;
    auto constrained = apply_constraints(node, request_.settings, warnings);
    if (constrained) {
      constrained = check_source_allowed(request_.settings, node.address.source.identity());
    }
    append(tree_.diagnostics, std::move(warnings));
    if (!constrained) {
      give_up(parent, node, std::move(constrained.error()));
      return {};
    }
    return node.is_local() ? add_local(parent, std::move(node), scope) : add_remote(std::move(node), scope);
  }

  Result<void> add_remote(ModuleNode node, const std::shared_ptr<ModuleScope>& caller) {
    node.manifest_package = join_relative(request_.data_directory, "modules/" + node.key);
    node.manifest_directory = join_relative(node.manifest_package, node.address.source.subdir);
    remote_.push_back({insert(std::move(node)), caller});
    return {};
  }

  Result<void> add_local(const ModuleNode& parent, ModuleNode node, const std::shared_ptr<ModuleScope>& caller) {
    place_local_module(node, parent, request_.root);
    if (std::ranges::count(node.key, '.') > kMaxLevels) {
      return fail(too_deep(node));
    }
    if (auto ok = check_local_bounds(node, parent, request_); !ok) {
      give_up(parent, node, std::move(ok.error()));
      return {};
    }
    if (auto misspelled = misspelled_source(node, parent)) {
      tree_.diagnostics.push_back({Severity::warning, std::move(*misspelled)});
    }
    return read_called(*insert(std::move(node)), caller);
  }

  Error no_such_module(const ModuleNode& node, const Error& cause) const {
    if (cause.code == Code::path_outside_root || cause.code == Code::limit_exceeded) {
      return cause;
    }
    if (!node.is_local() && node.subdir().empty()) {  // a directory in place of the package
      return node.error(Code::config_parse, fmt::format("module \"{}\": {}", node.key, cause.message),
                        "correct the source or its replacement, or create the directory");
    }
    return with_note(node.error(Code::config_parse,
                                fmt::format("module \"{}\": {} has no directory \"{}\"", node.key,
                                            node.is_local() ? "the calling configuration" : "the package",
                                            node.is_local() ? node.call.source.text : node.subdir()),
                                "correct the source, or create the directory"),
                     cause.message);
  }

  static Error too_deep(const ModuleNode& node) {
    return Error{
        .code = Code::limit_exceeded,
        .message = fmt::format("modules are nested deeper than {} levels: {}…", kMaxLevels, node.key.substr(0, 200)),
        .subject = {},
        .location = node.call.source.location,
        .hint = "a module probably calls itself; break the cycle"};
  }

  void report(const ModuleNode& node, Error error) {
    if (error.subject.empty()) {
      error.subject = node.subject();
    }
    tree_.diagnostics.push_back({Severity::error, std::move(error)});
  }

  static void relocate(Location& location, const ModuleNode& node) {
    location.path = join_relative(node.manifest_directory, location.path);
  }

  static void relocate(Error& error, const ModuleNode& node) {
    if (error.location) {
      relocate(*error.location, node);
    }
    for (Related& related : error.related) {
      relocate(related.location, node);
    }
    if (error.subject.starts_with("module.") && !node.key.empty()) {
      error.subject.insert(7, node.key + ".");
    }
  }

  ModuleNode* insert(ModuleNode node) {
    std::string key = node.key;
    return &tree_.nodes.insert_or_assign(std::move(key), std::move(node)).first->second;
  }

  const WalkRequest& request_;
  const VisitLevel& visit_;
  const Context& context_;
  struct Waiting {
    ModuleNode* node = nullptr;
    std::shared_ptr<ModuleScope> caller;
  };
  ScopeContext environment_;
  ModuleTree tree_;
  ModuleReader modules_;
  std::set<const ParsedModule*> reported_;  // their diagnostics were reported
  std::vector<Waiting> remote_;             // found, waiting for their level
};

}  // namespace

Result<ModuleTree> walk_modules(const WalkRequest& request, const VisitLevel& visit, const Context& context) {
  return TreeWalk(request, visit, context).run();
}

namespace {

// Returns the new keys of the call that a rule without a call was for, according to its lock entry: calls of the same
// source that have no entry, no rule, and no version in the source.
std::vector<std::string> renamed_keys(const std::string& key, const Settings& settings, const ModuleTree& tree,
                                      const ModuleLocks& locks) {
  std::vector<std::string> renamed;
  const ModuleLock* former = find_in(locks, key);
  if (former == nullptr) {
    return renamed;
  }
  for (const auto& [other, node] : tree.nodes) {
    const bool is_new = !locks.contains(other) && !settings.modules.contains(other);
    if (is_new && node.address.source.identity() == former->source && !node.commit &&
        node.address.source.named_reference().empty()) {
      renamed.push_back(other);
    }
  }
  return renamed;
}

// Returns whether a tree that was not walked completely may lack this call: its source has no value, or the module that
// calls it was not read.
bool may_be_unread(std::string_view key, const ModuleTree& tree) {
  const ModuleNode* caller = find_in(tree.nodes, key.substr(0, key.rfind('.')));
  return find_by(tree.unresolved, key, &UnresolvedCall::key) != nullptr ||
         (key.find('.') != std::string_view::npos && (caller == nullptr || caller->directory.empty()));
}

// A rule of a file above the root may also be for another root.
std::string rule_hint(const std::string& key, const ModuleRule& rule, const ModuleTree& tree,
                      const std::vector<std::string>& renamed) {
  if (!renamed.empty()) {
    const std::string names = fmt::format("module \"{}\"", fmt::join(renamed, "\" and module \""));
    if (renamed.size() > 1) {
      return fmt::format("the call was renamed: add the blocks {}", names);
    }
    const std::string hint = fmt::format("the call was renamed: rename the block to {}", names);
    return rule.is_inherited
               ? fmt::format("{}, or add a block {} if other root modules still have module \"{}\"", hint, names, key)
               : hint;
  }
  return rule.is_inherited
             ? ""
             : did_you_mean(key, mapped(tree.nodes, [](const auto& entry) { return std::string_view(entry.first); }));
}

}  // namespace

std::vector<ConstraintUse> shared_constraints(const ModuleTree& tree, const ModuleNode& node, Resolution resolution) {
  std::vector<ConstraintUse> all = node.constraints;
  const std::string group = version_group(node, resolution);
  for (const auto& [key, other] : tree.nodes) {
    if (key != node.key && !other.is_local() && version_group(other, resolution) == group) {
      all.insert(all.end(), other.constraints.begin(), other.constraints.end());
    }
  }
  return all;
}

Diagnostics unmatched_rules(const Settings& settings, const ModuleTree& tree, const ModuleLocks& locks) {
  Diagnostics diagnostics;
  for (const auto& [key, rule] : settings.modules) {
    if (tree.nodes.contains(key)) {
      continue;
    }
    const std::vector<std::string> renamed = renamed_keys(key, settings, tree, locks);
    if (!tree.complete && (renamed.empty() || may_be_unread(key, tree))) {
      continue;
    }
    const bool is_note = rule.is_inherited && renamed.empty();
    const std::string hint = rule_hint(key, rule, tree, renamed);
    diagnostics.push_back(
        {is_note ? Severity::info : Severity::error,
         Error{.code = Code::config_parse,
               .message = fmt::format("the block module \"{}\" matches no module call{}", key,
                                      is_note ? " and is ignored" : ""),
               .location = rule.location,
               .hint = is_note || !hint.empty()
                           ? hint
                           : "write call names from the root joined by dots, for example \"vpc.nested\", or "
                             "remove the block"}});
  }
  return diagnostics;
}

}  // namespace modlock
