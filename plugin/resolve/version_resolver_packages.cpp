// The part of VersionResolver that fetches the packages of the decisions.

#include <fmt/format.h>

#include "backends/package/tree_hash.h"
#include "plugin/config/roots.h"
#include "plugin/lock/locked_text.h"
#include "plugin/resolve/version_resolver.h"

namespace modlock {

FetchRequest VersionResolver::fetch_request_for(const Group& group) {
  // A commit without a reference is as unproven as a locked one.
  const bool unproven = !group.decision.id.empty() && group.decision.ref.empty();
  return {.id = group.decision.id, .ref = group.decision.ref, .locked = group.locked || unproven};
}

Result<void> VersionResolver::take_package(Group& group) {
  const ModuleNode& first = *group.level.front();
  if (group.in_place) {
    group.decision.h1 = "h1:" + group.locked_h1;
    group.decision.modes.clear();
    group.decision.package_directory = group.in_place->directory;
    group.decision.package_subdir = group.in_place->subdir;
    return publish_decision(group);
  }
  const auto& package = fetcher_.package(first.address, fetch_request_for(group));
  if (!package) {
    return fail(explain_fetch(group, package.error()));
  }
  if (!group.locked) {
    const DenyRule* rule = find_denial_of(first, {.version = group.decision.version, .id = package->id}, package->h1);
    if (rule != nullptr && chooses_version(first) && !first.commit) {
      group.denied.emplace(group.decision.version->to_string(), rule);
      must_restart_ = true;
      return {};
    }
  }
  if (must_hold(group, *package)) {
    group.offered = package->id;
    must_restart_ = true;
    return {};
  }
  if (claims_to_be_young(group, *package)) {
    must_restart_ = true;
    return {};
  }
  if (group.locked && !group.locked_h1.empty() && "h1:" + group.locked_h1 != package->h1) {
    MODLOCK_TRY(const auto former, former_hash_of_tree(package->directory, context_));
    if ("h1:" + group.locked_h1 == former) {
      return fail(Error{.code = Code::hash_mismatch,
                        .message = fmt::format("module \"{}\" is locked with the checksum of tofu-modlock 0.1, which "
                                               "left out directories such as .svn; its other content is the same",
                                               first.key),
                        .hint = "run: " + tofu_modlock("upgrade", "--target", first.subject())});
    }
    return fail(Error{.code = Code::hash_mismatch,
                      .message = fmt::format("module \"{}\" has a checksum that doesn't match the lock file: expected "
                                             "h1:{}, got {}",
                                             first.key, group.locked_h1, package->h1),
                      .hint = why_content_differs(group, *package) +
                              "; to lock what the source has, after a review, run: " +
                              tofu_modlock("upgrade", "--target", first.subject())});
  }
  if (group.locked && !group.locked_h1.empty() && !group.decision.id.empty() && package->id != group.decision.id) {
    fetcher_.remember(first.address.source, fetch_request_for(group), *package);
  }
  for (const Diagnostic& warning : package->warnings) {
    Diagnostic copy = warning;
    copy.what.subject = first.subject();
    copy.what.location = first.call.source.location;
    diagnostics_.push_back(std::move(copy));
  }
  if (group.decision.id.empty()) {
    group.decision.id = package->id;
    group.decision.ref = package->ref;
  }
  group.decision.h1 = package->h1;
  MODLOCK_TRY(check_allowed(group));
  group.decision.modes = package->modes;
  group.decision.package_directory = package->directory;
  group.decision.package_subdir = package->subdir;
  return publish_decision(group);
}

// Only an id that has other content than its h1 contradicts it.
std::string VersionResolver::why_content_differs(const Group& group, const Package& package) const {
  if (group.decision.id.empty()) {
    return "this may indicate that the module has been tampered with";
  }
  if (group.decision.id == package.id) {
    return fmt::format("{}: restore this entry from version control", kContradiction);
  }
  const Backend& backend = *fetcher_.backend(group.level.front()->address.source);
  return fmt::format("the source has other content now, {} instead of {}: find out why it was replaced",
                     backend.id_hash(package.id), backend.id_hash(group.decision.id));
}

// Returns whether the package of a selected version claims a date so late that the version must be selected again. The
// second time its date is known.
bool VersionResolver::claims_to_be_young(const Group& group, const Package& package) {
  const ModuleNode& first = *group.level.front();
  return !group.locked && chooses_version(first) && !first.commit && package.claimed &&
         fetcher_.apply_claim(first.address, first.tag_prefix, group.decision.ref, *package.claimed) &&
         fetcher_.now() - *package.claimed < gate_of(group).minimum;
}

// Returns whether the package is what a moved tag points to now, and the move was not accepted; if tags are resolved
// again, also whether it is what another reference, a branch, points to now. An archive that was repacked with the same
// content has not moved.
bool VersionResolver::must_hold(const Group& group, const Package& package) const {
  const bool accepts = request_.mode != PlanMode::upgrade || group.accepts_moved;
  if (group.locked || (accepts && !asks_tags_again())) {
    return false;
  }
  const Source& source = group.level.front()->address.source;
  const bool is_tag = group.decision.version || !is_expected_to_move(source, package.ref);
  const bool is_archive = !group.decision.version && source.traits().content_id == ContentId::checksum;
  if (is_archive || is_tag == asks_tags_again()) {
    return false;
  }
  bool is_moved = false;
  for (const auto& [key, candidate] : group.candidates) {
    const ResolvedModule& locked = candidate.resolved;
    if (locked.id.empty() || locked.version != group.decision.version) {
      continue;
    }
    const bool repacked = package.id.starts_with("zh:") && "h1:" + candidate.h1 == package.h1;
    if (locked.id == package.id || repacked) {
      return false;
    }
    is_moved = true;
  }
  return is_moved;
}

bool VersionResolver::is_candidate(const Group& group, const std::string& key) {
  const auto found = group.candidates.lower_bound(key + "\n");
  return found != group.candidates.end() && found->first.starts_with(key + "\n");
}

Result<void> VersionResolver::publish_decision(const Group& group) {
  const WalkRequest& walk = request_.walk;
  for (ModuleNode* node : group.level) {
    ResolvedModule& resolved = resolved_.insert_or_assign(node->key, group.decision).first->second;
    const auto* const directory = request_.replaces_packages ? replacement_of(*node, walk.settings) : nullptr;
    if (directory != nullptr) {
      const auto at_its_place = [&](Error error) {
        error.location = directory->location;
        error.subject = node->subject();
        return error;
      };
      MODLOCK_TRY(resolved.package_directory,
                  confine(walk.root / directory->text, walk.bounds).map_error(at_its_place));
      if (!path_is_directory(resolved.package_directory)) {
        return fail(at_its_place({.code = Code::config_parse,
                                  .message = fmt::format("{} cannot be replaced by \"{}\": directory not found",
                                                         node->subject(), resolved.package_directory.string()),
                                  .hint = "correct the directory, or remove the replacement"}));
      }
      resolved.package_subdir.clear();
      resolved.is_replaced = true;
    }
    node->package_directory = resolved.package_directory;
    node->package_subdir = resolved.package_subdir;
    if (request_.mode == PlanMode::upgrade && group.locked && !group.offered.empty() &&
        is_candidate(group, node->key)) {
      const Backend& backend = *fetcher_.backend(node->address.source);
      held_.insert_or_assign(
          node->key, HeldMove{node->subject(), backend.id_hash(group.decision.id), backend.id_hash(group.offered)});
    }
  }
  return {};
}

}  // namespace modlock
