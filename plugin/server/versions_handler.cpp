#include <fmt/chrono.h>
#include <fmt/format.h>

#include "plugin/constraint/module_constraint.h"
#include "plugin/server/handlers.h"
#include "plugin/server/implementation.h"
#include "plugin/server/root_request.h"

namespace modlock {
namespace {

std::optional<std::string> newest_fitting(const Listing& listing, const std::optional<ModuleConstraint>& constraint,
                                          bool include_prerelease) {
  for (const ListedVersion& candidate : listing.versions) {
    const bool fits = constraint ? constraint->selects(candidate.version)
                                 : include_prerelease || candidate.version.prerelease().empty();
    if (fits) {
      return candidate.version.to_string();
    }
  }
  return std::nullopt;
}

Result<Listing> list(const Service& service, const Network& network, const SourceAddress& address,
                     const std::string& prefix, const Context& context) {
  Backend* backend = network.backends().find(address.source);
  if (backend == nullptr) {
    return fail(Code::source_unsupported,
                fmt::format("nobody serves {} sources here (\"{}\")",
                            address.source.getter.empty() ? to_string(address.source.kind) : address.source.getter,
                            address.source.identity()),
                address.source.kind == SourceKind::local || address.source.kind == SourceKind::directory
                    ? "name a source with versions: a registry module, a git repository or an OCI repository"
                    : "an external backend can serve it (docs/backends.md)");
  }
  if (auto ok = check_source_allowed(service.user_settings(), address.source.identity()); !ok) {
    return fail(std::move(ok.error()));
  }
  return backend->list_versions(address, prefix, context);
}

}  // namespace

Result<messages::VersionsListResult> list_versions(const Service& service, const messages::VersionsListParams& params,
                                                   RequestContext& request) {
  Stats stats;
  auto address = parse_source(params.source, default_registry(find_implementation(service.options()).tool));
  if (!address) {
    return fail(std::move(address.error()));
  }
  std::optional<ModuleConstraint> constraint;
  if (params.constraint) {
    auto parsed = ModuleConstraint::parse(*params.constraint);
    if (!parsed) {
      return fail(std::move(parsed.error()));
    }
    constraint = std::move(*parsed);
  }
  Context context = make_context(request, service, stats);
  context.judge_source = source_judge(service.user_settings());
  const auto network = service.network();
  auto listing = list(service, *network, *address, params.tag_prefix, context);
  if (!listing) {
    return fail(network->with_warnings(std::move(listing.error())));
  }
  messages::VersionsListResult result{
      .source = address->source.identity(),
      .kind = std::string(to_string(address->source.kind)),
      .versions = {},
      .selected = newest_fitting(*listing, constraint, params.include_prerelease),
      .skipped = {},
      .fetched_at =
          fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::chrono::system_clock::to_time_t(listing->fetched_at))),
      .complete = listing->complete};
  result.versions.reserve(listing->versions.size());
  for (ListedVersion& version : listing->versions) {
    if (params.include_prerelease || version.version.prerelease().empty() ||
        (constraint && constraint->selects(version.version))) {
      result.versions.push_back({.version = version.version.to_string(),
                                 .tag = std::move(version.tag),
                                 .commit = address->source.kind == SourceKind::git ? std::move(version.id) : "",
                                 .digest = address->source.kind == SourceKind::oci ? std::move(version.id) : ""});
    }
  }
  for (SkippedTag& tag : listing->skipped) {
    result.skipped.push_back({std::move(tag.tag), std::move(tag.reason)});
  }
  result.diagnostics = network->warnings();
  return result;
}

Result<Answer> handle_versions_list(const Service& service, const Json::Value& params, RequestContext& request) {
  const auto decoded = decode_params<messages::VersionsListParams>(params, request.unknown_params);
  if (!decoded) {
    return fail(decoded.error());
  }
  auto result = list_versions(service, *decoded, request);
  if (!result) {
    return fail(std::move(result.error()));
  }
  return Answer::of(std::move(*result));
}

}  // namespace modlock
