#include "plugin/resolve/changes.h"

#include <fmt/ranges.h>

#include <set>

#include "backends/address/git_reference.h"
#include "backends/base/collections.h"
#include "plugin/lock/locked_text.h"
#include "plugin/resolve/module_node.h"

namespace modlock {
namespace {

bool has_scheme(const std::string& hash, std::string_view scheme) {
  return hash.starts_with(scheme) && hash.size() > scheme.size() && hash[scheme.size()] == ':';
}

// Returns whether a hash identifies the origin of content: its scheme is one that we write, or `scheme`.
bool is_origin(const std::string& hash, std::string_view scheme) {
  return has_scheme(hash, "git") || has_scheme(hash, "oci") || has_scheme(hash, "zh") || has_scheme(hash, scheme);
}

// Returns whether frozen leaves the call of an old entry or one above it unresolved, under its old or its new name.
// Calls below it were not inspected.
bool is_left_open(const std::string& key, const VersionResolver& resolver) {
  const auto& open = resolver.frozen_out();
  return std::ranges::any_of(open, [&](const auto& entry) {
    const ModuleLock* former = resolver.renamed_from(entry.first);
    return is_below(key, entry.first) || (former != nullptr && is_below(key, former->key));
  });
}

// Returns the hashes of an entry: those of the lock if content and origin are unchanged; if only the origin differs,
// the lock's hashes without known origin hashes; otherwise new ones.
std::vector<std::string> hashes_of(const ModuleLock* prior, const ResolvedModule& resolved,
                                   const std::string& id_hash) {
  std::vector<std::string> hashes = {id_hash, resolved.h1};
  const bool same_content = prior != nullptr && std::ranges::none_of(prior->hashes, [&](const std::string& hash) {
                              return has_scheme(hash, "h1") && hash != resolved.h1;
                            });
  if (same_content) {
    const std::string scheme = id_hash.substr(0, id_hash.find(':'));
    const bool names_origin =
        std::ranges::any_of(prior->hashes, [&](const std::string& hash) { return is_origin(hash, scheme); });
    const bool same_origin = !names_origin || contains(prior->hashes, id_hash);
    std::ranges::copy_if(prior->hashes, std::back_inserter(hashes),
                         [&](const std::string& hash) { return same_origin || !is_origin(hash, scheme); });
  }
  sort_unique(hashes);
  return hashes;
}

// Returns whether the calls below a key are not known: no backend serves it, or a broken part of the configuration
// hides it.
bool is_uninspected(const std::string& key, const VersionResolver& resolver) {
  return key.find(':') != std::string::npos ||
         std::ranges::any_of(resolver.unserved(), [&](const std::string& unserved) { return is_below(key, unserved); });
}

// Returns the reference in the source of an entry.
std::string ref_of(const ModuleLock& lock) {
  const auto source = parse_identity(lock.source);
  return source ? source->named_reference() : std::string();
}

// Describes the moved thing: a tag, a branch, an archive.
std::string_view moved_thing(const ModuleLock& lock, const std::string& ref) {
  const std::string hash = lock.origin_hash();
  const bool is_tag = lock.version || !hash.starts_with("git:") || ref.starts_with(kGitTags);
  return hash.starts_with("zh:") ? "archive" : is_tag ? "tag" : "branch";
}

std::string why_hashes_differ(const std::vector<std::string>& before, const std::vector<std::string>& after) {
  std::vector<std::string> added;
  std::set_difference(after.begin(), after.end(), before.begin(), before.end(), std::back_inserter(added));
  const auto schemes = mapped(added, [](const std::string& hash) { return hash.substr(0, hash.find(':')); });
  return added.empty() ? "it has hashes of other content"
                       : fmt::format("hashes were missing: {}", fmt::join(schemes, ", "));
}

// Returns the change of an entry that is in the old lock and in the new one; nullopt if it is the same.
std::optional<Change> compare(const ModuleLock& before, const ModuleLock& after, const VersionResolver& resolver) {
  Change change;
  const bool same_id = before.origin_hash() == after.origin_hash() || before.origin_hash().empty();
  if (before.source != after.source) {
    change.action = Action::source_changed;
    change.reason = fmt::format("the source was {}", before.source);
  } else if (before.version != after.version && !(same_id && !after.version)) {
    change.action = Action::updated;
    change.reason = before.constraints != after.constraints
                        ? fmt::format("constraints-changed: {}", after.constraints.value_or("none"))
                        : "another version was chosen";
  } else if (!same_id) {
    const ResolvedModule* resolved = find_in(resolver.resolved(), after.key);
    const auto source = parse_identity(after.source);
    const bool expected = resolved != nullptr && !resolved->version && source && may_move(*source, resolved->ref);
    change.action = expected ? Action::updated : Action::moved;
    change.reason =
        fmt::format("the {} {} from {} to {}", moved_thing(after, resolved == nullptr ? "" : resolved->ref),
                    expected ? "moved" : "was moved", short_id(before.origin_hash()), short_id(after.origin_hash()));
  } else if (before.constraints != after.constraints || before.version != after.version) {
    change.action = Action::constraints_changed;
    change.reason = fmt::format("the constraint was {}", before.constraints.value_or("absent"));
  } else if (before.hashes != after.hashes) {
    change.action = Action::hashes_added;
    change.reason = why_hashes_differ(before.hashes, after.hashes);
  } else {
    return std::nullopt;
  }
  return change;
}

Diagnostic moved_warning(const ModuleNode& node, const ModuleLock& before, const ModuleLock& after) {
  const std::string named = node.address.source.named_reference();
  const std::string what = after.version   ? "the tag of version " + *after.version
                           : named.empty() ? "the content"
                                           : fmt::format("\"{}\"", named);
  return as_warning(node.error(
      Code::tag_moved,
      fmt::format("{} of \"{}\" was moved: from {} to {}", what, node.address.source.package_identity(),
                  origin_words(before.origin_hash()), origin_words(after.origin_hash())),
      "a published release should not change; contact its author, and review the difference before you commit "
      "the lock file: " +
          tofu_modlock("diff", "--lock-rev", "HEAD")));
}

std::string why_added(const VersionResolver& resolver, const std::string& key) {
  const InstalledRecord* installed = resolver.recorded(key);
  return fmt::format("not locked before{}{}",
                     installed == nullptr ? "" : ", and not what is installed: " + installed->text(),
                     resolver.has_ambiguous_name(key)
                         ? "; several entries of deleted calls match it, and they are locked to different content"
                         : "");
}

// A renamed call that keeps its locked version is only a renaming.
void add_renaming(Change& change, const ModuleLock& former) {
  change.previous_subject = "module." + former.key;
  const std::string was = "it was " + change.previous_subject;
  const bool keeps_content = change.action == Action::hashes_added || change.action == Action::constraints_changed;
  change.reason = change.action == Action::renamed || keeps_content ? was : change.reason + "; " + was;
  change.action = keeps_content ? Action::renamed : change.action;
}

}  // namespace

ChangeSide side_of(const ModuleLock& lock) {
  return {.version = lock.version,
          .ref = ref_of(lock),
          .commit = lock.hash_value("git"),
          .digest = lock.hash_value("oci"),
          .checksum = lock.hash_value("zh")};
}

ModuleLocks new_module_locks(const PlanRequest& request, const ModuleTree& tree, const VersionResolver& resolver,
                             SourceFetcher& fetcher) {
  ModuleLocks locks;
  for (const auto& [key, entry] : request.lock.modules) {
    if (is_uninspected(key, resolver)) {
      locks.emplace(key, entry);
    }
  }
  for (const auto& [key, resolved] : resolver.resolved()) {
    const ModuleNode& node = tree.nodes.find(key)->second;
    const std::string id_hash = fetcher.backend(node.address.source)->id_hash(resolved.id);
    ModuleLock lock{.key = key,
                    .version = resolved.version_text(),
                    .source = node.address.source.identity(),
                    .constraints = node.constraints_text(),
                    .hashes = hashes_of(resolver.prior(node), resolved, id_hash)};
    locks.insert_or_assign(key, std::move(lock));
  }
  return locks;
}

std::vector<Change> list_changes(const PlanRequest& request, const ModuleTree& tree, const VersionResolver& resolver,
                                 const ModuleLocks& modules, Diagnostics& diagnostics) {
  std::vector<Change> changes;
  std::set<std::string_view> renamed;  // old keys
  for (const auto& [key, after] : modules) {
    const ModuleLock* former = resolver.renamed_from(key);
    const ModuleLock* before = former != nullptr ? former : find_in(request.lock.modules, key);
    if (before == nullptr) {
      const ModuleNode* node = find_in(tree.nodes, key);
      const ModuleLock* kept = node == nullptr ? nullptr : resolver.prior(*node);
      const bool restored = kept != nullptr && *kept == after;
      const bool adopted = resolver.is_adopted(key);
      changes.push_back({.subject = "module." + key,
                         .action = restored  ? Action::restored
                                   : adopted ? Action::adopted
                                             : Action::added,
                         .to = side_of(after),
                         .constraints = after.constraints,
                         .reason = restored  ? "the block was dropped from the lock file"
                                   : adopted ? std::string(kInstalledReason)
                                             : why_added(resolver, key)});
      continue;
    }
    auto change = compare(*before, after, resolver);
    if (former != nullptr) {
      renamed.insert(former->key);
      if (!change) {
        change.emplace().action = Action::renamed;
      }
      add_renaming(*change, *former);
    } else if (!change && is_after_provider(request.lock, key)) {
      change.emplace();
      change->action = Action::reordered;
      change->reason = "the block is after a provider block";
    }
    if (change) {
      change->subject = "module." + key;
      change->from = side_of(*before);
      change->to = side_of(after);
      change->constraints = after.constraints;
      if (change->action == Action::moved) {
        diagnostics.push_back(moved_warning(tree.nodes.find(key)->second, *before, after));
      }
      changes.push_back(std::move(*change));
    }
  }
  for (const auto& [key, before] : request.lock.modules) {
    if (!modules.contains(key) && !renamed.contains(key) && !is_left_open(key, resolver)) {
      changes.push_back({.subject = "module." + key,
                         .action = Action::removed,
                         .from = side_of(before),
                         .reason = "no module call has this key"});
    }
  }
  for (const auto& [key, reason] : resolver.frozen_out()) {
    Change change{.subject = "module." + key, .action = Action::added, .reason = reason};
    const ModuleLock* before = find_in(request.lock.modules, key);
    if (const ModuleLock* former = resolver.renamed_from(key)) {
      change.previous_subject = "module." + former->key;
      change.action = Action::renamed;
      change.from = side_of(*former);
    } else if (before != nullptr) {
      const ModuleNode* node = find_in(tree.nodes, key);
      const bool same_source = node != nullptr && node->address.source.identity() == before->source;
      change.action = same_source ? Action::updated : Action::source_changed;
      change.from = side_of(*before);
    }
    changes.push_back(std::move(change));
  }
  std::ranges::sort(changes, {}, &Change::subject);
  return changes;
}

}  // namespace modlock
