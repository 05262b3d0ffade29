#include "plugin/verify/verify.h"

#include <fmt/format.h>

#include <algorithm>

#include "backends/files/files.h"
#include "backends/parallel.h"
#include "plugin/install/file_list.h"
#include "plugin/install/manifest.h"
#include "plugin/install/overrides.h"
#include "plugin/install/package_lookup.h"
#include "plugin/resolve/lock_entry.h"
#include "plugin/resolve/plan.h"
#include "plugin/verify/tree_difference.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kWidth = 4;
constexpr std::size_t kShownPaths = 5;

class Verifier {
 public:
  Verifier(const VerifyRequest& request, const Store& store, const Context& context)
      : request_(request), store_(store), context_(context) {}

  Result<VerifyReport> run() {
    auto manifest = read_manifest(request_.data.manifest());
    if (!manifest) {
      return fail(std::move(manifest.error()));
    }
    manifest_ = std::move(*manifest);
    auto tree = walk_modules(
        request_.walk, [&](std::span<ModuleNode* const> level) { return visit(level); }, context_);
    if (!tree) {
      return fail(std::move(tree.error()));
    }
    if (has_errors(tree->diagnostics)) {
      std::erase_if(tree->diagnostics, [](const Diagnostic& d) { return d.severity != Severity::error; });
      return fail(combine(std::move(tree->diagnostics)));
    }
    judge_records(*tree);
    judge_unvisited(*tree);
    VerifyReport report;
    report.diagnostics = std::move(tree->diagnostics);
    judge_overrides(
        {.tree = *tree, .locks = request_.lock.modules, .root = request_.walk.root, .bounds = request_.walk.bounds},
        report.diagnostics);
    for (auto& [subject, verdict] : verdicts_) {
      report.verdicts.push_back(std::move(verdict));
    }
    return report;
  }

 private:
  Result<void> visit(std::span<ModuleNode* const> level) {
    std::vector<Verdict> verdicts(level.size());
    parallel_for(level.size(), kWidth, [&](std::size_t i) { verdicts[i] = judge_call(*level[i]); });
    for (std::size_t i = 0; i < level.size(); ++i) {
      ModuleNode& node = *level[i];
      // Below a module that was tampered with, the walk goes on in what the store has of the locked one.
      PlacedPackage package = verdicts[i].kind == VerdictKind::tampered
                                  ? stored_package(node, request_.lock, store_)
                                  : known_package(node, request_.data, manifest_, request_.lock, store_);
      node.package_directory = std::move(package.directory);
      node.package_subdir = std::move(package.subdir);
      if (node.address.source.kind == SourceKind::directory) {
        continue;  // linked, never locked
      }
      if (request_.serves(node.address.source) || request_.strict || request_.lock.modules.count(node.key) != 0) {
        verdicts_.emplace(node.key, std::move(verdicts[i]));
      }
    }
    return context_.check();
  }

  Verdict judge_call(const ModuleNode& node) const {
    const auto entry = request_.lock.modules.find(node.key);
    if (entry == request_.lock.modules.end()) {
      return not_locked(node.key, "the lock file has no entry for this call");
    }
    const ModuleLock& lock = entry->second;
    if (auto reason = why_not_answered(node, lock)) {
      return not_locked(node.key, std::move(*reason));
    }
    return judge_place(lock);
  }

  // What is in place serves nobody where the manifest does not say so; where a module lies is known after the walk.
  void judge_records(const ModuleTree& tree) {
    for (auto& [key, verdict] : verdicts_) {
      const auto node = tree.nodes.find(key);
      if (verdict.kind != VerdictKind::held || node == tree.nodes.end()) {
        continue;
      }
      const auto record = manifest_.find(key);
      const auto entry = request_.lock.modules.find(key);
      const ModuleLock* lock = entry == request_.lock.modules.end() ? nullptr : &entry->second;
      const bool recorded = record != manifest_.end() && is_source_of(record->second.source, node->second, lock) &&
                            record->second.directory == node->second.manifest_directory &&
                            record->second.version == recorded_version(node->second);
      if (!recorded) {
        verdict.kind = VerdictKind::missing;
        verdict.detail = "the package is there, but modules.json does not name it as a client would";
      }
    }
  }

  // What a client records: registry modules alone have a version.
  std::string recorded_version(const ModuleNode& node) const {
    const auto entry = request_.lock.modules.find(node.key);
    const bool has_one = node.address.source.kind == SourceKind::registry && entry != request_.lock.modules.end();
    return has_one ? entry->second.version.value_or("") : std::string();
  }

  Verdict judge_place(const ModuleLock& lock) const {
    Verdict verdict{.subject = "module." + lock.key, .expected = {}, .actual = {}, .detail = {}, .paths = {}};
    const std::string h1 = lock.hash_value("h1");
    verdict.expected = h1.empty() ? "" : "h1:" + h1;
    std::error_code ignored;
    const auto place = request_.data.place_of(lock.key);
    if (!place || !fs::is_directory(*place, ignored)) {
      verdict.kind = VerdictKind::missing;
      verdict.detail = "it is locked, but not installed";
      return verdict;
    }
    auto installed = summarise_tree(*place, context_);
    if (!installed) {
      verdict.kind = VerdictKind::tampered;
      verdict.detail = installed.error().message;
      return verdict;
    }
    verdict.actual = installed->h1();
    if (verdict.expected.empty()) {
      verdict.kind = VerdictKind::not_locked;
      verdict.detail = "the lock file has no h1 hash for it";
    } else if (verdict.actual != verdict.expected) {
      judge_difference(*installed, lock, verdict);
    }
    return verdict;
  }

  void judge_difference(const TreeSummary& installed, const ModuleLock& lock, Verdict& verdict) const {
    const auto locked = locked_files(lock);
    if (!locked) {
      verdict.kind = VerdictKind::tampered;
      verdict.detail = "the installed package differs from the locked one";
      return;
    }
    if (read_file_list(request_.data, verdict.actual) || store_.find_by_h1(verdict.actual)) {
      verdict.kind = VerdictKind::tampered;
      verdict.detail = "another version of the package is installed than the lock names";
      return;
    }
    TreeDifference difference = compare_trees(*locked, installed);
    const bool tampered = !difference.tampered.empty() || request_.strict;
    verdict.kind = tampered ? VerdictKind::tampered : VerdictKind::held;
    verdict.paths = std::move(difference.tampered);
    verdict.paths.insert(verdict.paths.end(), difference.harmless.begin(), difference.harmless.end());
    const std::size_t count = verdict.paths.size();
    verdict.detail =
        fmt::format("{} file{} differ{} from the locked package", count, count == 1 ? "" : "s", count == 1 ? "s" : "");
    if (!tampered) {
      verdict.detail += ", none that a client would load";
    }
    verdict.paths.resize(std::min(count, kShownPaths));
  }

  // The locked package's files: from the list that `install` left, else from the store. Both are proven by the h1.
  std::optional<TreeSummary> locked_files(const ModuleLock& lock) const {
    const std::string h1 = "h1:" + lock.hash_value("h1");
    if (auto list = read_file_list(request_.data, h1)) {
      return list;
    }
    if (const auto package = store_.find_by_h1(h1)) {
      auto summary = summarise_tree(package->directory, context_);
      if (summary && summary->h1() == h1) {
        return std::move(*summary);
      }
    }
    return std::nullopt;
  }

  static Verdict not_locked(const std::string& key, std::string detail) {
    return {.subject = "module." + key,
            .kind = VerdictKind::not_locked,
            .expected = {},
            .actual = {},
            .detail = std::move(detail),
            .paths = {}};
  }

  // Entries that the walk did not reach: nobody calls them, or nobody could look below their caller.
  void judge_unvisited(const ModuleTree& tree) {
    for (const auto& [key, lock] : request_.lock.modules) {
      if (key.find(':') != std::string::npos || tree.nodes.find(key) != tree.nodes.end()) {
        continue;
      }
      const bool hidden = std::any_of(tree.nodes.begin(), tree.nodes.end(), [&key = key](const auto& entry) {
        return entry.second.directory.empty() && is_below(key, entry.first);
      });
      verdicts_.emplace(key,
                        hidden ? judge_place(lock) : not_locked(key, "the lock file has an entry that no call has"));
    }
  }

  const VerifyRequest& request_;
  const Store& store_;
  const Context& context_;
  Manifest manifest_;
  std::map<std::string, Verdict> verdicts_;  // by key
};

}  // namespace

std::string_view to_string(VerdictKind kind) {
  switch (kind) {
    case VerdictKind::held:
      return "held";
    case VerdictKind::update_available:
      return "update-available";
    case VerdictKind::not_locked:
      return "not-locked";
    case VerdictKind::missing:
      return "missing";
    case VerdictKind::vanished:
      return "vanished";
    case VerdictKind::moved:
      return "moved";
    case VerdictKind::tampered:
      break;
  }
  return "tampered";
}

int exit_code(VerdictKind kind) {
  switch (kind) {
    case VerdictKind::held:
    case VerdictKind::update_available:
      return 0;
    case VerdictKind::not_locked:
    case VerdictKind::missing:
      return exit_code(Code::missing);
    case VerdictKind::vanished:
      return exit_code(Code::vanished);
    case VerdictKind::moved:
    case VerdictKind::tampered:
      break;
  }
  return exit_code(Code::hash_mismatch);
}

bool VerifyReport::ok() const {
  return exit_code() == 0;
}

int VerifyReport::exit_code() const {
  int worst = 0;
  for (const Verdict& verdict : verdicts) {
    worst = worse_exit_code(worst, modlock::exit_code(verdict.kind));
  }
  return worst;
}

Result<VerifyReport> verify_modules(const VerifyRequest& request, const Store& store, const Context& context) {
  return Verifier(request, store, context).run();
}

}  // namespace modlock
