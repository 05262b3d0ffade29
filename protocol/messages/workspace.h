#pragma once

#include <json/value.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "protocol/messages/stats.h"

namespace modlock::messages {

// `workspace/plan`, `workspace/verify` and `workspace/install`: the params of `lock/plan`, `lock/verify` or
// `modules/install` for every one of `roots`.
struct WorkspaceParams {
  std::vector<std::string> roots;
  std::optional<std::uint64_t> jobs;
};
inline constexpr std::uint64_t kMostJobs = 64;
template <typename Form>
void fields(Form& form, In<Form, WorkspaceParams> params) {
  form.member("roots", params.roots, "root modules, one at least; beside them all params of the method but `root`");
  form.optional("jobs", params.jobs, "how many roots are worked on at the same time, 1 to 64; 8 where it is left out");
  form.check([&](ObjectReader& in) {
    if (params.roots.empty()) {
      in.reject("roots", "expected one root at least");
    }
    if (params.jobs && (*params.jobs < 1 || *params.jobs > kMostJobs)) {
      in.reject("jobs", "expected a number from 1 to 64");
    }
  });
}

// What came of one root: `root` and the members of the method's result, or `error`.
struct WorkspaceEntry {
  Json::Value members;
};
Json::Value json_of(const WorkspaceEntry& entry);
Json::Value schema_of(const WorkspaceEntry*);

struct WorkspaceResult {
  std::vector<WorkspaceEntry> results = {};
  RunStats stats = {};
};
template <typename Form>
void fields(Form& form, In<Form, WorkspaceResult> result) {
  form.member("results", result.results, "in the order of the roots: `root` with the result of the method, or `error`");
  form.member("stats", result.stats, "of all roots");
}

}  // namespace modlock::messages
