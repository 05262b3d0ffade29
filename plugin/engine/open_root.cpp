#include "plugin/engine/open_root.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "backends/address/go_url.h"
#include "backends/address/source_text.h"
#include "backends/base/ascii.h"
#include "backends/base/files.h"
#include "plugin/config/config_files.h"
#include "plugin/config/roots.h"
#include "plugin/engine/engine.h"
#include "plugin/engine/plan_request.h"
#include "plugin/hcl/characters.h"
#include "plugin/install/manifest.h"
#include "plugin/install/package_lookup.h"
#include "plugin/lock/local_git.h"
#include "protocol/base/result.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;

fs::path without_trailing_slash(const fs::path& path) {
  const fs::path normal = path.lexically_normal();
  return normal.has_filename() || normal == normal.root_path() ? normal : normal.parent_path();
}

// A path with a control character would be truncated, or name a file other than the one it shows.
Result<void> check_path(std::string_view name, std::string_view path) {
  if (has_control_characters(path)) {
    return fail(Code::invalid_params, fmt::format("the path of {} contains control characters", name),
                "name a path without them");
  }
  return {};
}

// Returns where a document is on disk: `given` is the root as it was sent, `root` the same without links.
Result<fs::path> document_place(const std::string& sent, const fs::path& given, const fs::path& root) {
  MODLOCK_TRY(const auto path, decode_path("a document", sent));
  const fs::path below = path.is_absolute() ? path.lexically_normal().lexically_relative(given) : path;
  const bool is_inside = !below.empty() && (path.is_relative() || *below.begin() != "..");
  return (is_inside ? root / below : path).lexically_normal();
}

// Returns the path of a directory that a host sent as `params.<member>`.
Result<fs::path> absolute_directory(std::string_view name, std::string_view member, const std::string& sent,
                                    const Engine& engine) {
  MODLOCK_TRY(const auto given, decode_path(name, sent));
  if (given.is_absolute()) {
    return without_trailing_slash(given);
  }
  if (engine.options().workspace_roots.empty()) {
    return fail(Code::invalid_params,
                fmt::format("decode: expected an absolute path at params.{}, found \"{}\"", member, sent),
                "send an absolute path, or workspaceRoots with initialize");
  }
  return without_trailing_slash(engine.options().workspace_roots.front() / given);
}

// Adds the directories that the user allows in addition.
std::vector<fs::path> widened(std::vector<fs::path> bounds, const Engine& engine) {
  for (const auto* extra : {&engine.options().extra_workspace_roots, &engine.user_settings().workspace_roots}) {
    bounds.insert(bounds.end(), extra->begin(), extra->end());
  }
  return bounds;
}

// Sets the directories of the host, or else the repository, or else the root; and those that the user adds.
Result<void> set_bounds(WalkRequest& walk, const fs::path& repository, const Engine& engine) {
  walk.bounds = engine.options().workspace_roots;
  const bool is_bound_by_host = !walk.bounds.empty();
  if (!is_bound_by_host) {
    walk.follows_local_sources = !path_exists(repository / ".git");
    walk.bounds.push_back(repository);
  }
  walk.bounds = widened(std::move(walk.bounds), engine);
  auto inside = is_bound_by_host ? confine(walk.root, walk.bounds) : walk.root;
  return inside ? Result<void>() : fail(std::move(inside.error()));
}

bool has_glob(const std::vector<SourceText>& globs, const SourceText& wanted) {
  return std::ranges::any_of(globs, [&](const SourceText& glob) { return glob.text == wanted.text; });
}

bool overlays(const Documents& documents, const fs::path& root) {
  return std::ranges::any_of(documents, [&](const auto& document) { return document.first.parent_path() == root; });
}

// Later ones win: files, single values, then those with an explicit order.
VariableInputs variable_inputs(const messages::RootParams& params) {
  VariableInputs inputs{.environment = params.fallback_variables};
  for (const std::string& file : params.var_files) {
    inputs.arguments.push_back({std::nullopt, file});
  }
  for (const auto& [name, value] : params.variables) {
    inputs.arguments.push_back({name, value});
  }
  for (const messages::VariableArgument& argument : params.variable_arguments) {
    inputs.arguments.push_back(argument.file ? VariableArgument{std::nullopt, *argument.file}
                                             : VariableArgument{argument.name, argument.value.value_or("")});
  }
  return inputs;
}

// Returns the selection of `tofu workspace select` if the request names no workspace.
Result<std::string> selected_workspace(const messages::RootParams& params, const DataDirectory& data) {
  if (params.workspace && !params.workspace->empty()) {
    return *params.workspace;
  }
  const fs::path path = data.path / "environment";
  MODLOCK_TRY(confine(path, {data.path}));
  auto text = read_file(path);
  if (!text && text.error().code != Code::not_found) {
    return fail(std::move(text.error()));
  }
  const std::string name(text ? hcl::trim_right(hcl::trim_left(*text)) : std::string_view());
  return name.empty() ? "default" : name;
}

// Returns where a lock file is: in the root. It may be a link to any file that may be read.
Result<fs::path> lock_place(const RootRequest& root, const std::string& name) {
  const fs::path path = (root.walk.root / name).lexically_normal();
  MODLOCK_TRY(confine(path.parent_path(), {root.walk.root}));
  return confine(path, root.walk.bounds);
}

// Returns the text of an overlaying document, or else of the file at `name`; nullopt: there is none.
Result<std::optional<std::string>> read_text(const RootRequest& root, std::string_view name) {
  return lock_place(root, std::string(name)).and_then([&](const fs::path& path) {
    return read_once(path, root.walk.documents);
  });
}

// Reads the lock file at `name`: `text` if the host sent it, or else an overlaying document, or else the file on disk.
// `merging` not null: merged with the sides of a merge, which goes to `merge`.
Result<LockFile> read_lock(const RootRequest& root, const std::string& name, std::optional<std::string> text,
                           const Context* merging, std::optional<OpenMerge>& merge) {
  MODLOCK_TRY(const auto path, lock_place(root, name));
  const bool is_sent = text.has_value() || root.walk.documents.count(path) != 0;
  if (!text) {
    MODLOCK_TRY(text, read_text(root, name));
  }
  if (merging != nullptr) {
    OpenMerge open = merge.value_or(OpenMerge{});
    std::error_code ignored;  // the sides of a link are its targets, not lock files
    const bool asks_git = !is_sent && root.is_versioned && !fs::is_symlink(path, ignored);
    MODLOCK_TRY(auto merged, merge_lock(root.repository, root.walk, name, text, asks_git, *merging, open));
    if (merged) {
      merge = std::move(open);
      return std::move(*merged);
    }
  }
  if (!text) {
    return LockFile{};
  }
  return parse_lock(*text, name, default_registry(root.walk.tool));
}

// Returns whether the module blocks belong in the sidecar. Without a setting they stay where they are.
Result<bool> uses_sidecar(const RootRequest& root) {
  if (const auto& setting = root.walk.settings.uses_sidecar) {
    return *setting;
  }
  MODLOCK_TRY(const auto sidecar, read_text(root, kSidecarFileName));
  return file_with_blocks(sidecar) == kSidecarFileName;
}

Result<LockDocument> open_lock(const RootRequest& root, const messages::LockParams& params,
                               const Context* merging = nullptr) {
  MODLOCK_TRY(const bool uses, uses_sidecar(root));
  const bool sidecar = uses && (root.walk.settings.uses_sidecar || !params.text);
  const std::string name = params.path.value_or(std::string(sidecar ? kSidecarFileName : kLockFileName));
  MODLOCK_TRY(check_path("lock.path", name));
  LockDocument document{.uses_sidecar = root.walk.settings.uses_sidecar};
  document.path = relative_to_root(root.walk.root / name, root.walk.root);
  MODLOCK_TRY(document.file, read_lock(root, document.path, params.text, merging, document.merge));
  if (sidecar && !params.path && !params.text) {
    MODLOCK_TRY(document.beside, read_lock(root, std::string(kLockFileName), std::nullopt, merging, document.merge));
  }
  if (!sidecar && !params.path && !params.text) {
    MODLOCK_TRY(auto left, read_lock(root, std::string(kSidecarFileName), std::nullopt, merging, document.merge));
    if (left.exists) {
      document.left_sidecar = std::move(left);
    }
  }
  if (!document.uses_sidecar) {
    MODLOCK_TRY(document.beside         ? check_one_placement(*document.beside, document.file)
                : document.left_sidecar ? check_one_placement(document.file, *document.left_sidecar)
                                        : Result<void>());
  }
  return document;
}

// Sets which globs of `unlocked_sources` apply: those of flags and of the user's settings, and those of the
// checkout. In CI a change cannot allow its own calls, so the base must have the latter, too.
Result<void> take_unlocked_sources(RootRequest& root, const Engine& engine, const Context& context) {
  Settings& settings = root.walk.settings;
  const auto written = std::exchange(settings.unlocked_sources, {});
  std::optional<BaseState> base;
  for (const SourceText& glob : written) {
    const bool is_approved = !engine.options().in_ci || has_glob(engine.user_settings().unlocked_sources, glob);
    if (!is_approved && !base) {
      MODLOCK_TRY(auto read, read_base(root, engine.options(), context));
      base = std::move(read).value_or(BaseState());
    }
    (is_approved || has_glob(base->settings.unlocked_sources, glob) ? settings.unlocked_sources
                                                                    : settings.unapproved_sources)
        .push_back(glob);
  }
  return {};
}

}  // namespace

OpenRoot::OpenRoot(const Engine& engine, Run& run, RootRequest opened)
    : root(std::move(opened)), context(engine.context_for(run, root.walk.settings)), engine_(engine), run_(run) {
  context.clone_directory = root.data.modules() / "m";
}

Result<std::unique_ptr<OpenRoot>> OpenRoot::open(const Engine& engine, Run& run, const messages::RootParams& root,
                                                 const messages::LockParams& lock, Merging merging) {
  MODLOCK_TRY(auto request, open_root(root, engine, run));
  run.documents = request.walk.documents;
  std::unique_ptr<OpenRoot> opened(new OpenRoot(engine, run, std::move(request)));
  MODLOCK_TRY(take_unlocked_sources(opened->root, engine, opened->context));
  MODLOCK_TRY(opened->lock, open_lock(opened->root, lock, merging == Merging::yes ? &opened->context : nullptr));
  return opened;
}

Result<void> OpenRoot::read_lock_again() {
  root.walk.documents.read = run_.texts = std::make_shared<ReadTexts>();
  MODLOCK_TRY(lock, open_lock(root, {}));
  return {};
}

const Network& OpenRoot::network() {
  if (network_ == nullptr) {
    network_ = engine_.network(root.implementation.tool, root.implementation.version, run_);
  }
  return *network_;
}

SourceFetcher& OpenRoot::fetcher() {
  if (!fetcher_) {
    fetcher_.emplace(network().backends(), engine_.store(), context, run_.began());
  }
  return *fetcher_;
}

BundleReader* OpenRoot::bundle() {
  if (bundle_ == nullptr && engine_.remote()) {
    bundle_ = read_repository(*engine_.remote(), BundleReader::Role::store);
  } else if (bundle_ == nullptr) {
    bundle_ = std::make_unique<BundleReader>(BundleReader::Options{.modules = lock.modules()}, engine_.store());
  }
  return bundle_.get();
}

ModuleLocks OpenRoot::allowed_entries() const {
  ModuleLocks modules = lock.modules();
  std::erase_if(modules, [&](const auto& entry) {
    return !check_source_allowed(root.walk.settings, entry.second.source).has_value();
  });
  return modules;
}

std::unique_ptr<BundleReader> OpenRoot::read_repository(const oci::Repository& repository, BundleReader::Role role) {
  std::function<Result<std::unique_ptr<Bundle>>()> open_it;
  if (role == BundleReader::Role::named || !context.offline) {
    open_it = [this, repository, requests = context] {
      return open_repository(network().oci_registry(), repository, requests, BundleTimes{});
    };
  }
  return std::make_unique<BundleReader>(
      BundleReader::Options{
          .open = std::move(open_it),
          .name = repository.display,
          .tag = closure_tag(lock.modules()),
          .role = role,
          .modules = allowed_entries(),
          .is_down = &(role == BundleReader::Role::store ? run_.remote_is_down() : run_.bundle_is_down())},
      engine_.store());
}

void OpenRoot::check_sources() {
  context.check_source = source_judge(root.walk.settings);
}

Result<ModuleTree> walk_offline_modules(RootRequest& root, const OpenRoot& open) {
  const LockFile lock = effective_lock(open.lock);
  MODLOCK_TRY(const auto manifest, read_manifest(root.data.manifest()));
  root.walk.installed = installed_directories(manifest, root.walk.root);
  KnownPackages known;
  const auto visit = [&](std::span<ModuleNode* const> level) -> Result<void> {
    for (ModuleNode* node : level) {
      LocalPackage package =
          locked_package(*node, root.data, manifest, lock, open.engine().store(), known, open.context);
      node->package_directory = std::move(package.directory);
      node->package_subdir = std::move(package.subdir);
    }
    return {};
  };
  return walk_modules(root.walk, visit, open.context);
}

Result<ModuleTree> walk_locked_modules(OpenRoot& open, bool continues_past_errors) {
  auto tree = walk_offline_modules(open.root, open);
  if (!tree || unread_modules(*tree).empty()) {
    return tree;
  }
  PlanRequest request = frozen_plan(open);
  request.continues_past_errors = continues_past_errors;
  auto plan = make_plan(request, open.fetcher(), open.context, RootFiles(open));
  return plan ? Result<ModuleTree>(std::move(plan->tree)) : fail(std::move(plan.error()));
}

std::vector<std::string> unread_modules(const ModuleTree& tree) {
  std::vector<std::string> keys;
  for (const auto& [key, node] : tree.nodes) {
    if (!node.is_local() && node.directory.empty()) {
      keys.push_back(key);
    }
  }
  return keys;
}

Result<fs::path> decode_path(std::string_view name, const std::string& sent) {
  std::string path = sent;
  if (ascii::lower(sent.substr(0, 5)) == "file:") {
    const auto url = GoUrl::parse(sent);
    const bool is_here = url && !url->user && (url->host.empty() || ascii::lower(url->host) == "localhost");
    if (!is_here || !url->path.starts_with('/') || !url->raw_query.empty() || !url->fragment.empty()) {
      return fail(Code::invalid_params,
                  fmt::format("invalid path of {}: expected a file:// URI of this machine, found \"{}\"", name,
                              escape_controls(sent)),
                  "write it as file:///directory/name, with # and ? as %23 and %3F");
    }
    path = url->path;
  }
  MODLOCK_TRY(check_path(name, path));
  return fs::path(path);
}

Result<SearchedDirectory> open_directory(const std::string& sent, const Engine& engine) {
  MODLOCK_TRY(const auto given, absolute_directory("the directory", "directory", sent, engine));
  std::error_code error;
  SearchedDirectory directory;
  if (const auto& of_host = engine.options().workspace_roots; !of_host.empty()) {
    directory.bounds = widened(of_host, engine);
    MODLOCK_TRY(confine(given, directory.bounds));
    for (fs::path& bound : directory.bounds) {
      bound = fs::weakly_canonical(bound, error);
    }
  }
  directory.path = fs::canonical(given, error);
  if (error || !fs::is_directory(directory.path, error)) {
    return fail(Code::invalid_params, fmt::format("{} is not a directory", given.string()),
                "name the directory to search");
  }
  return directory;
}

Result<RootRequest> open_root(const messages::RootParams& params, const Engine& engine, const Run& run) {
  MODLOCK_TRY(auto root, absolute_directory("the root module", "root", params.root, engine));
  MODLOCK_TRY(check_path("the data directory", params.data_dir.value_or("")));
  // A client runs in the root, so that `..` is relative to the directory itself and not to a symbolic link to it.
  const fs::path given = root;
  std::error_code missing;
  if (const fs::path real = fs::canonical(root, missing); !missing) {
    root = real;
  }
  RootRequest request;
  WalkRequest& walk = request.walk;
  walk.root = root;
  walk.documents.read = run.texts;
  for (const messages::Document& document : params.documents) {
    MODLOCK_TRY(auto place, document_place(document.path, given, root));
    walk.documents.insert_or_assign(std::move(place), DocumentText(document.text, document.path));
  }
  std::error_code ignored;
  if (!fs::is_directory(root, ignored) && !overlays(walk.documents, root)) {
    return fail(Code::invalid_params, fmt::format("the root {} is not a directory", root.string()),
                "name the directory that holds the root module");
  }
  request.repository = find_repository_root(root);
  MODLOCK_TRY(set_bounds(walk, request.repository, engine));
  const auto place = engine.options().settings_place.value_or(SettingsDirectories{root, request.repository});
  request.is_versioned = place.from == root;
  MODLOCK_TRY(walk.settings, load_settings(place.from, place.up_to, engine.options().user_settings, walk.documents,
                                           engine.options().overrides));
  walk.settings.backends = engine.externals();
  MODLOCK_TRY(walk.settings.requested_age, requested_age(engine.options().minimum_release_age));
  // An empty TF_DATA_DIR is ignored, too.
  MODLOCK_TRY(request.data, find_data_directory(root, params.data_dir == "" ? std::nullopt : params.data_dir));
  walk.data_directory = request.data.name;
  request.implementation =
      find_client(engine.options(), &walk, read_text(request, kLockFileName).value_or(std::nullopt).value_or(""));
  walk.tool = request.implementation.tool;
  walk.variables = variable_inputs(params);
  MODLOCK_TRY(walk.workspace, selected_workspace(params, request.data));
  return request;
}

ClientProgram client_of(const messages::RootParams& params, const Engine& engine) {
  const auto root = open_root(params, engine, Run());
  WalkRequest walk;
  walk.root = params.root;
  return root ? root->implementation : find_client(engine.options(), &walk);
}

Result<std::optional<BaseState>> read_base(const RootRequest& root, const EngineOptions& options,
                                           const Context& context) {
  if (options.base.empty()) {
    return std::nullopt;
  }
  const fs::path start = options.settings_place ? options.settings_place->from : root.walk.root;
  const fs::path repository = find_repository_root(start);
  const std::string lock = relative_to_root(start / kLockFileName, repository);
  std::vector<std::string> paths = {lock, std::string(kSettingsFileName)};
  for (fs::path at = start; at != repository && is_inside(at, repository); at = at.parent_path()) {
    paths.push_back(relative_to_root(at / kSettingsFileName, repository));
  }
  MODLOCK_TRY(const auto texts, RevisionReader(repository, context).texts_at(options.base, paths));
  const auto text_of = [&](const std::string& path) {
    const auto text = texts.find(path);
    return text == texts.end() ? std::nullopt : std::optional(text->second);
  };
  Documents documents;
  for (std::size_t i = 1; i < paths.size(); ++i) {
    documents.insert_or_assign(repository / paths[i], DocumentText(text_of(paths[i]).value_or(""), paths[i]));
  }
  auto settings = load_settings(start, repository, std::nullopt, documents);
  return BaseState{settings ? std::move(*settings) : Settings(), text_of(lock)};
}

std::function<Result<void>(const Source&, const ServerHop&)> source_judge(const Settings& settings) {
  if (settings.allow_lists.empty() && settings.deny_sources.empty()) {
    return {};
  }
  return [&settings](const Source& source, const ServerHop& hop) {
    return check_source_allowed(settings, source.identity(), hop);
  };
}

}  // namespace modlock
