#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "protocol/messages/lock_plan.h"

namespace modlock::messages {

struct UpdateLookupParams {
  RootParams root;
  LockParams lock;
  std::vector<std::string> subjects;
};
template <typename Form>
void fields(Form& form, In<Form, UpdateLookupParams> params) {
  form.include(params.root);
  form.optional("lock", params.lock, "the lock to start from; absent: the one on disk");
  form.optional("subjects", params.subjects, "only these; absent: every call and every required provider");
}

struct AvailableUpdate {
  std::string new_version;
  std::string new_value = {};
  std::string update_type = {};
  std::int64_t new_major = 0;
  std::int64_t new_minor = 0;
  std::string new_digest = {};
  bool is_breaking = false;
  bool is_lockfile_update = false;
};
constexpr TypeName name_of(const AvailableUpdate*) {
  return {"AvailableUpdate", "A way up from the current version."};
}
template <typename Form>
void fields(Form& form, In<Form, AvailableUpdate> update) {
  form.member("newVersion", update.new_version, "what `update/plan` takes");
  form.optional("newValue", update.new_value, "the new value in the configuration");
  form.member("updateType", update.update_type, "the first number that differs", {"major", "minor", "patch"});
  form.member("newMajor", update.new_major, "the first number");
  form.member("newMinor", update.new_minor, "the second number");
  form.optional("newDigest", update.new_digest, "a commit or a digest, if the listing has it");
  form.member("isBreaking", update.is_breaking, "whether it is a major one");
  form.member("isLockfileUpdate", update.is_lockfile_update, "the configuration stays as it is");
}

// Names and meanings are Renovate's (its LookupResult and SkipReason).
struct LookedUpDependency {
  std::string subject;
  std::string dep_type = {};
  std::string dep_name = {};
  std::string datasource = {};
  std::string package_file = {};
  std::optional<Range> range = {};
  std::string current_value = {};
  std::string current_version = {};
  std::string current_digest = {};
  std::string locked_version = {};
  std::string ref = {};
  std::string origin = {};
  std::string reference_now = {};
  bool is_moved = false;
  std::vector<AvailableUpdate> updates = {};
  std::string pinned_by = {};
  std::string skip_reason = {};  // empty: it was looked up, or a diagnostic of the tree has the reason
};
constexpr TypeName name_of(const LookedUpDependency*) {
  return {"Dependency", "A module call or a provider with its available updates, in Renovate's terms."};
}
template <typename Form>
void fields(Form& form, In<Form, LookedUpDependency> dependency) {
  form.member("subject", dependency.subject, "`module.vpc.nested`, `provider.HOST/NAMESPACE/TYPE`");
  form.member("depType", dependency.dep_type, "the kind of dependency", {"module", "required_provider"});
  form.optional("depName", dependency.dep_name, "its source, or the provider without the default host");
  form.optional("datasource", dependency.datasource, "where its versions come from",
                {"terraform-module", "git-tags", "docker", "terraform-provider"});
  form.optional("packageFile", dependency.package_file, "where its version is decided");
  form.optional("range", dependency.range, "the place in it");
  form.optional("currentValue", dependency.current_value,
                "the value in the configuration: a constraint, a tag, a commit");
  form.optional("currentVersion", dependency.current_version,
                "the locked version, otherwise the one that the configuration names or selects");
  form.optional("currentDigest", dependency.current_digest, "if the configuration names it");
  form.optional("lockedVersion", dependency.locked_version, "the locked version");
  form.optional("ref", dependency.ref, "the branch, tag or commit that the source names");
  form.optional("origin", dependency.origin, "the commit or digest that is locked, `git:8f2c…`, `oci:sha256:…`");
  form.optional("referenceNow", dependency.reference_now,
                "what the locked tag or branch points to now, if that is not `origin` and the response has it");
  form.optional("isMoved", dependency.is_moved, "whether it is a full tag, which should not move");
  form.member("updates", dependency.updates, "at most one below the next major number and one beyond it");
  form.optional("pinnedBy", dependency.pinned_by,
                "the call whose package allows no newer version of this one, although there is one");
  form.optional(
      "skipReason", dependency.skip_reason, "why it was not looked up",
      {"local", "unsupported-datasource", "contains-variable", "unversioned-reference", "unspecified-version"});
}

struct UpdateLookupResult {
  std::vector<LookedUpDependency> dependencies = {};
  Diagnostics diagnostics = {};
  RunStats stats = {};
};
template <typename Form>
void fields(Form& form, In<Form, UpdateLookupResult> result) {
  form.member("dependencies", result.dependencies, "modules by key, then providers by address");
  form.member("diagnostics", result.diagnostics, "for example a source that does not respond");
  form.member("stats", result.stats, "the requests and the time");
}

}  // namespace modlock::messages
