#include "plugin/install/installer.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <mutex>

#include "backends/address/source_text.h"
#include "backends/base/ascii.h"
#include "backends/base/collections.h"
#include "backends/base/digest.h"
#include "backends/base/entry_name.h"
#include "backends/base/files.h"
#include "backends/base/parallel.h"
#include "backends/base/pinned_directory.h"
#include "backends/base/text.h"
#include "backends/package/tree_hash.h"
#include "backends/store/links.h"
#include "backends/store/tree_memo.h"
#include "plugin/config/roots.h"
#include "plugin/install/install_record.h"
#include "plugin/install/manifest.h"
#include "plugin/install/tree_difference.h"
#include "plugin/lock/backup.h"
#include "protocol/base/result.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kCopies = 4;  // copying and hashing: disk and processor bound

class Installer {
 public:
  Installer(const InstallRequest& request, const Store& store, const Context& context)
      : request_(request), store_(store), context_(context) {}

  Result<InstallReport> run() {
    // Again, for what was judged when the request came in may have become a link since.
    MODLOCK_TRY(confine(request_.data.modules(), {request_.data.path}));
    report_.manifest = (fs::path(request_.data.name) / "modules" / "modules.json").generic_string();
    if (request_.plan.tree.nodes.empty() && !path_exists(request_.data.manifest())) {
      MODLOCK_TRY(list_unlocked());
      return std::move(report_);  // a client writes no manifest either
    }
    MODLOCK_TRY(auto guard, enter());
    auto ok = install().map_error([&](Error error) { return with_real_paths(std::move(error)); });
    if (staging_) {
      (void)remove_tree(ours_->path() / staging_->real_path().filename());
    }
    MODLOCK_TRY(ok);
    return std::move(report_);
  }

 private:
  Result<void> install() {
    MODLOCK_TRY(before_, read_manifest(request_.data.manifest(), &broken_));
    MODLOCK_TRY(place_packages());
    MODLOCK_TRY(remove_others());
    MODLOCK_TRY(write_records());
    MODLOCK_TRY(list_unlocked());
    (void)record_links(store_, request_.data.path);
    return save_lock_backup(request_.data.path, request_.lock.modules, request_.root, context_,
                            [&] { return request_.data.pin(request_.data.ours()); });
  }

  struct Placement {
    const ModuleNode* node = nullptr;
    const ResolvedModule* resolved = nullptr;  // null: linked
    std::string modes = {};
    bool is_linked = false;
    bool reused = false;
    std::vector<std::string> edited = {};  // files
    PlacedCopy copy = {};                  // in place of the package
    Result<void> outcome = {};
  };

  // Where modules are written. Nothing is written by a path that may have become a link.
  Result<fs::path> modules() const { return modules_ ? Result<fs::path>(modules_->path()) : fail(modules_.error()); }

  // Returns where a module is prepared, in a directory for unfinished work of this run that is made when it is first
  // needed. Only its owner can change what is in it.
  Result<fs::path> staging_place(const std::string& key) {
    MODLOCK_TRY(modules());
    const std::lock_guard lock(mutex_);
    if (!staging_) {
      MODLOCK_TRY(ours_, request_.data.pin(request_.data.ours()));
      MODLOCK_TRY(staging_, ours_->make("tmp-" + random_hex(8)));
    }
    return staging_->path() / key;
  }

  Error with_real_paths(Error error) const {
    error = modules_ ? modules_->with_real_path(std::move(error)) : std::move(error);
    return staging_ ? staging_->with_real_path(std::move(error)) : error;
  }

  Result<void> place_packages() {
    std::vector<Placement> placements;
    for (const auto& [key, node] : request_.plan.tree.nodes) {
      const ResolvedModule* resolved = find_in(request_.plan.resolved, key);
      if (resolved != nullptr || node.address.source.is_directory()) {
        placements.push_back({&node, resolved});
      }
    }
    total_ = placements.size();
    has_clone_ = std::ranges::any_of(placements, [&](const Placement& placement) {
      const auto place = request_.data.place_of(placement.node->key);
      return placement.resolved != nullptr && place && path_exists(*place / ".git");
    });
    MODLOCK_TRY(check_names(placements));
    MODLOCK_TRY(prepare_links(placements));
    parallel_for(placements.size(), kCopies, [&](std::size_t i) {
      placements[i].outcome = place(placements[i]);
      ++placed_;
    });
    for (Placement& placement : placements) {
      if (!placement.outcome) {
        return std::move(placement.outcome);
      }
      if (!placement.edited.empty()) {
        report_.diagnostics.push_back({Severity::error, restored_error(*placement.node, std::move(placement.edited))});
      }
      // What was in place and did not come from the cache proves nothing: it is recorded already, or unknown.
      const ModuleLock* entry = find_in(request_.lock.modules, placement.node->key);
      if (entry != nullptr && placement.resolved != nullptr && !placement.modes.empty() &&
          !placement.resolved->modes.empty()) {
        record_installed(store_.installed_directories().front(), *entry, placement.modes);
        if (const auto lists = request_.data.pin(request_.data.file_lists())) {
          record_installed(lists->path(), *entry, placement.modes);
        }
      }
      const PlacedCopy& copy = placement.copy;
      (placement.reused ? report_.reused : report_.installed)
          .push_back({.key = placement.node->key,
                      .directory = (fs::path(request_.data.name) / "modules" / placement.node->key).generic_string(),
                      .h1 = copy.h1.empty() && placement.resolved != nullptr ? placement.resolved->h1 : copy.h1,
                      .replaced_by = copy.h1.empty() ? "" : relative_to_root(copy.directory, request_.root)});
    }
    return {};
  }

  // Two calls whose names differ in case only need a place that keeps them apart.
  Result<void> check_names(const std::vector<Placement>& placements) {
    std::map<std::string, std::string> keys;
    for (const Placement& placement : placements) {
      const std::string& key = placement.node->key;
      const auto [other, is_new] = keys.emplace(ascii::lower(key), key);
      if (is_new) {
        continue;
      }
      MODLOCK_TRY(const fs::path staged, staging_place(key));
      if (folds_case(staged.parent_path())) {
        return fail(
            Code::io_error,
            fmt::format("modules \"{}\" and \"{}\" need two directories, and this file system takes their names "
                        "for the same",
                        other->second, key),
            "rename one of the two calls, or use a file system that keeps the names apart (Linux: ext4, XFS, "
            "Btrfs)");
      }
    }
    return {};
  }

  // Records the links before they exist, and with those that they replace: `cache prune` may run at any time, and the
  // installation may fail.
  Result<void> prepare_links(std::vector<Placement>& placements) {
    std::set<std::string> links;  // names of packages
    for (Placement& placement : placements) {
      if (request_.links == nullptr || placement.resolved == nullptr || placement.resolved->is_replaced ||
          is_always_copied(*placement.node, *request_.links)) {
        continue;
      }
      MODLOCK_TRY(placement.modes, modes_of(*placement.resolved));
      const fs::path package = store_.package_directory(placement.resolved->h1, placement.modes);
      placement.is_linked = placement.resolved->package_directory == package / "tree";
      if (placement.is_linked) {
        links.insert(package.filename().string());
      }
    }
    if (links.empty()) {
      return {};
    }
    auto problem = store_.foreign_writers();
    if (auto ok = problem ? Result<void>() : record_links(store_, request_.data.path, std::move(links)); !ok) {
      problem = std::move(ok.error());
    }
    if (problem) {
      problem->message =
          fmt::format("modules were copied, not linked to the cache {}: {}", store_.root().string(), problem->message);
      report_.diagnostics.push_back({Severity::warning, *std::move(problem)});
      for (Placement& placement : placements) {
        placement.is_linked = false;
      }
    }
    return {};
  }

  Result<void> place(Placement& placement) {
    MODLOCK_TRY(context_.check());
    const std::string& key = placement.node->key;
    const auto place = request_.data.place_of(key);
    if (!place) {
      return fail(unusable_key(*placement.node));
    }
    if (placement.resolved == nullptr) {
      return link_local(placement, *place);
    }
    if (placement.resolved->is_replaced) {
      return copy_directory(placement, *place).map_error([&](Error error) {
        if (error.code == Code::archive_unsafe) {  // an error of a package
          error.subject = placement.node->subject();
          error.message = fmt::format("{} cannot be replaced by \"{}\": {}", error.subject,
                                      placement.resolved->package_directory.string(), error.message);
          error.hint = "correct the directory, or remove the replacement";
        }
        return error;
      });
    }
    record_copy(store_, *place, {});
    MODLOCK_TRY(placement.modes, modes_of(*placement.resolved));
    placement.reused = placement.is_linked ? is_link_in_place(*place, placement) : is_in_place(*place, placement);
    if (!placement.reused) {
      MODLOCK_TRY(placement.reused, has_pointer_content(*place, placement));
    }
    const bool stays = placement.reused && !placement.is_linked;
    MODLOCK_TRY(auto pointers, check_lfs_pointers(stays ? *place : placement.resolved->package_directory,
                                                  *placement.node, request_.is_strict));
    if (pointers) {
      const std::lock_guard lock(mutex_);
      report_.diagnostics.push_back(std::move(*pointers));
    }
    if (placement.reused) {
      return {};
    }
    placement.edited = edited_files(*place, placement);
    context_.progress->report("installing module." + key, placed_, total_);
    if (placement.is_linked) {
      MODLOCK_TRY(seal_package(placement));
      return link(placement);
    }
    MODLOCK_TRY(const auto staged, staging_place(key));
    FileDigests digests;
    MODLOCK_TRY(copy_tree(placement.resolved->package_directory, staged, &digests));
    const auto entries = list_tree(staged);
    MODLOCK_TRY(auto summary, entries ? summarise_entries(*entries, digests, context_) : fail(entries.error()));
    if (const std::string hash = summary.h1();
        hash != placement.resolved->h1 || hash_modes(*entries) != placement.modes) {
      return drop_damaged(placement, hash == placement.resolved->h1
                                         ? "permission bits were changed"
                                         : fmt::format("expected {}, got {}", placement.resolved->h1, hash));
    }
    MODLOCK_TRY(write_file_list(request_.data, summary));
    return swap_in(staged);
  }

  // Copies the directory in place of a locked package, which may have changed since the last time. Its list of files
  // tells the next installation whether the copy was edited in its place.
  Result<void> copy_directory(Placement& placement, const fs::path& place) {
    const fs::path& directory = placement.resolved->package_directory;
    MODLOCK_TRY(const auto staged, staging_place(placement.node->key));
    MODLOCK_TRY(copy_tree(directory, staged, nullptr, {".terraform", request_.data.path}));
    MODLOCK_TRY(const auto entries, list_tree(staged));
    MODLOCK_TRY(refuse_override(entries));
    MODLOCK_TRY(const auto summary, summarise_entries(entries, {}, context_));
    MODLOCK_TRY(write_file_list(request_.data, summary));
    placement.copy = {summary.h1(), directory};
    record_copy(store_, place, placement.copy);
    return swap_in(staged);
  }

  // Returns the files that were edited since the locked entry was installed. None if that was not recorded here
  // (another version was installed, or an older data directory restored), or if a client or tofu-modlock put another
  // package there.
  std::vector<std::string> edited_files(const fs::path& place, const Placement& placement) const {
    const ModuleLock* entry = find_in(request_.lock.modules, placement.node->key);
    const ManifestRecord* record = find_in(before_, placement.node->key);
    const ManifestRecord current = record_of(*placement.node);
    std::error_code ignored;
    if (placement.is_linked || entry == nullptr || record == nullptr || record->source != current.source ||
        record->version != current.version || !fs::is_directory(fs::symlink_status(place, ignored)) || has_clone_ ||
        !is_recorded(request_.data.file_lists(), *entry, placement.modes)) {
      return {};
    }
    const auto locked = read_file_list(request_.data, placement.resolved->h1);
    const auto entries = list_tree(place);
    const auto installed = entries ? summarise_entries(*entries, {}, context_) : fail(entries.error());
    if (!locked || !installed || read_file_list(request_.data, installed->h1()) || store_.find_by_h1(installed->h1())) {
      return {};
    }
    auto difference = compare_trees(*locked, *installed, place);
    const bool is_converted = difference.tampered.size() == difference.line_endings;  // by git or an editor
    return is_converted ? std::vector<std::string>() : std::move(difference.tampered);
  }

  static Error restored_error(const ModuleNode& node, const std::vector<std::string>& files) {
    constexpr std::size_t kShown = 10;
    return {.code = Code::hash_mismatch,
            .message = fmt::format("module \"{}\" was changed after it was installed, and the locked package was "
                                   "restored: {}",
                                   node.key, escape_controls(some_of(files, kShown))),
            .subject = node.subject(),
            .hint = "find out who changed it; the next run succeeds"};
  }

  // Returns whether a client has fetched content for Git LFS pointers of the package, and nothing else differs. The
  // content then stays.
  Result<bool> has_pointer_content(const fs::path& place, const Placement& placement) const {
    if (placement.is_linked || !path_exists(place)) {
      return false;
    }
    MODLOCK_TRY(const auto package, list_tree(placement.resolved->package_directory));
    MODLOCK_TRY(const auto pointers, find_lfs_pointers(package));
    MODLOCK_TRY(const auto installed, pointers.empty() ? std::nullopt : find_copied(place, placement));
    if (!installed) {
      return false;
    }
    MODLOCK_TRY(const auto locked, summarise_entries(package, {}, context_));
    const auto difference = compare_trees(locked, *installed, place);
    return difference.tampered.empty() && difference.harmless.empty() && !difference.from_pointers.empty();
  }

  tl::unexpected<Error> drop_damaged(const Placement& placement, const std::string& found) const {
    store_.drop(stored(placement));
    return fail(
        Error{.code = Code::hash_mismatch,
              .message = fmt::format("the cached package of module \"{}\" is damaged: {}", placement.node->key, found),
              .subject = placement.node->subject(),
              .hint = "it was removed from the cache; run the command again to download it"});
  }

  static Package stored(const Placement& placement) {
    return Package{.id = placement.resolved->id,
                   .h1 = placement.resolved->h1,
                   .modes = placement.modes,
                   .directory = placement.resolved->package_directory};
  }

  // A package that was damaged and fetched again is not sealed. Its content was checked when it was planned.
  bool is_link_in_place(const fs::path& place, const Placement& placement) const {
    const auto linked = linked_package(store_, place);
    return linked && linked->directory == placement.resolved->package_directory && is_sealed(*linked) &&
           open_to_others(*linked).empty();
  }

  Result<void> seal_package(const Placement& placement) const {
    const Package package = stored(placement);
    MODLOCK_TRY(seal(package));
    const auto summary = summarise_installed(store_, package.directory, {.modes = package.modes}, context_);
    MODLOCK_TRY(context_.check());
    if (!summary && summary.error().code == Code::io_error) {
      return fail(summary.error());
    }
    if (!summary || summary->h1() != package.h1) {
      return drop_damaged(
          placement, summary ? fmt::format("expected {}, got {}", package.h1, summary->h1()) : summary.error().message);
    }
    return write_file_list(request_.data, *summary);
  }

  static Result<std::string> modes_of(const ResolvedModule& resolved) {
    return resolved.modes.empty() ? list_tree(resolved.package_directory).map(hash_modes)
                                  : Result<std::string>(resolved.modes);
  }

  // Returns the files of a copied package that has the modes of the locked one; nullopt: there is none.
  Result<std::optional<TreeSummary>> find_copied(const fs::path& place, const Placement& placement) const {
    std::error_code ignored;
    const bool is_there = fs::is_directory(fs::symlink_status(place, ignored));
    const auto entries = is_there ? list_tree(place) : fail(Code::not_found, "");
    if (!entries || !has_copied_modes(*entries) || hash_modes(*entries) != placement.modes) {
      return std::nullopt;
    }
    return summarise_entries(*entries, {}, context_);
  }

  bool is_in_place(const fs::path& target, const Placement& placement) const {
    const auto summary = find_copied(target, placement);
    return summary && *summary && (*summary)->h1() == placement.resolved->h1;
  }

  static Error unusable_key(const ModuleNode& node) {
    return Error{
        .code = Code::config_parse,
        .message = fmt::format("module \"{}\" cannot be installed: its key is not a valid directory name", node.key),
        .subject = node.subject(),
        .location = node.call.location,
        .hint = "give the call, or one of those it is nested in, a shorter name"};
  }

  // Relative files keep working: the link is absolute, as the client makes it.
  Result<void> link_local(Placement& placement, const fs::path& place) {
    std::error_code error;
    placement.reused =
        fs::is_symlink(place, error) && fs::read_symlink(place, error) == placement.node->package_directory;
    return placement.reused ? Result<void>() : link(placement);
  }

  Result<void> link(const Placement& placement) {
    MODLOCK_TRY(const auto staged, staging_place(placement.node->key));
    std::error_code error;
    fs::create_directory_symlink(placement.node->package_directory, staged, error);
    if (error) {
      return fail(Code::io_error, fmt::format("cannot create the link {}: {}", staged.string(), error.message()));
    }
    return swap_in(staged);
  }

  // rename() cannot replace a directory that has entries: the old tree steps aside first.
  Result<void> swap_in(const fs::path& staged) {
    const fs::path target = modules_->path() / staged.filename();
    std::error_code error;
    const fs::path aside = staged.parent_path() / (target.filename().string() + ".old");
    if (fs::exists(fs::symlink_status(target, error))) {
      fs::rename(target, aside, error);
      if (error) {
        return fail(Code::io_error, fmt::format("cannot move {} aside: {}", target.string(), error.message()));
      }
    }
    fs::rename(staged, target, error);
    if (error) {
      const std::string reason = error.message();
      fs::rename(aside, target, error);
      return fail(Code::io_error, fmt::format("cannot move the new tree to {}: {}", target.string(), reason));
    }
    return {};
  }

  // Calls that nobody serves, and what lies below them.
  bool is_unmanaged(const std::string& key) const {
    return std::ranges::any_of(lineage(key), [&](const std::string& each) {
      const ModuleNode* node = find_in(request_.plan.tree.nodes, each);
      return node != nullptr && !node->is_local() && node->package_directory.empty();
    });
  }

  // One installation at a time.
  Result<std::optional<FileLock>> enter() {
    modules_ = request_.data.pin(request_.data.modules());
    if (!modules_) {
      return std::nullopt;
    }
    auto held = lock_root(request_.data, context_);
    if (held && *held) {
      remove_unfinished_writes(modules_->path());
    }
    return held;
  }

  // Only names that the configuration, the lock or the old manifest gives, and only directly below modules/.
  Result<void> remove_others() {
    for (const std::string& key : all_keys(before_, request_.plan.tree.nodes)) {
      std::error_code ignored;
      const ModuleNode* node = find_in(request_.plan.tree.nodes, key);
      const bool has_place = node != nullptr && !node->is_local();
      const auto place = request_.data.place_of(key);
      if (!place || has_place || is_unmanaged(key) || !fs::exists(fs::symlink_status(*place, ignored))) {
        continue;
      }
      MODLOCK_TRY(const auto directory, modules());
      MODLOCK_TRY(remove_tree(directory / key));
      report_.removed.push_back(
          {.key = key, .directory = (fs::path(request_.data.name) / "modules" / key).generic_string(), .h1 = {}});
    }
    return {};
  }

  ManifestRecord record_of(const ModuleNode& node) const {
    return make_record(node, find_in(request_.lock.modules, node.key), request_.overridden);
  }

  // As late as it can be: where the installation fails, a broken manifest is still where it was.
  Result<void> write_records() {
    Manifest manifest = before_;
    std::erase_if(manifest, [&](const auto& entry) { return !is_unmanaged(entry.first); });
    manifest.insert_or_assign("", ManifestRecord{.key = {}, .source = {}, .version = {}, .directory = "."});
    for (const auto& [key, node] : request_.plan.tree.nodes) {
      if (!is_unmanaged(key)) {
        manifest.insert_or_assign(key, record_of(node));
      }
    }
    if (manifest == before_) {
      return {};
    }
    MODLOCK_TRY(const auto directory, modules());
    MODLOCK_TRY(const auto warnings, replace_manifest(request_.data.manifest(), directory, manifest, broken_));
    append(report_.diagnostics, warnings);
    return {};
  }

  // The wrapper lets the client download these calls.
  Result<void> list_unlocked() const {
    const std::string text = fmt::format("{}", fmt::join(request_.plan.unlocked, "\n"));
    const fs::path list = request_.data.ours() / "unlocked";
    if (read_file(list).value_or("") == text) {
      return {};
    }
    MODLOCK_TRY(const auto ours, request_.data.pin(request_.data.ours()));
    if (text.empty()) {
      return remove_tree(ours.path() / list.filename());
    }
    return write_file_atomically(ours.path() / list.filename(), text);
  }

  const InstallRequest& request_;
  const Store& store_;
  const Context& context_;
  Result<PinnedDirectory> modules_ = fail(Code::internal, "the directory is not open");
  std::mutex mutex_;  // of what staging_place() makes
  std::optional<PinnedDirectory> ours_;
  std::optional<PinnedDirectory> staging_;
  Manifest before_;
  bool has_clone_ = false;       // a client has downloaded modules since
  std::optional<Error> broken_;  // what is wrong with the manifest that is there
  InstallReport report_;
  std::size_t total_ = 0;  // modules to install or to find in place
  std::atomic<std::size_t> placed_ = 0;
};

}  // namespace

Result<InstallReport> install_modules(const InstallRequest& request, const Store& store, const Context& context) {
  return Installer(request, store, context).run();
}

}  // namespace modlock
