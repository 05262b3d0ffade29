#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>

#include "plugin/resolve/plan.h"

namespace modlock {

// The minimum release age of versions. It does not apply to versions that the configuration names itself (a tag, a
// commit, an exact version), nor to locked and installed ones.

// The minimum age for a source or a provider.
struct AgeLimit {
  const SourceText* rule = nullptr;                    // of the settings, which outlive this; null: none
  std::optional<std::chrono::seconds> requested = {};  // replaces it for one run

  // Returns the age that a version needs to be selected; zero: none.
  std::chrono::seconds minimum() const;
  // Returns the longer age. A version that is selected although it is newer is an exception.
  std::chrono::seconds wanted() const;
};

// Return the limit of the settings. Candidates are the nearest rule of the checkout and the first rule of the user's
// file whose glob matches and which sets an age. The longer age applies: a checkout cannot shorten the age that its
// user sets. The requested age is that of the settings.
AgeLimit age_limit(const Settings& settings, const Source& source);
AgeLimit age_limit(const Settings& settings, const ProviderAddress& provider);

// Returns whether a constraint allows exactly one version.
bool names_one_version(std::span<const ConstraintUse> uses);

// Formats an age: "3d" for whole days, "25h", "1h30m", "0s".
std::string age_text(std::chrono::seconds age);

// Returns the message for content that was selected although it is newer than the longer age of a limit: when it was
// first seen, or the later date that its publisher claims, and the minimum age. nullopt: it is old enough.
std::optional<std::string> age_exception(const AgeLimit& limit, SourceFetcher::Time since,
                                         std::optional<SourceFetcher::Time> claimed, SourceFetcher::Time now);

// Marks a change as an exception, adds it to the reason, and returns its warning (SETTING_UNSERVED, at the rule, or
// else at `where`). `name`: `module "vpc"`.
Diagnostic name_exception(Change& change, const std::string& name, const std::string& exception, const std::string& why,
                          const AgeLimit& limit, const std::optional<Location>& where);

// Returns why newly locked content is used despite its age: "it is already installed".
std::string why_taken(const Change& change, const ModuleNode& node);

// Returns why a version is not old enough: "first seen at 2026-11-21T20:05:09Z".
std::string youth_text(SourceFetcher::Time since, SourceFetcher::Time now);

// Returns since when the locked content of a call is known: an id since it was first seen under any name. A lock file
// may name what its source does not have yet: an id is recorded only if the cache has its package, and a version
// without an id under a name that no listing has. Errors: those of a listing.
Result<SourceFetcher::Time> locked_since(const ModuleNode& node, const ModuleLock& entry, SourceFetcher& fetcher);

// Records when the newly locked content of a plan was first seen. If it is newer than the minimum age of the settings
// or the request, adds the exception to the reason of the change and warns (SETTING_UNSERVED, at the rule).
void warn_about_young_releases(const PlanRequest& request, Plan& plan, const SourceFetcher& fetcher);

}  // namespace modlock
