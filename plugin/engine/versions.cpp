#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>

#include "backends/address/source_text.h"
#include "backends/base/collections.h"
#include "backends/registry/module_protocol.h"
#include "backends/store/first_seen.h"
#include "plugin/constraint/module_constraint.h"
#include "plugin/engine/client_program.h"
#include "plugin/engine/engine.h"
#include "plugin/engine/open_root.h"
#include "plugin/engine/plan_request.h"
#include "plugin/resolve/release_age.h"
#include "plugin/resolve/selection.h"
#include "plugin/resolve/subject.h"
#include "protocol/base/result.h"

namespace modlock {
namespace {

std::optional<std::string> newest_fitting(const Listing& listing, const Source& source, const Settings& settings,
                                          const std::optional<ModuleConstraint>& constraint, bool include_prerelease) {
  const ListedVersion* deprecated = nullptr;
  for (const ListedVersion& candidate : listing.versions) {
    const bool fits = constraint ? constraint->selects(candidate.version)
                                 : include_prerelease || candidate.version.prerelease().empty();
    const std::vector<std::string> hashes = {candidate.id};
    if (fits && find_denial(std::span(settings.deny_rules), source, candidate.version, hashes) != nullptr) {
      continue;
    }
    if (fits && !candidate.deprecated) {
      return candidate.version.to_string();
    }
    deprecated = fits && deprecated == nullptr ? &candidate : deprecated;
  }
  return deprecated == nullptr ? std::nullopt : std::optional(deprecated->version.to_string());
}

// The registry gave the versions before its dates one date, which is not known.
std::optional<std::string> known_date(const ListedVersion& version) {
  return version.published && *version.published != registry::kNoDate ? std::optional(time_text(*version.published))
                                                                      : std::nullopt;
}

messages::VersionsListResult to_message(Listing listing, const Source& source,
                                        const std::function<bool(const Version&)>& is_shown) {
  messages::VersionsListResult result{.source = source.identity(),
                                      .kind = std::string(to_string(source.kind)),
                                      .versions = {},
                                      .selected = {},
                                      .skipped = {},
                                      .fetched_at = time_text(listing.fetched_at),
                                      .complete = listing.complete};
  result.versions.reserve(listing.versions.size());
  const ContentId id_kind = source.traits().content_id;
  for (ListedVersion& version : listing.versions) {
    if (version.version.prerelease().empty() || is_shown(version.version)) {
      result.versions.push_back({.version = version.version.to_string(),
                                 .tag = std::move(version.tag),
                                 .commit = id_kind == ContentId::commit ? std::move(version.id) : "",
                                 .digest = id_kind == ContentId::digest ? std::move(version.id) : "",
                                 .published = known_date(version),
                                 .deprecated = std::move(version.deprecated)});
    }
  }
  for (SkippedTag& tag : listing.skipped) {
    result.skipped.push_back({std::move(tag.tag), std::move(tag.reason)});
  }
  return result;
}

// Returns what an upgrade would select for a call. Errors: those of select_version().
Result<ListedVersion> select_for(const ModuleNode& node, const std::vector<ConstraintUse>& uses, const OpenRoot& open,
                                 const SourceFetcher& fetcher) {
  const Source& source = node.address.source;
  const Backend& backend = *fetcher.backend(source);
  const ModuleLock* entry = find_in(open.lock.modules(), node.key);
  const bool is_locked = entry != nullptr && !why_not_answered(node, *entry);
  const Settings& settings = open.root.walk.settings;
  return select_version(
      *fetcher.listing(node.address, node.tag_prefix), uses, source.package_identity(),
      {.minimum = names_one_version(uses) ? std::chrono::seconds(0) : age_limit(settings, source).minimum(),
       .now = fetcher.now(),
       .known_since = fetcher.known_since(node.address, node.tag_prefix),
       .is_locked =
           [&](const ListedVersion& listed) {
             return is_locked && entry->parsed_version() == listed.version &&
                    (listed.id.empty() || backend.id_of(entry->hashes) == listed.id);
           },
       .find_denial =
           [&](const ListedVersion& listed) {
             const std::string hash = backend.id_hash(listed.id);
             return find_denial(std::span(settings.deny_rules), source, std::optional(listed.version), {&hash, 1});
           }});
}

Result<messages::VersionsListResult> versions_of_call(const messages::CallOfRoot& call, bool include_prerelease,
                                                      const Engine& engine, Run& run) {
  MODLOCK_TRY(auto open, OpenRoot::open(engine, run, call.root, {}));
  MODLOCK_TRY(const auto tree, walk_offline_modules(open->root, *open));
  MODLOCK_TRY(const auto subject, full_subject(call.subject, tree, default_registry(open->root.walk.tool)));
  constexpr std::string_view kModule = "module.";
  if (!subject.starts_with(kModule)) {
    return fail(Error{.code = Code::invalid_params,
                      .message = fmt::format("expected a module call, found \"{}\"", escape_controls(call.subject)),
                      .subject = call.subject});
  }
  const std::string_view key = std::string_view(subject).substr(kModule.size());
  const auto found = tree.nodes.find(key);
  const bool is_unresolved =
      std::ranges::any_of(tree.unresolved, [&](const UnresolvedCall& unresolved) { return unresolved.key == key; });
  if (found == tree.nodes.end() && !is_unresolved) {
    return fail(unknown_subject(subject, module_subjects(tree)));
  }
  SourceFetcher& fetcher = open->fetcher();
  if (is_unresolved || found->second.address.source.traits().versions == SourceVersions::none ||
      fetcher.backend(found->second.address.source) == nullptr) {
    return fail(Error{.code = Code::source_unsupported,
                      .message = fmt::format("{} has no source with versions", subject),
                      .subject = subject,
                      .hint = "config/inspect has its source, or why it is not known"});
  }
  const ModuleNode& node = found->second;
  const Source& source = node.address.source;
  fetcher.list(std::array{SourceFetcher::ListingRequest{&node.address, node.tag_prefix}});
  const auto& listing = fetcher.listing(node.address, node.tag_prefix);
  if (!listing) {
    return fail(open->network().with_warnings(listing.error()));
  }
  const auto uses = shared_constraints(tree, node, open->root.walk.settings.resolution.value_or(Resolution::automatic));
  auto result = to_message(*listing, source, [&](const Version& version) {
    return include_prerelease || (!uses.empty() && std::ranges::all_of(uses, [&](const ConstraintUse& use) {
             return use.constraint.selects(version);
           }));
  });
  result.diagnostics = open->network().warnings();
  if (chooses_version(node) && !node.commit) {
    auto selected = select_for(node, uses, *open, fetcher);
    if (selected) {
      result.selected = selected->version.to_string();
    } else {
      result.diagnostics.push_back({Severity::warning, std::move(selected.error())});
    }
  }
  return result;
}

}  // namespace

Result<messages::VersionsListResult> Engine::versions(const messages::VersionsListParams& params, Run& run) const {
  if (params.call) {
    return versions_of_call(*params.call, params.include_prerelease, *this, run);
  }
  MODLOCK_TRY(auto address, parse_source(*params.source, default_registry(find_client(options()).tool)));
  address.is_users = true;
  std::optional<ModuleConstraint> constraint;
  if (params.constraint) {
    MODLOCK_TRY(constraint, ModuleConstraint::parse(*params.constraint));
  }
  const Context context = context_for(run);
  const auto client = network(run);
  MODLOCK_TRY(auto listing,
              client->with_warnings(client->list_versions(user_settings(), address, params.tag_prefix, context)));
  auto selected = newest_fitting(listing, address.source, user_settings(), constraint, params.include_prerelease);
  auto result = to_message(std::move(listing), address.source, [&](const Version& version) {
    return params.include_prerelease || (constraint && constraint->selects(version));
  });
  result.selected = std::move(selected);
  result.diagnostics = client->warnings();
  return result;
}

}  // namespace modlock
