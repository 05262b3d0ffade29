#include "plugin/resolve/provider_warnings.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "backends/address/source_text.h"

namespace modlock {
namespace {

Diagnostic ambiguous(const std::string& type, const std::vector<const ProviderNeed*>& needs) {
  Error error{.code = Code::provider_ambiguous,
              .subject = needs.front()->subject(),
              .location = needs.front()->location,
              .hint = "where that is not intended, write the same source in required_providers of all modules"};
  std::vector<std::string> names;
  for (const ProviderNeed* need : needs) {
    names.push_back(need->address.to_string());
    if (!need->location.path.empty()) {
      error.related.push_back({need->who_needs_it(), need->location});
    }
  }
  error.message = fmt::format("Potential provider misconfiguration: there are multiple providers of type {} ({})", type,
                              fmt::join(names, ", "));
  return {Severity::warning, std::move(error)};
}

}  // namespace

Diagnostics ambiguous_providers(const ProviderPlanRequest& request) {
  if (request.tool != ClientKind::opentofu || request.hashes == HashSet::providers_lock) {
    return {};
  }
  std::map<std::string, std::vector<const ProviderNeed*>> by_type;
  for (const ProviderNeed& need : request.needs) {
    if (need.address.name_space() == "hashicorp" || need.address.name_space() == "opentofu") {
      by_type[need.address.type()].push_back(&need);
    }
  }
  Diagnostics warnings;
  for (const auto& [type, needs] : by_type) {
    if (needs.size() > 1) {
      warnings.push_back(ambiguous(type, needs));
    }
  }
  return warnings;
}

Diagnostics registry_notices(const ProviderNeed& need, const ProviderListing& listing) {
  Diagnostics notices;
  for (const std::string& text : listing.warnings) {
    notices.push_back(
        {Severity::warning,
         Error{.code = Code::registry_notice,
               .message =
                   fmt::format("the registry says of provider {}: {}", need.address.to_string(), escape_controls(text)),
               .subject = need.subject(),
               .location = need.location,
               .hint = "the lock is as good as without that; decide whether to keep using the provider"}});
  }
  return notices;
}

Diagnostics ages_not_asked(const std::vector<Change>& changes) {
  Diagnostics warnings;
  for (const Change& change : changes) {
    if (change.action == Action::added || change.action == Action::updated) {
      warnings.push_back({Severity::warning,
                          Error{.code = Code::setting_unserved,
                                .message = fmt::format("minimum_release_age is for modules: {} is locked to {} however "
                                                       "new that is, as a client takes it",
                                                       change.subject, change.to->version.value_or("")),
                                .subject = change.subject,
                                .hint = "review it before committing the lock, or constrain the provider"}});
    }
  }
  return warnings;
}

Diagnostic incomplete_lock(const std::vector<std::string>& names, std::span<const Platform> platforms) {
  std::vector<std::string> known;
  std::transform(platforms.begin(), platforms.end(), std::back_inserter(known),
                 [](const Platform& platform) { return platform.to_string(); });
  return {Severity::warning,
          Error{.code = Code::lock_incomplete,
                .message = fmt::format("Incomplete lock file information for providers: of {} the lock file has the "
                                       "checksums for {} alone, because no registry was asked",
                                       fmt::join(names, ", "), fmt::join(known, ", ")),
                .hint = "on another platform the client will refuse them; name all platforms with --platform, or let "
                        "--hashes providers-lock ask the registry"}};
}

}  // namespace modlock
