#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plugin/resolve/plan.h"
#include "plugin/resolve/source_fetcher.h"

namespace modlock {

struct RejectedVersion {
  std::string version;
  std::string why;
};

// One thing that takes part in the decision, and what it makes of what the steps before it have kept.
struct ExplainedStep {
  std::string constraint;    // as written, or what it is in words
  std::string subject = {};  // of the call that it belongs to; empty: of none
  std::optional<Location> location = {};
  std::vector<std::string> kept = {};          // versions, newest first; commits and digests where there are none
  std::vector<RejectedVersion> rejected = {};  // in the same order
};

// Why a call has what it has.
struct Explanation {
  const ModuleLock* selected = nullptr;  // of the plan; null: nothing is locked for such a call
  std::string source;                    // Source::identity()
  std::string ref;                       // where it was found, as far as that is known
  std::optional<SourceFetcher::Time> first_seen;
  std::string reason;  // a sentence's end
  std::vector<ExplainedStep> chain;
  Diagnostics diagnostics;  // what could not be told
};

struct ExplainRequest {
  const PlanRequest& plan_request;
  const Plan& plan;
  std::string subject;    // "module.vpc.nested"
  std::string lock_path;  // for locations
};

// Explains one call of a plan: the constraints of all calls that share its version (its own first), then the age that
// is asked for, then what is locked or installed. The versions are those that the source lists now; where it cannot be
// asked that is a warning, and the chain knows the chosen version alone. The plan outlives the result. Errors:
// INVALID_PARAMS (no such call); cancellation.
Result<Explanation> explain(const ExplainRequest& request, SourceFetcher& fetcher, const Context& context);

// Explains a call for which no version satisfies the constraints of all calls that share it: `plan` is the one that
// gives each call its own version, `plan_request` the one that failed. Nothing is selected, and the chain ends with the
// constraint that leaves nothing. nullopt: the call is not part of such a conflict.
std::optional<Explanation> explain_conflict(const ExplainRequest& request, SourceFetcher& fetcher);

}  // namespace modlock
