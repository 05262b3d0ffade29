#include "plugin/resolve/selection.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "backends/base/collections.h"
#include "backends/store/first_seen.h"
#include "plugin/lock/locked_text.h"
#include "plugin/resolve/release_age.h"

namespace modlock {
namespace {

// Without a constraint only a release is chosen, not a prerelease.
bool selects(std::span<const ConstraintUse> uses, const Version& version) {
  return uses.empty()
             ? version.prerelease().empty()
             : std::ranges::all_of(uses, [&](const ConstraintUse& use) { return use.constraint.selects(version); });
}

Error no_release(const Listing& listing, const std::string& package) {
  return Error{.code = Code::no_matching_version,
               .message = listing.versions.empty()
                              ? fmt::format("\"{}\" has no versions", package)
                              : fmt::format("\"{}\" has no release, only prereleases; the newest are: {}", package,
                                            newest_versions(listing)),
               .hint = listing.versions.empty() ? "publish a version, or correct the source"
                                                : "name a prerelease exactly to use it: version = \"" +
                                                      listing.versions.front().version.to_string() + "\""};
}

std::string skipped_tags(const Listing& listing) {
  if (listing.skipped.empty()) {
    return {};
  }
  std::map<std::string, std::size_t> by_reason;
  for (const SkippedTag& tag : listing.skipped) {
    ++by_reason[tag.reason];
  }
  std::string text;
  for (const auto& [reason, count] : by_reason) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, reason);
  }
  return fmt::format("{} tag{} skipped: {}", listing.skipped.size(), listing.skipped.size() == 1 ? " was" : "s were",
                     text);
}

// Returns the hint for a constraint that selects a tag with a prefix; empty: there is none.
std::string prefix_hint(const Listing& listing, const ConstraintUse& use) {
  for (const SkippedTag& tag : listing.skipped) {
    const auto prefix = tag_prefix_of(tag.tag);
    const auto version = prefix ? parse_version_tag(tag.tag, *prefix) : std::nullopt;
    if (version && use.constraint.selects(*version)) {
      return fmt::format(
          "for tags such as \"{}\", set tag_prefix = \"{}\" in the block module \"{}\" of .tofu-modlock.hcl", tag.tag,
          *prefix, use.key);
    }
  }
  return {};
}

Error no_match(const Listing& listing, const ConstraintUse& use, const std::string& package) {
  Error error{
      .code = Code::no_matching_version,
      .message = fmt::format("no version of \"{}\" matches the constraint \"{}\" of module \"{}\"; the newest are: {}",
                             package, use.constraint.text(), use.key, newest_versions(listing)),
      .subject = "module." + use.key,
      .location = use.location,
      .hint = "change the constraint, or tag a matching version in the repository (vMAJOR.MINOR.PATCH)"};
  if (std::string hint = prefix_hint(listing, use); !hint.empty()) {
    error.hint = std::move(hint);
  }
  if (std::string skipped = skipped_tags(listing); !skipped.empty()) {
    error.notes.push_back(std::move(skipped));
  }
  return error;
}

Related required_by(const ConstraintUse& use) {
  return {fmt::format("module \"{}\" requires version \"{}\"", use.key, use.constraint.text()), use.location};
}

Error conflict(const Listing& listing, std::span<const ConstraintUse> uses, const std::string& package) {
  Error error{
      .code = Code::constraint_conflict,
      .message = fmt::format("conflicting module version requirements: no version of \"{}\" satisfies all of its {} "
                             "constraints; the newest are: {}",
                             package, uses.size(), newest_versions(listing)),
      .subject = "module." + uses.front().key,
      .location = uses.front().location};
  std::vector<std::string> files;
  for (const ConstraintUse& use : uses) {
    error.related.push_back(required_by(use));
    if (!contains(files, use.location.path)) {
      files.push_back(use.location.path);
    }
  }
  error.hint = fmt::format(
      "change the version constraints in {}; or set resolution = \"per-call\" in .tofu-modlock.hcl, so that each call "
      "has its own version",
      fmt::join(files, ", "));
  return error;
}

Error all_denied(const Version& version, const DenyRule& rule, std::span<const ConstraintUse> uses,
                 const std::string& package) {
  Error error = denied_release(rule, version.to_string(), package,
                               uses.empty() ? std::string() : "module." + uses.front().key, "");
  error.message =
      fmt::format("no matching version of \"{}\" is left: {} is {}", package, version.to_string(), rule.text());
  error.hint = "wait for a fixed release, change the constraints, or remove the rule";
  std::ranges::transform(uses, std::back_inserter(error.related), required_by);
  error.location = uses.empty() ? std::nullopt : std::optional<Location>(uses.front().location);
  return error;
}

}  // namespace

Error too_young(const std::string& version, const std::string& of, std::chrono::system_clock::time_point since,
                const ReleaseGate& gate) {
  const std::string_view known = since > gate.now ? "claims a date in the future:" : "was first seen at";
  return Error{
      .code = Code::no_matching_version,
      .message = fmt::format("all matching versions of {} are newer than minimum_release_age ({}): {} {} {}", of,
                             age_text(gate.minimum), version, known, time_text(since)),
      .hint = fmt::format("wait until {}, or after a review select it now with --minimum-release-age 0s or an exact "
                          "version; the plan then notes the exception",
                          time_text(since + gate.minimum))};
}

const ListedVersion* find_listed(const Listing& listing, std::string_view version) {
  return find_by(listing.versions, version, [](const ListedVersion& each) { return each.version.to_string(); });
}

std::string newest_versions(const Listing& listing) {
  std::string text;
  for (std::size_t i = 0; i < std::min<std::size_t>(3, listing.versions.size()); ++i) {
    text += (i == 0 ? "" : ", ") + listing.versions[i].version.to_string();
  }
  return text.empty() ? "none" : text;
}

std::string find_other_tag(const Listing& listing, const ListedVersion& chosen, std::span<const ConstraintUse> uses) {
  const auto [first, last] = std::equal_range(
      listing.versions.begin(), listing.versions.end(), chosen,
      [](const ListedVersion& left, const ListedVersion& right) { return left.version > right.version; });
  const auto other = std::find_if(first, last, [&](const ListedVersion& one) {
    return one.id != chosen.id && (uses.empty() || selects(uses, one.version));
  });
  return other == last ? chosen.ambiguous_with : other->tag;
}

std::optional<ListedVersion> find_spelled(const Listing& listing, const Version& version, std::string_view prefix,
                                          std::string_view tag) {
  const auto has_v = [&](std::string_view name) { return name.substr(std::min(prefix.size(), name.size()), 1) == "v"; };
  const auto written = parse_version_tag(tag, tag.starts_with(prefix) ? prefix : "");
  const std::string_view metadata = written ? written->metadata() : "";
  std::optional<ListedVersion> found;
  for (const ListedVersion& one : listing.versions) {
    if (one.version != version || one.version.metadata() != metadata) {
      continue;
    }
    if (has_v(one.tag) == has_v(tag)) {
      if (found || (!one.ambiguous_with.empty() && has_v(one.ambiguous_with) == has_v(tag))) {
        return std::nullopt;
      }
      found = one;
    } else if (!one.ambiguous_with.empty() && has_v(one.ambiguous_with) == has_v(tag)) {
      found = ListedVersion{.version = one.version, .tag = one.ambiguous_with, .id = {}};
    }
  }
  if (found) {
    found->ambiguous_with.clear();
  }
  return found;
}

Result<ListedVersion> check_unambiguous(const ListedVersion& chosen, std::span<const ConstraintUse> uses,
                                        const std::string& package, const std::string& other_tag) {
  if (!other_tag.empty()) {
    const std::string version = chosen.version.to_string();
    const bool same_build = other_tag == chosen.ambiguous_with;
    return fail(
        Error{.code = Code::version_ambiguous,
              .message = fmt::format("the tags \"{}\" and \"{}\" of \"{}\" name version {}, but different commits",
                                     chosen.tag, other_tag, package, version.substr(0, version.find('+'))),
              .subject = uses.empty() ? std::string() : "module." + uses.front().key,
              .location = uses.empty() ? std::nullopt : std::optional<Location>(uses.front().location),
              .hint = same_build ? "name one of them in the source, delete the other in the repository, or exclude the "
                                   "version with a \"!=\" constraint, which excludes both"
                                 : "name the version exactly, with its build metadata, such as \"1.2.0+build.3\"; a "
                                   "\"!=\" constraint excludes all builds of a version"});
  }
  return chosen;
}

Result<ListedVersion> select_version(const Listing& listing, std::span<const ConstraintUse> uses,
                                     const std::string& package, const ReleaseGate& gate) {
  std::optional<std::size_t> oldest_young;
  const ListedVersion* deprecated = nullptr;
  const ListedVersion* denied = nullptr;
  for (std::size_t i = 0; i < listing.versions.size(); ++i) {
    const ListedVersion& candidate = listing.versions[i];
    if (!selects(uses, candidate.version)) {
      continue;
    }
    if (gate.find_denial && gate.find_denial(candidate) != nullptr) {
      denied = denied == nullptr ? &candidate : denied;
      continue;
    }
    if (!gate.lets_through(listing, i)) {
      const bool is_older = !oldest_young || gate.known_since[i] < gate.known_since[*oldest_young];
      oldest_young = is_older ? i : oldest_young;
      continue;
    }
    if (candidate.deprecated && !gate.is_in_use(candidate)) {
      deprecated = deprecated == nullptr ? &candidate : deprecated;
      continue;
    }
    return check_unambiguous(candidate, uses, package, find_other_tag(listing, candidate, uses));
  }
  if (deprecated != nullptr) {
    return check_unambiguous(*deprecated, uses, package, find_other_tag(listing, *deprecated, uses));
  }
  if (oldest_young) {
    Error error = too_young(listing.versions[*oldest_young].version.to_string(), fmt::format("\"{}\"", package),
                            gate.known_since[*oldest_young], gate);
    if (!uses.empty()) {
      error.subject = "module." + uses.front().key;
      error.location = uses.front().location;
    }
    return fail(std::move(error));
  }
  if (denied != nullptr) {
    return fail(all_denied(denied->version, *gate.find_denial(*denied), uses, package));
  }
  if (uses.empty()) {
    return fail(no_release(listing, package));
  }
  const ConstraintUse* unmatched = find_where(uses, [&](const ConstraintUse& use) {
    return std::ranges::none_of(listing.versions, [&](const auto& one) { return use.constraint.selects(one.version); });
  });
  return fail(unmatched == nullptr ? conflict(listing, uses, package) : no_match(listing, *unmatched, package));
}

}  // namespace modlock
