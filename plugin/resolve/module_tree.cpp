#include "plugin/resolve/module_tree.h"

#include <fmt/format.h>

#include <algorithm>

#include "plugin/config/roots.h"
#include "plugin/resolve/call_constraints.h"
#include "plugin/resolve/subdir_glob.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxLevels = 64;
constexpr std::size_t kMaxCalls = 20'000;
constexpr std::size_t kLongestKey = 255;  // it becomes the name of a directory

bool lies_inside(const fs::path& path, const fs::path& directory) {
  const auto [end, _] = std::mismatch(directory.begin(), directory.end(), path.begin(), path.end());
  return end == directory.end() || (std::next(end) == directory.end() && end->empty());
}

// "./a" below ".terraform/modules/x" -> ".terraform/modules/x/a"
std::string join_manifest(const std::string& parent, const std::string& below) {
  return below.empty() ? parent : (fs::path(parent) / below).lexically_normal().generic_string();
}

class TreeWalk {
 public:
  TreeWalk(const WalkRequest& request, const VisitLevel& visit, const Context& context)
      : request_(request), visit_(visit), context_(context) {}

  Result<ModuleTree> run() {
    ModuleNode root;
    root.directory = request_.root;
    root.manifest_directory = ".";
    root.manifest_package = ".";
    if (auto ok = read_module(root, true); !ok) {
      return fail(std::move(ok.error()));
    }
    for (int level = 0; !remote_.empty(); ++level) {
      if (level > kMaxLevels) {
        return fail(too_deep(*remote_.front()));
      }
      if (auto ok = walk_level(); !ok) {
        return fail(std::move(ok.error()));
      }
    }
    return std::move(tree_);
  }

 private:
  Result<void> walk_level() {
    if (auto ok = context_.check(); !ok) {
      return ok;
    }
    std::vector<ModuleNode*> level = std::move(remote_);
    remote_.clear();
    std::sort(level.begin(), level.end(), [](const ModuleNode* a, const ModuleNode* b) { return a->key < b->key; });
    if (auto ok = visit_(level); !ok) {
      return ok;
    }
    for (ModuleNode* node : level) {
      if (node->package_directory.empty()) {
        tree_.complete = false;
        continue;
      }
      auto subdir = expand_subdir(node->package_directory, node->address.source.subdir);
      if (!subdir) {
        report(*node, no_such_module(*node, subdir.error()));
        tree_.complete = false;
        continue;
      }
      node->directory = (node->package_directory / *subdir).lexically_normal();
      node->manifest_directory = join_manifest(node->manifest_package, *subdir);
      if (auto ok = read_module(*node, false); !ok) {
        return ok;
      }
    }
    return {};
  }

  // Reads the files of a module and adds its calls; local ones are read at once, remote ones wait for their level.
  Result<void> read_module(ModuleNode& node, bool is_root) {
    auto config = load_module(node.directory, node.directory, request_.documents);
    if (!config) {
      if (is_root) {
        return fail(std::move(config.error()));
      }
      report(node, no_such_module(node, config.error()));
      tree_.complete = false;
      return {};
    }
    if (auto ok = check_cycle(node); !ok) {
      return ok;
    }
    if (is_root) {
      auto tests = load_test_modules(node.directory, request_.documents);
      if (!tests) {
        return fail(std::move(tests.error()));
      }
      std::move(tests->files.begin(), tests->files.end(), std::back_inserter(config->files));
      std::move(tests->calls.begin(), tests->calls.end(), std::back_inserter(config->calls));
      std::move(tests->diagnostics.begin(), tests->diagnostics.end(), std::back_inserter(config->diagnostics));
    }
    for (ConfigFile& file : config->files) {
      tree_.files.push_back({join_manifest(node.manifest_directory, file.path), file.role, std::move(file.sha256)});
    }
    for (Diagnostic& diagnostic : config->diagnostics) {
      tree_.complete = tree_.complete && diagnostic.severity != Severity::error;
      relocate(diagnostic.what, node);
      tree_.diagnostics.push_back(std::move(diagnostic));
    }
    for (ModuleCall& call : config->calls) {
      if (auto ok = add_call(node, std::move(call)); !ok) {
        return ok;
      }
    }
    return {};
  }

  // A module that is read below itself would be so without end, and twice as often with every further call.
  Result<void> check_cycle(const ModuleNode& node) const {
    std::string key = node.key;
    while (!key.empty()) {
      key.resize(key.find('.') == std::string::npos ? 0 : key.rfind('.'));
      const auto ancestor = tree_.nodes.find(key);
      const bool known = key.empty() || ancestor != tree_.nodes.end();
      if (known && (key.empty() ? request_.root : ancestor->second.directory) == node.directory) {
        return fail(Error{.code = Code::limit_exceeded,
                          .message = fmt::format("module \"{}\" calls itself: its files are those of {}", node.key,
                                                 key.empty() ? "the root module" : "module \"" + key + "\""),
                          .subject = node.subject(),
                          .location = node.call.source.location,
                          .hint = "break the cycle"});
      }
    }
    return {};
  }

  Result<void> add_call(const ModuleNode& parent, ModuleCall call) {
    if (tree_.nodes.size() >= kMaxCalls) {
      return fail(Error{.code = Code::limit_exceeded,
                        .message = fmt::format("the configuration has more than {} module calls", kMaxCalls),
                        .location = call.location,
                        .hint = "split it into several root modules"});
    }
    ModuleNode node;
    node.key = parent.key.empty() ? call.name : parent.key + "." + call.name;
    relocate(call.location, parent);
    relocate(call.source.location, parent);
    if (call.version) {
      relocate(call.version->location, parent);
    }
    auto address = parse_source(call.source.text);
    node.call = std::move(call);
    if (address && node.key.size() > kLongestKey) {
      address = fail(
          Code::limit_exceeded,
          fmt::format("the key \"{}…\" of a module call is longer than {} bytes", node.key.substr(0, 60), kLongestKey),
          "give the call, or those it is nested in, shorter names");
    }
    if (!address) {
      Error error = std::move(address.error());
      error.location = node.call.source.location;
      tree_.complete = false;
      report(node, std::move(error));
      return {};
    }
    node.address = std::move(*address);
    Diagnostics warnings;
    auto constrained = apply_constraints(node, request_.settings, warnings);
    if (constrained) {
      constrained = check_source_allowed(request_.settings, node.address.source.identity());
    }
    std::move(warnings.begin(), warnings.end(), std::back_inserter(tree_.diagnostics));
    if (!constrained) {
      tree_.complete = false;
      report(node, std::move(constrained.error()));
      return {};
    }
    return node.is_local() ? add_local(parent, std::move(node)) : add_remote(std::move(node));
  }

  Result<void> add_remote(ModuleNode node) {
    node.manifest_package = join_manifest(request_.data_directory, "modules/" + node.key);
    node.manifest_directory = join_manifest(node.manifest_package, node.address.source.subdir);
    remote_.push_back(insert(std::move(node)));
    return {};
  }

  Result<void> add_local(const ModuleNode& parent, ModuleNode node) {
    const std::string& path = node.address.source.path;
    node.directory = (parent.directory / path).lexically_normal();
    if (!node.directory.has_filename()) {
      node.directory = node.directory.parent_path();
    }
    node.manifest_directory = join_manifest(parent.manifest_directory, path);
    node.package_directory = parent.package_directory;
    node.manifest_package = parent.manifest_package;
    resolve_links(node);
    if (std::count(node.key.begin(), node.key.end(), '.') > kMaxLevels) {
      return fail(too_deep(node));
    }
    if (auto ok = check_bounds(node); !ok) {
      tree_.complete = false;
      report(node, std::move(ok.error()));
      return {};
    }
    return read_module(*insert(std::move(node)), false);
  }

  // OpenTofu records a local module where the links on the way to it lead.
  void resolve_links(ModuleNode& node) const {
    const fs::path& base = node.package_directory.empty() ? request_.root : node.package_directory;
    std::error_code missing;
    const fs::path real_base = fs::canonical(base, missing);
    const fs::path below = fs::canonical(node.directory, missing).lexically_relative(real_base);
    if (missing || below.empty() || below == node.directory.lexically_relative(base)) {
      return;
    }
    node.directory = (base / below).lexically_normal();
    node.manifest_directory = join_manifest(node.manifest_package, below.generic_string());
  }

  Result<void> check_bounds(const ModuleNode& node) const {
    if (!node.package_directory.empty()) {
      if (lies_inside(node.directory, node.package_directory)) {
        return {};
      }
      return fail(
          Error{.code = Code::source_invalid,
                .message = fmt::format("the local source \"{}\" of module \"{}\" leads outside of the package that "
                                       "it is called from",
                                       node.call.source.text, node.key),
                .location = node.call.source.location,
                .hint = "call the other module by its own remote source address"});
    }
    if (confine(node.directory, request_.bounds)) {
      return {};
    }
    return fail(
        Error{.code = Code::path_outside_root,
              .message = fmt::format("the local source \"{}\" of module \"{}\" leads outside of the directories that "
                                     "may be read",
                                     node.call.source.text, node.key),
              .location = node.call.source.location,
              .hint = "name the directory in workspaceRoots, or keep the module inside the repository of the root"});
  }

  Error no_such_module(const ModuleNode& node, const Error& cause) const {
    return Error{.code = Code::config_parse,
                 .message = fmt::format("module \"{}\": {} has no directory \"{}\"", node.key,
                                        node.is_local() ? "the calling configuration" : "the package",
                                        node.is_local() ? node.call.source.text : node.address.source.subdir),
                 .location = node.call.source.location,
                 .notes = {cause.message},
                 .hint = "correct the source, or create the directory"};
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
    location.path = join_manifest(node.manifest_directory, location.path);
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
  ModuleTree tree_;
  std::vector<ModuleNode*> remote_;  // seen, waiting for their level
};

}  // namespace

bool is_below(std::string_view key, std::string_view ancestor) {
  return key == ancestor || (key.starts_with(ancestor) && key[ancestor.size()] == '.');
}

std::optional<std::string> ModuleNode::constraints_text() const {
  if (commit) {
    return commit;
  }
  if (constraints.empty()) {
    return std::nullopt;
  }
  std::string text;
  for (const ConstraintUse& use : constraints) {
    text += (text.empty() ? "" : ", ") + use.constraint.text();
  }
  return text;
}

bool ModuleNode::is_pinned_by_source() const {
  const auto& query = address.source.query;
  return std::any_of(query.begin(), query.end(), [](const auto& argument) {
    return argument.first == "ref" || argument.first == "tag" || argument.first == "digest" || argument.first == "rev";
  });
}

Result<ModuleTree> walk_modules(const WalkRequest& request, const VisitLevel& visit, const Context& context) {
  return TreeWalk(request, visit, context).run();
}

Diagnostics unmatched_rules(const Settings& settings, const ModuleTree& tree) {
  Diagnostics diagnostics;
  if (!tree.complete) {
    return diagnostics;
  }
  for (const auto& [key, rule] : settings.modules) {
    if (tree.nodes.find(key) == tree.nodes.end()) {
      diagnostics.push_back(
          {Severity::error,
           Error{.code = Code::config_parse,
                 .message = fmt::format("the block module \"{}\" matches no module call", key),
                 .location = rule.location,
                 .hint = "write call names from the root joined by dots, for example \"vpc.nested\", or "
                         "remove the block"}});
    }
  }
  return diagnostics;
}

}  // namespace modlock
