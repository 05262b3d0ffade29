#include "plugin/terragrunt/source_lock.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "backends/base/collections.h"
#include "backends/base/digest.h"
#include "backends/base/files.h"
#include "backends/base/text.h"
#include "backends/package/tree_hash.h"
#include "backends/package/tree_scan.h"
#include "plugin/config/config_files.h"
#include "plugin/engine/client_program.h"
#include "plugin/engine/plan_request.h"
#include "plugin/install/install_record.h"
#include "plugin/install/installer.h"
#include "plugin/install/package_lookup.h"
#include "plugin/install/tree_difference.h"
#include "plugin/lock/backup.h"
#include "plugin/resolve/module_node.h"

namespace modlock::terragrunt {
namespace {

namespace fs = std::filesystem;

// Returns the part of a package that is the module according to a registry: only that directory is downloaded.
TreeSummary files_below(const std::string& subdir, TreeSummary package) {
  if (subdir.empty()) {
    return package;
  }
  std::erase_if(package.files, [&](const FileDigest& file) { return !file.name.starts_with(subdir + "/"); });
  for (FileDigest& file : package.files) {
    file.name.erase(0, subdir.size() + 1);
  }
  return package;
}

// Terragrunt's own store has the files of the commit, without the conversion of git for `eol=crlf`.
bool is_unconverted(const fs::path& file, const std::string& locked) {
  std::string converted;
  for (const char c : read_file(file).value_or("")) {
    converted += c == '\n' && !converted.ends_with('\r') ? "\r\n" : std::string(1, c);
  }
  return sha256_hex(converted) == locked;
}

// Returns how the downloaded files differ from the locked ones: files that were changed or deleted, and files that a
// client would load and that were added; `others` receives other added files. Errors: IO_ERROR; cancellation.
Result<std::vector<std::string>> differing_files(const TreeSummary& locked, const UnitSourceOptions& options,
                                                 const OpenRoot& open, std::vector<std::string>& others) {
  std::vector<TreeEntry> entries;
  for (const FileDigest& file : locked.files) {
    const fs::path path = options.downloaded / file.name;
    std::error_code error;
    const bool is_link = fs::is_symlink(fs::symlink_status(path, error));
    if (is_link || fs::is_regular_file(path, error)) {
      const auto type = !is_link                           ? TreeEntry::Type::file
                        : fs::is_regular_file(path, error) ? TreeEntry::Type::link_to_file
                                                           : TreeEntry::Type::link_as_text;
      entries.push_back({{file.name, type}, path});
    }
  }
  MODLOCK_TRY(auto present, summarise_entries(entries, {}, open.context));
  for (FileDigest& file : present.files) {
    const FileDigest* expected = locked.find(file.name);
    const fs::path path = options.downloaded / file.name;
    if (expected->sha256 != file.sha256 && (is_unconverted(path, expected->sha256) || options.is_own(path))) {
      file.sha256 = expected->sha256;
    }
  }
  auto differences = compare_trees(locked, present, options.downloaded).tampered;
  MODLOCK_TRY(const auto loaded, loadable_files(options.downloaded, open.root.data.path, &others));
  for (const std::string& name : loaded) {
    if (locked.find(name) == nullptr && !options.is_own(options.downloaded / name)) {
      const bool is_other = options.may_be_generated(options.downloaded / name);
      (is_other ? others : differences).push_back(is_other ? name : name + " was added");
    }
  }
  std::erase_if(others, [&](const std::string& name) { return locked.find(name) != nullptr; });
  return differences;
}

// Returns the files of the locked package: from their list in the data directory, or else from the store, and then
// writes that list. nullopt: they are not known.
Result<std::optional<TreeSummary>> locked_files(const OpenRoot& open, const std::string& h1,
                                                const LocalPackage& package) {
  auto files = read_file_list(open.root.data, h1);
  if (!files && !package.directory.empty()) {
    MODLOCK_TRY(auto summary, summarise_tree(package.directory, open.context));
    MODLOCK_TRY(write_file_list(open.root.data, summary));
    files = std::move(summary);
  }
  if (!files) {
    return std::nullopt;
  }
  return files_below(read_module_place(open.root.data, h1).value_or(package.subdir), std::move(*files));
}

// Returns the files that the source has now and the locked package does not have; none if it has the locked package.
Result<std::vector<std::string>> files_added_at_source(OpenRoot& open, const ModuleNode& node, const ModuleLock& entry,
                                                       const TreeSummary& locked) {
  PlanRequest plan{.walk = open.root.walk};
  MODLOCK_TRY(auto now, open.network().with_warnings(plan_single_call(plan, node, open.fetcher(), open.context)));
  std::vector<std::string> added;
  if (now.lock.hashes != entry.hashes) {
    MODLOCK_TRY(const auto subdir, expand_subdir(now.package.directory, now.package.subdir));
    MODLOCK_TRY(auto package, summarise_tree(now.package.directory, open.context));
    for (const FileDigest& file : files_below(subdir, std::move(package)).files) {
      if (locked.find(file.name) == nullptr) {
        added.push_back(file.name);
      }
    }
  }
  return added;
}

fs::path place_of(const Store& store, const fs::path& version_file) {
  return store.download_directory() / sha256_hex(version_file.string());
}

std::string time_of(const fs::path& version_file) {
  std::error_code error;
  const auto time = fs::last_write_time(version_file, error);
  return error ? "" : std::to_string(time.time_since_epoch().count());
}

// What record_download() recorded; nullopt: not known.
std::optional<std::vector<std::string>> find_download_record(const Store& store, const fs::path& version_file) {
  const auto text = read_file(place_of(store, version_file));
  auto lines = lines_of(text.value_or(""));
  if (lines.empty() || lines.front() != time_of(version_file)) {
    return std::nullopt;
  }
  lines.erase(lines.begin());
  return lines;
}

// Judges the added files that no client loads.
Result<void> judge_others(OpenRoot& open, const UnitSourceOptions& options, const ModuleLock& entry,
                          const TreeSummary& locked, const std::vector<std::string>& others,
                          VerifiedUnitSource& result) {
  const Store& store = open.engine().store();
  auto added = find_download_record(store, options.downloaded / kVersionFile);
  if (!added && !options.may_query && others.empty()) {
    return {};
  }
  if (!added) {
    auto asked = others.empty()       ? Result<std::vector<std::string>>()
                 : !options.may_query ? fail(Code::offline_miss, "only init queries the source")
                                      : files_added_at_source(open, options.source, entry, locked);
    if (!asked) {
      const bool has_more = std::ranges::any_of(
          others, [&](const std::string& name) { return !options.is_own(options.downloaded / name); });
      result.unanswered = has_more ? std::optional(asked.error()) : std::nullopt;
      return {};
    }
    record_download(store, options.downloaded / kVersionFile, *asked);
    added = std::move(*asked);
  }
  for (const std::string& name : others) {
    if (contains(*added, name) && !options.is_own(options.downloaded / name)) {
      result.verdict.paths.push_back(name + " was added");
    }
  }
  return {};
}

bool is_loadable(const std::string& name) {
  return config_kind(name) || name == "terraform.tfvars" || name == "terraform.tfvars.json" ||
         name.ends_with(".auto.tfvars") || name.ends_with(".auto.tfvars.json");
}

}  // namespace

Result<UnitCall> call_of_unit(OpenRoot& open, const std::optional<UnitSource>& source) {
  if (!source) {
    return UnitCall();
  }
  auto address = parse_source(source->source.text, default_registry(open.root.walk.tool));
  if (!address) {
    Error error = std::move(address.error());
    error.location = source->source.location;
    return UnitCall{.unchecked = std::move(error)};
  }
  address->is_users = true;
  serve_externally(open.root.walk.settings, address->source);
  if (!address->source.is_remote()) {
    return UnitCall();
  }
  if (open.network().backends().find(address->source) == nullptr) {
    return UnitCall{.unchecked = Error{.code = Code::source_unsupported,
                                       .message = fmt::format("{} sources are not supported (\"{}\")",
                                                              address->source.getter, address->source.identity()),
                                       .location = source->source.location}};
  }
  ModuleNode node;
  node.key = kUnitSourceKey;
  node.call.name = kUnitSourceKey;
  node.call.source = source->source;
  node.call.location = source->source.location;
  node.address = std::move(*address);
  if (source->version) {
    MODLOCK_TRY(auto constraint, ModuleConstraint::parse(*source->version));
    node.constraints.push_back({std::move(constraint), node.key, node.call.source.location});
  }
  return UnitCall{.node = std::move(node)};
}

Verdict find_entry(const ModuleNode& source, const ModuleLocks& locked) {
  Verdict verdict{.subject = std::string(kUnitSourceKey), .location = source.call.source.location};
  const ModuleLock* entry = find_in(locked, kUnitSourceKey);
  const auto reason = entry == nullptr ? std::optional<std::string>("not locked") : why_not_answered(source, *entry);
  if (reason) {
    verdict.kind = VerdictKind::not_locked;
    verdict.detail = *reason;
  } else {
    verdict.source = entry->source;
    verdict.version = entry->version;
    verdict.origin = entry->origin_hash();
  }
  return verdict;
}

Result<std::vector<std::string>> loadable_files(const fs::path& directory, const fs::path& data_directory,
                                                std::vector<std::string>* others) {
  constexpr std::array<std::string_view, 3> kData = {".git", ".terraform", ".terragrunt-cache"};
  // Terragrunt and tofu-modlock write these.
  constexpr std::array<std::string_view, 6> kOwn = {kVersionFile,
                                                    ".terragrunt-source-manifest",
                                                    ".terragrunt-module-manifest",
                                                    ".terragrunt-init-required",
                                                    kLockFileName,
                                                    kSidecarFileName};
  std::vector<std::string> files;
  std::error_code error;
  for (fs::recursive_directory_iterator at(directory, error), end; !error && at != end; at.increment(error)) {
    const fs::path name = at->path().filename();
    std::error_code ignored;
    const bool is_link = at->is_symlink(ignored);
    if (!is_link && at->is_directory(ignored)) {
      if (name == kData.front() || at->path() == data_directory ||
          (others == nullptr && contains(kData, name.native()))) {
        at.disable_recursion_pending();
      }
      continue;
    }
    const fs::path below = at->path().lexically_relative(directory);
    const bool is_data =
        std::ranges::any_of(below, [&](const fs::path& part) { return contains(kData, part.native()); });
    if (!is_data && (is_loadable(name) || (is_link && at->is_directory(ignored)))) {
      files.push_back(below.generic_string());
    } else if (others != nullptr && !contains(kOwn, name.native())) {
      others->push_back(below.generic_string());
    }
  }
  if (error) {
    return fail(Code::io_error, fmt::format("cannot read \"{}\": {}", directory.string(), error.message()));
  }
  std::sort(files.begin(), files.end());
  return files;
}

Result<LockedUnitSource> lock_unit_source(OpenRoot& open, const UnitSourceOptions& options, PlanMode mode) {
  PlanRequest plan{
      .walk = open.root.walk, .lock = effective_lock(open.lock), .mode = mode, .accept_moved = options.accepts_moved};
  DroppedBlocks dropped;
  if (plan.mode == PlanMode::missing && plan.lock.modules.empty()) {
    MODLOCK_TRY(auto backup, load_lock_backup(open.root.data.path));
    dropped.modules = backup ? std::move(backup->modules) : ModuleLocks();
  }
  const RootFiles files(open, RootFiles::Packages::bundled, std::move(dropped));
  MODLOCK_TRY(auto call, open.network().with_warnings(
                             plan_single_call(plan, options.source, open.fetcher(), open.context, files)));
  open.run().diagnostics = std::move(call.warnings);
  MODLOCK_TRY(const auto subdir, expand_subdir(call.package.directory, call.package.subdir));
  const std::string h1 = "h1:" + call.lock.hash_value("h1");
  MODLOCK_TRY(write_module_place(open.root.data, h1, subdir));
  MODLOCK_TRY(locked_files(open, h1, call.package));
  const auto is_in = [&](const ModuleLocks& modules) {
    const ModuleLock* entry = find_in(modules, kUnitSourceKey);
    return entry != nullptr && *entry == call.lock;
  };
  const std::string_view change = is_in(plan.lock.modules)                       ? ""
                                  : is_in(files.dropped().modules)               ? "restored"
                                  : plan.lock.modules.count(kUnitSourceKey) != 0 ? "locked again"
                                                                                 : "locked";
  return LockedUnitSource{std::move(call.lock), change, std::move(call.moved)};
}

Result<void> write_unit_source(OpenRoot& open, const ModuleLock& entry) {
  // Another process may have written the file since it was read.
  MODLOCK_TRY(const auto held, lock_root(open.root.data, open.context));
  MODLOCK_TRY(open.read_lock_again());
  const LockFile before = effective_lock(open.lock);
  ModuleLocks modules = before.modules;
  modules.insert_or_assign(std::string(kUnitSourceKey), entry);
  const std::string_view name = open.lock.counts_inline() ? kLockFileName : std::string_view(open.lock.path);
  MODLOCK_TRY(write_file_atomically(open.root.walk.root / name,
                                    write_lock(before, modules, lock_header(open.root.walk.tool, name))));
  return open.read_lock_again();
}

Result<bool> copy_unit_source(OpenRoot& open, const ModuleNode& source, const fs::path& to) {
  PlanRequest plan{.walk = open.root.walk, .lock = effective_lock(open.lock), .mode = PlanMode::frozen};
  if (find_entry(source, plan.lock.modules).kind != VerdictKind::held) {
    return false;
  }
  const RootFiles files(open, RootFiles::Packages::bundled);
  MODLOCK_TRY(auto call,
              open.network().with_warnings(plan_single_call(plan, source, open.fetcher(), open.context, files)));
  MODLOCK_TRY(const auto subdir, expand_subdir(call.package.directory, call.package.subdir));
  const fs::path module = subdir.empty() ? call.package.directory : call.package.directory / subdir;
  MODLOCK_TRY(auto pointers, check_lfs_pointers(module, source, false));  // a hook has no flag to allow them
  if (pointers) {
    open.run().diagnostics.push_back(std::move(*pointers));
  }
  MODLOCK_TRY(make_directories(to.parent_path()));
  MODLOCK_TRY(copy_tree(module, to));
  return true;
}

Result<VerifiedUnitSource> verify_unit_source(OpenRoot& open, const UnitSourceOptions& options,
                                              const std::optional<ModuleLock>& planned) {
  const ModuleNode& node = options.source;
  LockFile lock = effective_lock(open.lock);
  if (planned) {
    lock.modules.insert_or_assign(std::string(kUnitSourceKey), *planned);
  }
  const auto entry = lock.modules.find(kUnitSourceKey);
  VerifiedUnitSource result{.verdict = find_entry(node, lock.modules)};
  if (result.verdict.kind != VerdictKind::held) {
    return result;
  }
  MODLOCK_TRY(check_entry_allowed(open.root.walk.settings, entry->second));
  const std::string h1 = "h1:" + entry->second.hash_value("h1");
  // The working directory may be part of a checkout, and the cache may know the content from another source. So neither
  // a file list nor content with this h1 proves that this source had it. A package of a registry or an archive that
  // came from the remote store is not in the cache: only its list shows that it was installed.
  const Source& source = node.address.source;
  const Backend* const backend = open.fetcher().backend(source);
  const std::string id = backend == nullptr ? std::string() : backend->id_of(entry->second.hashes);
  const bool is_proven = open.engine().store().recorded_h1(source, id, entry->second.version.value_or("")) == h1 ||
                         (open.engine().remote() && !source.has_commits());
  KnownPackages known;
  LocalPackage package =
      is_proven ? stored_package(node, lock, open.engine().store(), known, open.context) : LocalPackage{};
  if (package.directory.empty() && !(is_proven && read_file_list(open.root.data, h1))) {
    package = open.bundle()->find(node, h1, open.context).value_or(LocalPackage{});
  }
  const bool is_known = is_proven || !package.directory.empty();
  MODLOCK_TRY(auto files, is_known ? locked_files(open, h1, package) : Result<std::optional<TreeSummary>>());
  if (!files) {
    result.verdict.kind = VerdictKind::missing;
    return result;
  }
  std::erase_if(files->files, [&](const FileDigest& file) {
    return options.downloaded / file.name == open.root.walk.root / kSidecarFileName;  // that of the unit replaces it
  });
  std::vector<std::string> others;
  MODLOCK_TRY(result.verdict.paths, differing_files(*files, options, open, others));
  if (result.verdict.paths.empty()) {
    MODLOCK_TRY(judge_others(open, options, entry->second, *files, others, result));
  }
  MODLOCK_TRY(open.context.check());  // a cancelled search of the user's own files finds none
  result.verdict.kind = result.verdict.paths.empty() ? VerdictKind::held : VerdictKind::tampered;
  return result;
}

void record_download(const Store& store, const fs::path& version_file, const std::vector<std::string>& added) {
  std::string text = time_of(version_file) + "\n";
  for (const std::string& name : added) {
    text += name + "\n";
  }
  if (store.make(store.download_directory())) {
    (void)write_file_atomically(place_of(store, version_file), text, Durable::no);
  }
}

}  // namespace modlock::terragrunt
