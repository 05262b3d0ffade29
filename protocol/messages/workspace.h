#pragma once

#include <json/value.h>

#include <cstdint>
#include <string>
#include <vector>

#include "protocol/messages/root_params.h"

namespace modlock::messages {

// The number of roots that are processed in parallel, from 1 to 64. Roots mostly wait for the network, and the
// concurrent requests of each one are limited.
struct Jobs {
  std::uint64_t count = 8;
};
Json::Value schema_of(const Jobs*);
void read_member(ObjectReader& in, const char* name, Jobs& jobs);

// `workspace/plan`, `workspace/verify` and `workspace/install`: the params of `lock/plan`, `lock/verify` or
// `modules/install` for every one of `roots`.
struct WorkspaceParams {
  std::vector<std::string> roots;
  Jobs jobs;
};
template <typename Form>
void fields(Form& form, In<Form, WorkspaceParams> params) {
  form.member("roots", params.roots,
              "at least one root module, each as a `root`; in addition all params of the method except `root`");
  form.check([&](ObjectReader& in) {
    if (params.roots.empty()) {
      in.reject("roots", "expected one root at least");
    }
  });
  form.optional("jobs", params.jobs, "the number of root modules to process in parallel; 8 if absent");
}

// The result of one root: `root` and the members of the method's result, or `error`.
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
