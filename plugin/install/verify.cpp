#include "plugin/install/verify.h"

#include <fmt/format.h>

#include <algorithm>

#include "backends/address/source_text.h"
#include "backends/base/collections.h"
#include "backends/base/parallel.h"
#include "backends/package/tree_scan.h"
#include "backends/store/links.h"
#include "backends/store/tree_memo.h"
#include "plugin/install/install_record.h"
#include "plugin/install/manifest.h"
#include "plugin/install/origin_check.h"
#include "plugin/install/overrides.h"
#include "plugin/install/package_lookup.h"
#include "plugin/install/tree_difference.h"
#include "plugin/lock/locked_text.h"
#include "plugin/resolve/locked_tags.h"
#include "plugin/resolve/module_node.h"
#include "plugin/resolve/plan.h"
#include "plugin/resolve/provider_tree.h"
#include "plugin/resolve/signatures.h"
#include "protocol/base/result.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostModuleThreads = 32;
constexpr std::size_t kShownPaths = 10;

std::string target_of(const fs::path& link) {
  std::error_code ignored;
  return escape_controls(fs::read_symlink(link, ignored).string());
}

// Returns how two entries differ: "2.0.0 is installed, 2.1.0 is locked".
std::string version_difference(const ModuleLock& installed, const ModuleLock& locked) {
  const bool by_id = installed.version == locked.version;
  const bool by_package = package_of(installed) != package_of(locked);
  const auto words = [&](ModuleLock lock) {
    lock.version = by_id ? std::nullopt : lock.version;
    return fmt::format("{}{}{}", by_package ? package_of(lock) : "", by_package ? " " : "", locked_text(lock));
  };
  return fmt::format("{} is installed, {} is locked", words(installed), words(locked));
}

Diagnostic dev_override_warning(const ProviderAddress& provider) {
  return as_warning({.code = Code::lock_unenforced,
                     .message = fmt::format("provider {} is not verified: a client takes it from a directory that "
                                            "dev_overrides names, regardless of the lock file",
                                            provider.to_string()),
                     .subject = "provider." + provider.to_string(),
                     .hint = "remove it from dev_overrides in the CLI configuration to have it verified"});
}

class Verifier {
 public:
  Verifier(const VerifyRequest& request, const Store& store, const Context& context)
      : request_(request), store_(store), context_(context) {}

  Result<VerifyReport> run() {
    MODLOCK_TRY(manifest_, read_manifest(request_.data.manifest()));
    WalkRequest walk = request_.walk;
    walk.installed = installed_directories(manifest_, walk.root);
    MODLOCK_TRY(auto tree, walk_modules(
                               walk, [&](std::span<ModuleNode* const> level) { return visit(level); }, context_));
    append(tree.diagnostics, unmatched_rules(walk.settings, tree, request_.known_locks));
    if (has_errors(tree.diagnostics)) {
      std::erase_if(tree.diagnostics, [](const Diagnostic& d) { return d.severity != Severity::error; });
      return fail(combine(std::move(tree.diagnostics)));
    }
    if (!unlocked_.empty()) {
      diagnostics_.push_back(unlocked_warning(unlocked_));
    }
    check_records(tree);
    check_unvisited(tree);
    (void)record_links(store_, request_.data.path);
    if (request_.modules) {
      append(tree.diagnostics, warn_of_split_tags(request_.lock.modules, walk.settings));
    }
    diagnostics_.insert(diagnostics_.begin(), tree.diagnostics.begin(), tree.diagnostics.end());
    if (request_.fetcher != nullptr && request_.modules) {
      ask_origins(tree);
      MODLOCK_TRY(context_.check());
    }
    VerifyReport report;
    report.diagnostics = std::move(diagnostics_);
    check_override_files(
        {.tree = tree, .locks = request_.lock.modules, .root = request_.walk.root, .bounds = request_.walk.bounds},
        report.diagnostics, request_.modules ? Severity::error : Severity::warning);
    for (auto& [key, verdict] : verdicts_) {
      if (request_.modules) {
        verdict.location = location_of(key, tree);
        if (const ModuleLock* entry = find_in(request_.lock.modules, key)) {
          verdict.source = entry->source;
          verdict.version = entry->version;
          verdict.origin = entry->origin_hash();
        }
        report.verdicts.push_back(std::move(verdict));
      }
    }
    if (request_.modules && (request_.strict || request_.in_ci)) {
      check_unknown_sources(tree, report);
    }
    if (request_.providers) {
      MODLOCK_TRY(check_root_providers(tree, *request_.providers, report));
    }
    report.tree = std::move(tree);
    return report;
  }

 private:
  static void check_unknown_sources(const ModuleTree& tree, VerifyReport& report) {
    for (const TreeModule& module : tree.modules) {
      for (const UnknownSource& source : module.parsed->unknown_sources) {
        report.verdicts.push_back(
            {.subject = module.key.empty() ? source.address : module.subject() + "." + source.address,
             .kind = VerdictKind::not_locked,
             .detail = "the type of the block is not known, and the block has a source",
             .location = Location{join_relative(module.directory, source.location.path), source.location.range}});
      }
    }
  }

  Result<void> visit(std::span<ModuleNode* const> level) {
    std::vector<Verdict> verdicts(level.size());
    const std::size_t threads = std::min(core_count(), kMostModuleThreads);
    memo_.threads = std::max<std::size_t>(threads / std::max<std::size_t>(level.size(), 1), 1);
    parallel_for(level.size(), threads, [&](std::size_t i) { verdicts[i] = check_call(*level[i]); });
    for (std::size_t i = 0; i < level.size(); ++i) {
      ModuleNode& node = *level[i];
      // If the installed module is not the locked one, the walk continues in the cached package of the locked one.
      const bool is_locked_one = verdicts[i].kind != VerdictKind::tampered && verdicts[i].kind != VerdictKind::stale;
      LocalPackage package =
          !is_locked_one ? stored_package(node, request_.lock, store_, known_, context_)
                         : known_package(node, request_.data, manifest_, request_.lock, store_, known_, context_);
      node.package_directory = std::move(package.directory);
      node.package_subdir = std::move(package.subdir);
      if (node.address.source.is_directory()) {
        continue;  // linked, never locked
      }
      if (is_served(node) || request_.lock.modules.count(node.key) != 0) {
        verdicts_.emplace(node.key, std::move(verdicts[i]));
        continue;
      }
      node.package_directory.clear();  // what it calls is not checked either
      if (!request_.strict && allows_source(request_.walk.settings.unlocked_sources, node.address.source.identity())) {
        unlocked_.push_back(node.key);
        continue;
      }
      verdicts[i].is_unlockable = true;
      verdicts_.emplace(node.key, std::move(verdicts[i]));
      diagnostics_.push_back({Severity::warning, unlockable_error(node, request_.walk.settings)});
    }
    return context_.check();
  }

  Verdict check_call(const ModuleNode& node) const {
    const ModuleLock* entry = find_in(request_.lock.modules, node.key);
    if (entry == nullptr) {
      return not_locked(node.key, "the lock file has no entry for this call");
    }
    const ModuleLock& lock = *entry;
    if (auto reason = why_not_answered(node, lock)) {
      return not_locked(node.key, std::move(*reason));
    }
    Verdict verdict = check_place(lock);
    if (const DenyRule* rule = find_denial(std::span(request_.walk.settings.deny_rules), node.address.source,
                                           lock.parsed_version(), lock.hashes)) {
      verdict = merge(std::move(verdict), {.kind = VerdictKind::denied, .detail = rule->text()});
      verdict.subject = node.subject();
    }
    if (const std::string hash = missing_hash(lock, node.address.source, request_.backends->find(node.address.source));
        !hash.empty() && hash != "h1") {
      verdict =
          merge(std::move(verdict), not_locked(node.key, fmt::format("the lock file has no {} hash for it", hash)));
    }
    auto contradiction = known_contradiction(node, lock);
    return contradiction ? merge(std::move(verdict), std::move(*contradiction)) : verdict;
  }

  // Uses the h1 that the store recorded when the commit or digest of the entry was fetched.
  std::optional<Verdict> known_contradiction(const ModuleNode& node, const ModuleLock& lock) const {
    const Source& source = node.address.source;
    const Backend* backend = request_.backends->find(source);
    const std::string id = backend == nullptr ? std::string() : backend->id_of(lock.hashes);
    const auto known =
        names_fixed_content(id) ? store_.recorded_h1(source, id, lock.version.value_or("")) : std::nullopt;
    return known ? check_locked_content(lock, *backend, id, *known) : std::nullopt;
  }

  // Checks the records after the walk, when the directories of modules are known: a client does not use an installed
  // package without a record.
  void check_records(const ModuleTree& tree) {
    for (const auto& [key, node] : tree.nodes) {
      if (leads_into_stale_package(node, tree)) {
        continue;
      }
      auto found = check_manifest_record(node, find_in(request_.lock.modules, key), manifest_, request_.walk.root);
      Verdict* known = find_in(verdicts_, key);
      if (found && found->kind == VerdictKind::tampered && known == nullptr) {
        verdicts_.emplace(key, std::move(*found));
      } else if (found && found->kind == VerdictKind::tampered) {
        *known = merge(std::move(*known), std::move(*found));
      } else if (found && known != nullptr && known->kind == VerdictKind::held) {
        judge(*known, found->kind, std::move(found->detail));
      }
    }
  }

  // Returns whether modules.json names a directory in an intact package of another version, in which the module may be
  // elsewhere.
  bool leads_into_stale_package(const ModuleNode& node, const ModuleTree& tree) const {
    const ManifestRecord* record = find_in(manifest_, node.key);
    const std::vector<std::string> callers = lineage(node.key);
    const std::string* stale = find_where(callers, [&](const std::string& caller) {
      const Verdict* verdict = find_in(verdicts_, caller);
      return verdict != nullptr && verdict->kind == VerdictKind::stale;
    });
    const ModuleNode* owner = record == nullptr || stale == nullptr ? nullptr : find_in(tree.nodes, *stale);
    return owner != nullptr && (clean_path(record->directory) + "/").starts_with(owner->manifest_package + "/");
  }

  // Looks again, a few times, if another process has replaced the directory meanwhile.
  Verdict check_place(const ModuleLock& lock) const {
    constexpr int kMostLooks = 5;
    const auto place = request_.data.place_of(lock.key);
    const auto stamp = [&] {
      const auto package = OpenPackage::open(place.value_or(fs::path()));
      return package ? package->stamp("", OpenPackage::Kind::directory) : std::nullopt;
    };
    for (int looks = 1;; ++looks) {
      const auto before = stamp();
      Verdict verdict = look_at_place(lock, place);
      if (verdict.kind == VerdictKind::held || looks == kMostLooks || stamp() == before) {
        return verdict;
      }
    }
  }

  Verdict look_at_place(const ModuleLock& lock, std::optional<fs::path> place) const {
    Verdict verdict{.subject = "module." + lock.key};
    const std::string h1 = lock.hash_value("h1");
    verdict.expected = h1.empty() ? "" : "h1:" + h1;
    std::error_code ignored;
    const bool is_link = place && fs::is_symlink(*place, ignored);
    if (!place || !fs::is_directory(*place, ignored)) {
      return judge(verdict, VerdictKind::missing,
                   is_link ? fmt::format("it is a symbolic link to \"{}\", which does not exist", target_of(*place))
                           : "it is locked, but not installed");
    }
    MemoOptions memo = memo_;
    const auto linked = linked_package(store_, *place);
    if (linked) {
      place = linked->directory;
      memo.modes = linked->modes;
      if (!open_to_others(*linked).empty()) {
        return judge(verdict, VerdictKind::tampered, "other users may write to its files or directories");
      }
    } else if (is_link) {
      return judge(verdict, VerdictKind::tampered,
                   fmt::format("it is a symbolic link to \"{}\", which is not a package of the cache {}",
                               target_of(*place), store_.root().string()));
    }
    auto installed = hash_installed(store_, *place, memo, context_);
    if (!installed) {
      return judge(verdict, VerdictKind::tampered, installed.error().message);
    }
    verdict.actual = std::move(*installed);
    if (verdict.expected.empty()) {
      judge(verdict, VerdictKind::not_locked, "the lock file has no h1 hash for it");
    } else if (verdict.actual != verdict.expected) {
      check_difference(*place, lock, verdict);
    }
    return verdict;
  }

  void check_difference(const fs::path& place, const ModuleLock& lock, Verdict& verdict) const {
    if (const PlacedCopy copy = find_copy(store_, place); copy.h1 == verdict.actual) {
      verdict.replaced_by = escape_controls(relative_to_root(copy.directory, request_.walk.root));
      judge(verdict, VerdictKind::stale, "replaced by " + verdict.replaced_by);
      return;
    }
    if (auto detail = describe_stale(place, lock, verdict.actual)) {
      judge(verdict, VerdictKind::stale, std::move(*detail));
      return;
    }
    const auto locked = locked_files(lock);
    const auto installed = summarise_installed(store_, place, memo_, context_);
    if (!locked || !installed) {
      judge(verdict, VerdictKind::tampered,
            !installed ? installed.error().message : "the installed package differs from the locked one");
      return;
    }
    describe(compare_trees(*locked, *installed, place), verdict);
  }

  // Returns the detail if the cache has the installed content as that of another version. File lists below the data
  // directory are not used, because a checkout may contain them.
  std::optional<std::string> describe_stale(const fs::path& place, const ModuleLock& lock,
                                            const std::string& h1) const {
    const auto entries = list_tree(place);
    if (const auto installed = find_installed(store_, h1, entries ? hash_modes(*entries) : "")) {
      const bool is_same = installed->version == lock.version && installed->origin_hash() == lock.origin_hash() &&
                           package_of(*installed) == package_of(lock);
      return is_same ? std::nullopt : std::optional(version_difference(*installed, lock));
    }
    if (!store_.find_by_h1(h1)) {
      return std::nullopt;
    }
    return fmt::format("another version is installed, {} is locked", locked_text(lock));
  }

  void describe(TreeDifference difference, Verdict& verdict) const {
    const auto take = [&](std::vector<std::string>& paths) {
      verdict.paths.insert(verdict.paths.end(), std::make_move_iterator(paths.begin()),
                           std::make_move_iterator(paths.end()));
    };
    const bool is_loaded = !difference.tampered.empty();
    take(difference.tampered);
    take(difference.harmless);
    const std::size_t differing = verdict.paths.size();
    take(difference.from_pointers);
    const std::size_t count = verdict.paths.size();
    const bool tampered = is_loaded || (request_.strict && count > 0);
    verdict.kind = tampered ? VerdictKind::tampered : VerdictKind::held;
    if (differing > 0) {
      verdict.detail = fmt::format("{} file{} differ{} from the locked package{}", differing, differing == 1 ? "" : "s",
                                   differing == 1 ? "s" : "", tampered ? "" : ", none that a client would load");
    }
    if (difference.line_endings > 0) {
      verdict.detail +=
          fmt::format(", {} only in line endings, which core.autocrlf of git converts", difference.line_endings);
    }
    if (const std::size_t contents = count - differing; contents > 0) {
      verdict.detail += fmt::format(
          "{}{}", verdict.detail.empty() ? "" : "; ",
          contents == 1
              ? "1 file holds the content of Git LFS that its locked pointer names"
              : fmt::format("{} files hold the content of Git LFS that their locked pointers name", contents));
    }
    verdict.paths.resize(std::min(count, kShownPaths));
    verdict.more_paths = count - verdict.paths.size();
  }

  // Returns the locked files, from the list that `install` wrote, else from the store. The h1 proves both.
  std::optional<TreeSummary> locked_files(const ModuleLock& lock) const {
    const std::string h1 = "h1:" + lock.hash_value("h1");
    if (auto list = read_file_list(request_.data, h1)) {
      return list;
    }
    if (const auto package = store_.find_by_h1(h1)) {
      auto summary = summarise_installed(store_, package->directory, memo_, context_);
      if (summary && summary->h1() == h1) {
        return std::move(*summary);
      }
    }
    return std::nullopt;
  }

  bool is_served(const ModuleNode& node) const { return request_.backends->find(node.address.source) != nullptr; }

  static Verdict not_locked(const std::string& key, std::string detail) {
    return {.subject = "module." + key, .kind = VerdictKind::not_locked, .detail = std::move(detail)};
  }

  // Checks the entries for which the walk found no remote call: they have no call, or their caller could not be read.
  void check_unvisited(const ModuleTree& tree) {
    for (const auto& [key, lock] : request_.lock.modules) {
      if (key.find(':') != std::string::npos || verdicts_.count(key) != 0) {
        continue;
      }
      if (const ModuleNode* node = find_in(tree.nodes, key)) {
        verdicts_.emplace(key,
                          not_locked(key, fmt::format("the lock file has an entry, and the call is of a {} module, "
                                                      "which is never locked",
                                                      to_string(node->address.source.kind))));
        continue;
      }
      const bool hidden = std::ranges::any_of(lineage(key), [&](const std::string& caller) {
        const ModuleNode* node = find_in(tree.nodes, caller);
        return node != nullptr && node->directory.empty();
      });
      verdicts_.emplace(key,
                        hidden ? check_place(lock) : not_locked(key, "the lock file has an entry that no call has"));
    }
  }

  void ask_origins(const ModuleTree& tree) {
    std::vector<LockedCall> calls;
    for (const auto& [key, node] : tree.nodes) {
      const ModuleLock* entry = find_in(request_.lock.modules, key);
      if (!node.is_local() && entry != nullptr && is_served(node) && !why_not_answered(node, *entry)) {
        calls.push_back({&node, entry});
      }
    }
    OriginFindings findings = check_origins(calls, request_.full, *request_.fetcher, context_);
    SignatureCheck signatures(request_.walk.settings, *request_.fetcher, context_);
    const auto verify_signatures = [&](const ModuleNode& node, const ModuleLock& lock) {
      const Backend* backend = request_.fetcher->backend(node.address.source);
      if (backend == nullptr) {
        return;
      }
      if (auto signers = signatures.verify(node, lock.version, backend->id_of(lock.hashes)); !signers) {
        findings.diagnostics.push_back({Severity::error, std::move(signers.error())});
      }
    };
    for (const auto& [node, lock] : calls) {
      // Another finding already explains why the tag does not have the locked commit.
      const Verdict* found = find_in(findings.verdicts, node->key);
      if (found == nullptr || found->kind <= VerdictKind::update_available) {
        verify_signatures(*node, *lock);
      }
    }
    for (const auto& [key, lock] : request_.lock.modules) {
      // An entry of a host, such as the source of a Terragrunt unit, has no call.
      if (key.find(':') == std::string::npos) {
        continue;
      }
      if (auto address = parse_source(lock.source)) {
        ModuleNode node;
        node.key = key;
        node.address = std::move(*address);
        verify_signatures(node, lock);
      }
    }
    append(findings.diagnostics, signatures.warnings());
    for (auto& [key, verdict] : findings.verdicts) {
      Verdict& known = verdicts_.at(key);
      if (verdict.kind == VerdictKind::held && known.kind != verdict.kind) {
        continue;
      }
      verdict.subject = known.subject;
      known = merge(std::move(known), std::move(verdict));
    }
    append(diagnostics_, std::move(findings.diagnostics));
  }

  Result<void> check_root_providers(const ModuleTree& tree, const ProviderSettings& settings,
                                    VerifyReport& report) const {
    MODLOCK_TRY(auto verdicts, check_providers({.settings = settings,
                                                .directory = request_.data.path / "providers",
                                                .required = required_providers(tree),
                                                .platform = Platform::current(),
                                                .deny_rules = request_.walk.settings.deny_rules,
                                                .full = request_.full},
                                               store_, context_));
    std::ranges::move(verdicts, std::back_inserter(report.verdicts));
    for (const auto& [provider, directory] : settings.dev_overrides) {
      if (settings.lock.providers.count(provider) != 0) {
        report.diagnostics.push_back(dev_override_warning(provider));
      }
    }
    return {};
  }

  // Returns the location of a call in the user's own configuration; for a call in a package, that of its lock entry.
  std::optional<Location> location_of(const std::string& key, const ModuleTree& tree) const {
    const bool is_ours = std::ranges::all_of(lineage(key), [&](const std::string& caller) {
      const ModuleNode* found = find_in(tree.nodes, caller);
      return caller == key || found == nullptr || found->is_local();
    });
    const ModuleNode* node = find_in(tree.nodes, key);
    const Range* block = find_in(request_.lock.module_ranges, key);
    if (block != nullptr && (node == nullptr || !is_ours)) {
      return Location{request_.lock_path, *block};
    }
    return node == nullptr ? std::nullopt : std::optional(node->call.source.location);
  }

  const VerifyRequest& request_;
  const Store& store_;
  const Context& context_;
  MemoOptions memo_{.full = request_.full};
  Manifest manifest_;
  KnownPackages known_;
  std::map<std::string, Verdict> verdicts_;  // by key
  std::vector<std::string> unlocked_;        // keys of calls without a verdict
  Diagnostics diagnostics_;
};

}  // namespace

Result<VerifyReport> verify_root(const VerifyRequest& request, const Store& store, const Context& context) {
  return Verifier(request, store, context).run();
}

}  // namespace modlock
