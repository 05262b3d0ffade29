#include "plugin/cli/source_hook.h"

#include <fmt/format.h>

#include <algorithm>

#include "backends/base/files.h"
#include "backends/package/subdir_glob.h"
#include "backends/package/tree_hash.h"
#include "plugin/cli/unit_source.h"
#include "plugin/engine/plan_request.h"
#include "plugin/install/file_list.h"
#include "plugin/install/package_lookup.h"
#include "plugin/resolve/lock_entry.h"
#include "plugin/settings/directory_glob.h"
#include "protocol/base/result.h"

namespace modlock::cli {
namespace {

namespace fs = std::filesystem;

// Terragrunt leaves this list where it has copied a directory of this machine.
bool is_copied(const fs::path& directory) {
  std::error_code ignored;
  return fs::exists(directory / ".terragrunt-source-manifest", ignored);
}

// Of a package, what a registry said is the module: Terragrunt copies that directory alone.
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

Error not_known(const fs::path& unit) {
  return Error{.code = Code::config_non_static,
               .message = fmt::format("the source of the unit {} is computed, so it is neither locked nor checked",
                                      unit.string()),
               .subject = std::string(kUnitSourceKey),
               .hint =
                   "write it out, compute it from local values, or give it to the hook with --source; to allow it for "
                   "this unit, use --allow-unchecked-source"};
}

}  // namespace

Result<SourceHook::Place> SourceHook::open() const {
  messages::RootParams params;
  params.root = downloaded_.working_directory.string();
  if (!line_.common.data_dir.empty()) {
    params.data_dir = line_.common.data_dir;
  }
  auto root = open_root(params, host_.engine());
  MODLOCK_TRY(auto lock, root ? open_lock(*root, {}) : fail(root.error()));
  return Place{std::move(*root), std::move(lock)};
}

Result<std::optional<ModuleNode>> SourceHook::find_call(const RootRequest& root, Diagnostics& warnings) const {
  MODLOCK_TRY(const auto found, find_unit_source(downloaded_.unit, line_.unit_source, root.walk.tool));
  if (!found.is_known && !is_copied(downloaded_.directory)) {
    MODLOCK_TRY(check_known(warnings));
  }
  if (!found.source) {
    return std::nullopt;
  }
  auto address = parse_source(found.source->source.text, default_registry(root.walk.tool));
  if (!address) {
    Error error = std::move(address.error());
    error.location = found.source->source.location;
    warnings.push_back({Severity::warning, std::move(error)});
    return std::nullopt;
  }
  if (!address->source.is_remote()) {
    return std::nullopt;
  }
  ModuleNode node;
  node.key = kUnitSourceKey;
  node.call.name = kUnitSourceKey;
  node.call.source = found.source->source;
  node.call.location = found.source->source.location;
  node.address = std::move(*address);
  if (found.source->version) {
    MODLOCK_TRY(auto constraint, ModuleConstraint::parse(*found.source->version));
    node.constraints.push_back({std::move(constraint), node.key, node.call.source.location});
  }
  return node;
}

// For a unit whose source is not known.
Result<void> SourceHook::check_known(Diagnostics& warnings) const {
  const std::string unit = downloaded_.unit.lexically_relative(line_.common.settings_up_to).generic_string();
  const bool is_allowed = std::any_of(line_.allow_unchecked_source.begin(), line_.allow_unchecked_source.end(),
                                      [&](const std::string& text) {
                                        const auto glob = DirectoryGlob::parse(text);
                                        return glob && glob->matches(unit);
                                      });
  if (is_allowed) {
    return {};
  }
  Error error = not_known(downloaded_.unit);
  if (line_.strict || host_.engine().options().in_ci) {
    error.code = Code::frozen;
    return fail(std::move(error));
  }
  warnings.push_back({Severity::warning, std::move(error)});
  return {};
}

Result<void> SourceHook::write(const Place& place, const ModuleLock& entry, std::string_view how) const {
  LockFile before = effective_lock(place.lock);
  ModuleLocks modules = before.modules;
  modules.insert_or_assign(std::string(kUnitSourceKey), entry);
  if (modules == before.modules) {
    return {};
  }
  const std::string_view header =
      place.root.walk.tool == ClientKind::terraform ? kTerraformLockHeader : kOpenTofuLockHeader;
  const std::string& name = place.lock.counts_inline() ? std::string(kLockFileName) : place.lock.path;
  auto ok = write_file_atomically(downloaded_.working_directory / name, write_lock(before, modules, header));
  if (ok) {
    tell_(fmt::format("{}  {}  {}", kUnitSourceKey, entry.source, how));
  }
  return ok;
}

Result<void> SourceHook::check(const Place& place, const ModuleLock& entry, const LocalPackage& package,
                               const Context& context) const {
  const std::string h1 = "h1:" + entry.hash_value("h1");
  auto locked = read_file_list(place.root.data, h1);
  if (!locked && !package.directory.empty()) {
    MODLOCK_TRY(auto summary, summarise_tree(package.directory, context));
    locked = std::move(summary);
    if (auto ok = write_file_list(place.root.data, *locked); !ok) {
      return ok;
    }
  }
  if (!locked) {
    return fail(Error{.code = Code::missing,
                      .message = fmt::format("nobody knows the files of {} (\"{}\")", entry.key, entry.source),
                      .subject = entry.key,
                      .hint = "run: terragrunt init"});
  }
  const std::string subdir = read_module_place(place.root.data, h1).value_or(package.subdir);
  const auto differing = differing_files(files_below(subdir, std::move(*locked)), downloaded_, context);
  if (!differing || differing->empty()) {
    return differing ? Result<void>() : fail(differing.error());
  }
  Error error{.code = Code::hash_mismatch,
              .message = fmt::format("what Terragrunt has downloaded for {} is not what is locked for \"{}\"",
                                     downloaded_.unit.string(), entry.source),
              .subject = entry.key,
              .notes = *differing,
              .hint =
                  "run terragrunt init --source-update to download it again; where the source was changed on "
                  "purpose, review it and run terragrunt init -upgrade"};
  return fail(std::move(error));
}

Result<Diagnostics> SourceHook::prepare(PlanMode mode) {
  auto place = open();
  Diagnostics warnings;
  const auto node = place ? find_call(place->root, warnings) : fail(place.error());
  if (!node || !*node) {
    return node ? Result<Diagnostics>(std::move(warnings)) : fail(node.error());
  }
  const Run run = host_.run();
  Context context = run.context(host_.engine().options().offline);
  context.check_source = source_judge(place->root.walk.settings);
  const auto network = host_.engine().network(place->root.implementation.tool, place->root.implementation.version, run);
  SourceFetcher origin(network->backends(), host_.engine().store(), context, host_.engine().fresh_since(run));
  const PlanRequest plan{
      .walk = place->root.walk, .lock = effective_lock(place->lock), .mode = mode, .accept_moved = true};
  auto call = plan_single_call(plan, **node, origin, context);
  if (!call) {
    return fail(network->with_warnings(std::move(call.error())));
  }
  warnings.insert(warnings.end(), call->warnings.begin(), call->warnings.end());
  if (!call->is_served) {
    return warnings;
  }
  auto subdir = expand_subdir(call->package.directory, call->package.subdir);
  auto ok = subdir ? write_module_place(place->root.data, "h1:" + call->lock.hash_value("h1"), *subdir)
                   : fail(std::move(subdir.error()));
  const bool was_locked = plan.lock.modules.count(kUnitSourceKey) != 0;
  ok = ok ? write(*place, call->lock, was_locked ? "locked again" : "locked") : ok;
  ok = ok ? check(*place, call->lock, call->package, context) : ok;
  return ok ? Result<Diagnostics>(std::move(warnings)) : fail(std::move(ok.error()));
}

Result<void> SourceHook::restore(const ModuleLocks& known) {
  const auto entry = known.find(kUnitSourceKey);
  if (entry == known.end()) {
    return {};
  }
  const auto place = open();
  return place ? write(*place, entry->second, "restored") : fail(place.error());
}

Result<void> SourceHook::verify() {
  const auto place = open();
  Diagnostics warnings;
  const auto node = place ? find_call(place->root, warnings) : fail(place.error());
  if (!node || !*node) {
    return node ? Result<void>() : fail(node.error());
  }
  const auto network =
      host_.engine().network(place->root.implementation.tool, place->root.implementation.version, host_.run());
  if (network->backends().find((*node)->address.source) == nullptr) {
    return {};
  }
  const LockFile lock = effective_lock(place->lock);
  const auto entry = lock.modules.find(kUnitSourceKey);
  const auto reason =
      entry == lock.modules.end() ? std::optional<std::string>("not locked") : why_not_answered(**node, entry->second);
  if (reason) {
    return fail(Error{.code = Code::frozen,
                      .message = fmt::format("the lock file does not answer {} ({})", kUnitSourceKey, *reason),
                      .subject = std::string(kUnitSourceKey),
                      .location = (*node)->call.source.location});
  }
  const Context context = host_.context();
  const LocalPackage package = stored_package(**node, lock, host_.engine().store(), context);
  return check(*place, entry->second, package, context);
}

}  // namespace modlock::cli
