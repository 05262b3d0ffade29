#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plugin/resolve/plan.h"

namespace modlock {

// How long a version must have been known before it is chosen. What the configuration names itself (a tag, a commit, a
// version exactly), what is locked and what is installed already is taken all the same.

// The rule of the settings for a source: the nearest one of the checkout and the first one of the user's file whose
// glob matches and which sets an age. Of the two the longer one: a checkout cannot shorten the age that its user asks
// for. Null: none.
const SourceRule* age_rule(const Settings& settings, const Source& source);

// What holds for a call: PlanRequest::minimum_release_age, else the rule; zero: nothing.
std::chrono::seconds minimum_age(const PlanRequest& request, const ModuleNode& node);

// Whether a constraint admits one version alone.
bool names_one_version(std::span<const ConstraintUse> uses);

// "72h", "1h30m", "0s".
std::string age_text(std::chrono::seconds age);

// What is said of something taken for a call although the settings (or the request) ask for something older: when it
// was first seen, and what is asked for. nullopt: it is as old as that.
std::optional<std::string> age_exception(const PlanRequest& request, const ModuleNode& node, SourceFetcher::Time since,
                                         SourceFetcher::Time now);

// Why something newly locked is taken all the same: "it is what is installed".
std::string why_taken(const Change& change, const ModuleNode& node);

// Goes through what a plan newly locks: notes when it was first seen, and where that is younger than the settings (or
// the request) ask for, names the exception in the reason of the change and warns (SETTING_UNSERVED, at the rule).
void name_young_releases(const PlanRequest& request, Plan& plan, const SourceFetcher& fetcher);

}  // namespace modlock
