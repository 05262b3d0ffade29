#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>

#include "plugin/resolve/plan.h"

namespace modlock {

// The minimum release age of versions. It does not apply to versions that the configuration names itself (a tag, a
// commit, an exact version), nor to locked and installed ones.

// Returns the rule of the settings for a source. Candidates are the nearest rule of the checkout and the first rule of
// the user's file whose glob matches and which sets an age. The longer age applies: a checkout cannot shorten the age
// that its user sets. Null: none.
const SourceRule* age_rule(const Settings& settings, const Source& source);

// Returns the age of that rule; zero: none.
std::chrono::seconds minimum_age(const Settings& settings, const Source& source);

// Returns the minimum age for a call: PlanRequest::minimum_release_age, or else the rule; zero: none.
std::chrono::seconds minimum_age(const PlanRequest& request, const ModuleNode& node);

// Returns whether a constraint allows exactly one version.
bool names_one_version(std::span<const ConstraintUse> uses);

// Formats an age: "3d" for whole days, "25h", "1h30m", "0s".
std::string age_text(std::chrono::seconds age);

// Returns the message for content that was selected for a call although it is newer than the minimum age of the
// settings or the request: when it was first seen, or the later date that its publisher claims, and the minimum age.
// nullopt: it is old enough.
std::optional<std::string> age_exception(const PlanRequest& request, const ModuleNode& node, SourceFetcher::Time since,
                                         std::optional<SourceFetcher::Time> claimed, SourceFetcher::Time now);

// Returns why newly locked content is used despite its age: "it is already installed".
std::string why_taken(const Change& change, const ModuleNode& node);

// Records when the newly locked content of a plan was first seen. If it is newer than the minimum age of the settings
// or the request, adds the exception to the reason of the change and warns (SETTING_UNSERVED, at the rule).
void name_young_releases(const PlanRequest& request, Plan& plan, const SourceFetcher& fetcher);

}  // namespace modlock
