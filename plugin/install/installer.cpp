#include "plugin/install/installer.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "backends/base/digest.h"
#include "backends/base/files.h"
#include "backends/base/parallel.h"
#include "backends/package/tree_hash.h"
#include "plugin/config/roots.h"
#include "plugin/install/install_record.h"
#include "plugin/install/manifest.h"
#include "plugin/lock/backup.h"
#include "protocol/base/result.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kWidth = 4;  // copying and hashing: disk and processor bound

class Installer {
 public:
  Installer(const InstallRequest& request, const Store& store, const Context& context)
      : request_(request), store_(store), context_(context) {}

  Result<InstallReport> run() {
    // Again, for what was judged when the request came in may have become a link since.
    MODLOCK_TRY(confine(request_.data.modules(), {request_.data.path}));
    report_.manifest = (fs::path(request_.data.name) / "modules" / "modules.json").generic_string();
    std::error_code ignored;
    if (request_.plan.tree.nodes.empty() && !fs::exists(request_.data.manifest(), ignored)) {
      return std::move(report_);  // a client writes no manifest either
    }
    MODLOCK_TRY(auto guard, enter());
    auto ok = look_at_manifest();
    if (ok) {
      ok = place_packages();
    }
    if (ok) {
      ok = remove_others();
    }
    if (ok) {
      ok = write_records();
    }
    if (ok) {
      ok = save_lock_backup(request_.data.path, request_.lock.modules, request_.root, context_);
    }
    (void)remove_tree(temporary());
    if (!ok) {
      return fail(std::move(ok.error()));
    }
    return std::move(report_);
  }

 private:
  struct Placement {
    const ModuleNode* node = nullptr;
    const ResolvedModule* resolved = nullptr;  // null: linked
    std::string modes = {};
    bool reused = false;
    Result<void> outcome = {};
  };

  fs::path temporary() const { return request_.data.ours() / ("tmp-" + name_); }

  Result<void> place_packages() {
    std::vector<Placement> placements;
    for (const auto& [key, node] : request_.plan.tree.nodes) {
      const auto resolved = request_.plan.resolved.find(key);
      if (resolved != request_.plan.resolved.end()) {
        placements.push_back({&node, &resolved->second});
      } else if (node.address.source.is_directory()) {
        placements.push_back({&node, nullptr});
      }
    }
    parallel_for(placements.size(), kWidth, [&](std::size_t i) {
      placements[i].outcome = placements[i].resolved != nullptr ? place(placements[i]) : link(placements[i]);
    });
    for (Placement& placement : placements) {
      if (!placement.outcome) {
        return std::move(placement.outcome);
      }
      // What was in place and did not come from the cache proves nothing: it is recorded already, or unknown.
      if (const auto entry = request_.lock.modules.find(placement.node->key);
          placement.resolved != nullptr && !placement.resolved->modes.empty() && entry != request_.lock.modules.end()) {
        record_installed(store_.installed_directory(), entry->second, placement.modes);
        record_installed(request_.data.file_lists(), entry->second, placement.modes);
      }
      InstalledModule module{
          .key = placement.node->key,
          .directory = (fs::path(request_.data.name) / "modules" / placement.node->key).generic_string(),
          .h1 = placement.resolved != nullptr ? placement.resolved->h1 : ""};
      (placement.reused ? report_.reused : report_.installed).push_back(std::move(module));
    }
    return {};
  }

  Result<void> place(Placement& placement) {
    if (auto ok = context_.check(); !ok) {
      return ok;
    }
    const std::string& key = placement.node->key;
    const auto place = request_.data.place_of(key);
    if (!place) {
      return fail(unusable_key(*placement.node));
    }
    const fs::path& target = *place;
    MODLOCK_TRY(auto modes, modes_of(*placement.resolved));
    placement.modes = std::move(modes);
    placement.reused = is_in_place(target, placement);
    if (placement.reused) {
      return {};
    }
    context_.progress->report("installing module." + key, 0, 0);
    const fs::path staged = temporary() / key;
    if (auto ok = make_directories(temporary()); !ok) {
      return ok;
    }
    FileDigests digests;
    if (auto ok = copy_tree(placement.resolved->package_directory, staged, &digests); !ok) {
      return ok;
    }
    const auto entries = list_tree(staged);
    MODLOCK_TRY(auto summary, entries ? summarise_entries(*entries, digests, context_) : fail(entries.error()));
    if (const std::string hash = summary.h1();
        hash != placement.resolved->h1 || hash_modes(*entries) != placement.modes) {
      store_.drop(Package{.id = placement.resolved->id,
                          .h1 = placement.resolved->h1,
                          .modes = placement.modes,
                          .directory = placement.resolved->package_directory});
      const std::string found = hash == placement.resolved->h1
                                    ? "permission bits were changed"
                                    : fmt::format("expected {}, got {}", placement.resolved->h1, hash);
      return fail(Error{.code = Code::hash_mismatch,
                        .message = fmt::format("the cached package of module \"{}\" is damaged: {}", key, found),
                        .subject = placement.node->subject(),
                        .hint = "it was removed from the cache; run the same command again to fetch it anew"});
    }
    if (auto ok = write_file_list(request_.data, summary); !ok) {
      return ok;
    }
    return swap_in(staged, target);
  }

  static Result<std::string> modes_of(const ResolvedModule& resolved) {
    return resolved.modes.empty() ? list_tree(resolved.package_directory).map(hash_modes)
                                  : Result<std::string>(resolved.modes);
  }

  bool is_in_place(const fs::path& target, const Placement& placement) const {
    std::error_code ignored;
    if (!fs::is_directory(fs::symlink_status(target, ignored))) {
      return false;
    }
    const auto entries = list_tree(target);
    if (!entries || !has_copied_modes(*entries) || hash_modes(*entries) != placement.modes) {
      return false;
    }
    const auto summary = summarise_entries(*entries, {}, context_);
    return summary && summary->h1() == placement.resolved->h1;
  }

  static Error unusable_key(const ModuleNode& node) {
    return Error{
        .code = Code::config_parse,
        .message = fmt::format("module \"{}\" cannot be installed: its key is no name for a directory", node.key),
        .subject = node.subject(),
        .location = node.call.location,
        .hint = "give the call, or one of those it is nested in, a shorter name"};
  }

  // Relative files keep working: the link is absolute, as the client makes it.
  Result<void> link(Placement& placement) {
    const auto place = request_.data.place_of(placement.node->key);
    if (!place) {
      return fail(unusable_key(*placement.node));
    }
    const fs::path& target = *place;
    std::error_code error;
    placement.reused =
        fs::is_symlink(target, error) && fs::read_symlink(target, error) == placement.node->package_directory;
    if (placement.reused) {
      return {};
    }
    const fs::path staged = temporary() / placement.node->key;
    if (auto ok = make_directories(temporary()); !ok) {
      return ok;
    }
    fs::create_directory_symlink(placement.node->package_directory, staged, error);
    if (error) {
      return fail(Code::io_error, fmt::format("cannot create the link {}: {}", staged.string(), error.message()));
    }
    return swap_in(staged, target);
  }

  // rename() cannot replace a directory that has entries: the old tree steps aside first.
  Result<void> swap_in(const fs::path& staged, const fs::path& target) {
    std::error_code error;
    const fs::path aside = temporary() / (target.filename().string() + ".old");
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
  bool left_as_it_lies(std::string key) const {
    for (; !key.empty(); key.resize(key.find('.') == std::string::npos ? 0 : key.rfind('.'))) {
      const auto node = request_.plan.tree.nodes.find(key);
      if (node != request_.plan.tree.nodes.end() && !node->second.is_local() &&
          node->second.package_directory.empty()) {
        return true;
      }
    }
    return false;
  }

  // One installation at a time.
  Result<std::optional<FileLock>> enter() const {
    if (!make_directories(request_.data.modules())) {
      return std::nullopt;
    }
    auto held = hold_root(request_.data, context_);
    if (held && *held) {
      remove_unfinished_writes(request_.data.modules());
    }
    return held;
  }

  Result<void> look_at_manifest() {
    const auto text = read_file(request_.data.manifest());
    if (!text) {
      return text.error().code == Code::not_found ? Result<void>() : fail(text.error());
    }
    if (auto manifest = parse_manifest(*text, request_.data.manifest())) {
      before_ = *std::move(manifest);
    } else {
      broken_ = std::move(manifest.error());
    }
    return {};
  }

  // As late as it can be: where the installation fails, the file is still where it was.
  Result<void> move_broken_aside() {
    if (!broken_) {
      return {};
    }
    const fs::path aside = request_.data.manifest().string() + ".broken";
    std::error_code error;
    fs::rename(request_.data.manifest(), aside, error);
    if (error) {
      return fail(with_note(*broken_, fmt::format("it cannot be moved to {}: {}", aside.string(), error.message())));
    }
    broken_->hint =
        fmt::format("it was moved to {}, and a new one was written: delete it if nobody needs it", aside.string());
    report_.diagnostics.push_back({Severity::warning, *std::move(broken_)});
    return {};
  }

  bool has_place(const std::string& key) const {
    const auto node = request_.plan.tree.nodes.find(key);
    return node != request_.plan.tree.nodes.end() && !node->second.is_local();
  }

  // Only names that the configuration, the lock or the old manifest gives, and only directly below modules/.
  Result<void> remove_others() {
    std::set<std::string> keys;
    for (const auto& [key, record] : before_) {
      keys.insert(key);
    }
    for (const auto& [key, node] : request_.plan.tree.nodes) {
      keys.insert(key);
    }
    for (const std::string& key : keys) {
      std::error_code ignored;
      const auto place = request_.data.place_of(key);
      if (!place || has_place(key) || left_as_it_lies(key) || !fs::exists(fs::symlink_status(*place, ignored))) {
        continue;
      }
      if (auto ok = remove_tree(*place); !ok) {
        return ok;
      }
      report_.removed.push_back(
          {.key = key, .directory = (fs::path(request_.data.name) / "modules" / key).generic_string(), .h1 = {}});
    }
    return {};
  }

  // Only registries have versions that a client knows of.
  std::string version_of(const ModuleNode& node) const {
    const auto resolved = request_.plan.resolved.find(node.key);
    const bool has_one =
        node.address.source.is_registry() && resolved != request_.plan.resolved.end() && resolved->second.version;
    return has_one ? resolved->second.version->to_string() : std::string();
  }

  // As the configuration says it, override files of ours included.
  const std::string& source_of(const ModuleNode& node) const {
    const auto overridden = request_.overridden.find(node.key);
    return overridden == request_.overridden.end() ? node.address.normalised.reveal() : overridden->second;
  }

  Result<void> write_records() {
    Manifest manifest;
    manifest.emplace("", ManifestRecord{.key = {}, .source = {}, .version = {}, .directory = "."});
    for (const auto& [key, record] : before_) {
      if (left_as_it_lies(key)) {
        manifest.emplace(key, record);
      }
    }
    for (const auto& [key, node] : request_.plan.tree.nodes) {
      if (left_as_it_lies(key)) {
        continue;
      }
      manifest.insert_or_assign(key, ManifestRecord{.key = key,
                                                    .source = source_of(node),
                                                    .version = version_of(node),
                                                    .directory = node.manifest_directory});
    }
    if (manifest == before_) {
      return {};
    }
    MODLOCK_TRY(move_broken_aside());
    return write_file_atomically(request_.data.manifest(), write_manifest(manifest));
  }

  const InstallRequest& request_;
  const Store& store_;
  const Context& context_;
  const std::string name_ = random_hex(8);
  Manifest before_;
  std::optional<Error> broken_;  // what is wrong with the manifest that is there
  InstallReport report_;
};

}  // namespace

Result<InstallReport> install_modules(const InstallRequest& request, const Store& store, const Context& context) {
  return Installer(request, store, context).run();
}

}  // namespace modlock
