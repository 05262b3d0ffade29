#include <fmt/format.h>

#include "backends/registry/module_protocol.h"
#include "backends/store/first_seen.h"
#include "plugin/constraint/module_constraint.h"
#include "plugin/engine/client_program.h"
#include "plugin/engine/engine.h"
#include "plugin/engine/root_request.h"
#include "protocol/base/result.h"

namespace modlock {
namespace {

std::optional<std::string> newest_fitting(const Listing& listing, const std::optional<ModuleConstraint>& constraint,
                                          bool include_prerelease) {
  const ListedVersion* deprecated = nullptr;
  for (const ListedVersion& candidate : listing.versions) {
    const bool fits = constraint ? constraint->selects(candidate.version)
                                 : include_prerelease || candidate.version.prerelease().empty();
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

}  // namespace

Result<messages::VersionsListResult> Engine::versions(const messages::VersionsListParams& params, Run& run) const {
  MODLOCK_TRY(auto address, parse_source(params.source, default_registry(find_client(options()).tool)));
  std::optional<ModuleConstraint> constraint;
  if (params.constraint) {
    MODLOCK_TRY(auto parsed, ModuleConstraint::parse(*params.constraint));
    constraint = std::move(parsed);
  }
  Context context = context_for(run);
  context.check_source = source_judge(user_settings());
  const auto client = network(run);
  auto listing = client->list_versions(user_settings(), address, params.tag_prefix, context);
  if (!listing) {
    return fail(client->with_warnings(std::move(listing.error())));
  }
  messages::VersionsListResult result{.source = address.source.identity(),
                                      .kind = std::string(to_string(address.source.kind)),
                                      .versions = {},
                                      .selected = newest_fitting(*listing, constraint, params.include_prerelease),
                                      .skipped = {},
                                      .fetched_at = time_text(listing->fetched_at),
                                      .complete = listing->complete};
  result.versions.reserve(listing->versions.size());
  const ContentId id_kind = address.source.traits().content_id;
  for (ListedVersion& version : listing->versions) {
    if (params.include_prerelease || version.version.prerelease().empty() ||
        (constraint && constraint->selects(version.version))) {
      result.versions.push_back({.version = version.version.to_string(),
                                 .tag = std::move(version.tag),
                                 .commit = id_kind == ContentId::commit ? std::move(version.id) : "",
                                 .digest = id_kind == ContentId::digest ? std::move(version.id) : "",
                                 .published = known_date(version),
                                 .deprecated = std::move(version.deprecated)});
    }
  }
  for (SkippedTag& tag : listing->skipped) {
    result.skipped.push_back({std::move(tag.tag), std::move(tag.reason)});
  }
  result.diagnostics = client->warnings();
  return result;
}

}  // namespace modlock
