#pragma once

#include <json/value.h>

#include <cstdint>
#include <string>
#include <vector>

#include "protocol/base/error.h"
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

// `workspace/roots`: the root modules in and below a directory, as `--recursive` finds them.
struct WorkspaceRootsParams {
  std::string directory;
  std::vector<std::string> root_globs;
  std::vector<std::string> exclude;
};
template <typename Form>
void fields(Form& form, In<Form, WorkspaceRootsParams> params) {
  form.member("directory", params.directory,
              "the directory to search: absolute, its `file://` URI, or one relative to the first workspace root");
  form.optional("rootGlobs", params.root_globs,
                "as the setting `roots`: globs, relative to `directory`, of directories that are root modules");
  form.optional("exclude", params.exclude, "as the setting `exclude`: globs of those that are not");
}

// A directory that would be a root without a glob that excludes it.
struct ExcludedRoot {
  std::string root;
  std::string by;  // "exclude in /repo/.tofu-modlock.hcl:3", "--exclude live/old"
};
constexpr TypeName name_of(const ExcludedRoot*) {
  return {"ExcludedRoot", "A root module that is left out."};
}
template <typename Form>
void fields(Form& form, In<Form, ExcludedRoot> excluded) {
  form.member("root", excluded.root, "its absolute directory");
  form.member("by", excluded.by, "the glob that excludes it, and its location, in words");
}

// A directory that would be a root if no other one called it.
struct CalledModule {
  std::string directory;
  std::string by;
};
constexpr TypeName name_of(const CalledModule*) {
  return {"CalledModule", "A directory that is not a root module because another one calls it."};
}
template <typename Form>
void fields(Form& form, In<Form, CalledModule> called) {
  form.member("directory", called.directory, "absolute");
  form.member("by", called.by, "the absolute directory of a module, or of a unit of Terragrunt, that calls it");
}

struct WorkspaceRootsResult {
  std::vector<std::string> roots = {};
  std::vector<ExcludedRoot> excluded = {};
  std::vector<CalledModule> called = {};
  std::uint64_t not_on_disk = 0;
  bool has_units = false;
  Diagnostics diagnostics = {};
};
template <typename Form>
void fields(Form& form, In<Form, WorkspaceRootsResult> result) {
  form.member("roots", result.roots, "absolute directories without symbolic links, sorted, for the other methods");
  form.member("excluded", result.excluded, "sorted");
  form.member("called", result.called, "sorted: directories that would be root modules if no other one called them");
  form.member("notOnDisk", result.not_on_disk, "how many directories with configuration a sparse checkout leaves out");
  form.member("hasUnits", result.has_units, "there are Terragrunt units, which are not among the root modules");
  form.member("diagnostics", result.diagnostics,
              "a warning for each glob of root modules that matches no directory, and for files of a sparse checkout "
              "that are not in a partial clone");
}

}  // namespace modlock::messages
