#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "protocol/messages/lock_plan.h"

namespace modlock::messages {

struct LockVerifyParams {
  RootParams root;
  LockParams lock;
  bool online = false;
  bool full = false;
  bool strict = false;
  Include include;
};
template <typename Form>
void fields(Form& form, In<Form, LockVerifyParams> params) {
  form.include(params.root);
  form.optional("lock", params.lock, "the lock to compare with; absent: the one on disk");
  form.optional("online", params.online,
                "also query the sources: whether locked versions moved or were deleted, and which "
                "newer ones exist");
  form.optional("full", params.full, "hash every file again, also those that did not change since the last time");
  form.optional("strict", params.strict, "count every differing file, and calls that cannot be locked yet");
  form.optional("include", params.include, "absent: both");
}

struct Verdict {
  std::string subject;
  std::string verdict;
  std::string source;
  std::optional<std::string> version;
  std::string origin;
  std::string expected;
  std::string actual;
  std::string detail;
  std::vector<std::string> paths;
  std::size_t more_paths = 0;
  std::optional<bool> descends = {};
  std::optional<std::size_t> commits_behind = {};
  std::optional<Location> location = {};
};

struct LockVerifyResult {
  bool ok = true;
  std::vector<Verdict> verdicts;
  Diagnostics diagnostics;
};

constexpr TypeName name_of(const Verdict*) {
  return {"Verdict",
          "The result of the comparison of one installed module or provider with the lock. If "
          "several apply to one subject, the worst is shown."};
}
template <typename Form>
void fields(Form& form, In<Form, Verdict> verdict) {
  form.member("subject", verdict.subject, "`module.vpc.nested`, `provider.HOST/NAMESPACE/TYPE`");
  form.member(
      "verdict", verdict.verdict, "update-available is never an error",
      {"held", "update-available", "moved", "vanished", "tampered", "denied", "stale", "missing", "not-locked"});
  form.optional("source", verdict.source, "of a locked module");
  form.optional("version", verdict.version, "that is locked");
  form.optional("origin", verdict.origin, "the commit or digest that is locked, `git:8f2c…`, `oci:sha256:…`");
  form.optional("expected", verdict.expected, "the hash, id or version that is locked");
  form.optional("actual", verdict.actual, "what there is instead");
  form.member("detail", verdict.detail, "for people");
  form.optional("paths", verdict.paths, "up to ten files that differ");
  form.optional("morePaths", verdict.more_paths, "how many others differ");
  form.optional("descends", verdict.descends, "whether the new commit descends from the locked one, if that is known");
  form.optional("commitsBehind", verdict.commits_behind, "by how many commits");
  form.optional("location", verdict.location, "the call in the root or a local module, else the block in the lock");
}

template <typename Form>
void fields(Form& form, In<Form, LockVerifyResult> result) {
  form.member("ok", result.ok, "only held and update-available, and every queried source responded");
  form.member("verdicts", result.verdicts, "one for each subject");
  form.member("diagnostics", result.diagnostics, "warnings, and sources that did not answer");
}

}  // namespace modlock::messages
