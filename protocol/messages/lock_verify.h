#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/messages/lock_plan.h"

namespace modlock::messages {

struct LockVerifyParams {
  RootParams root;
  LockParams lock;
  bool online = false;
  bool full = false;
  bool strict = false;
  bool age = false;
  Include include;
  bool names_ignored = false;  // not sent: also warn of lock files and settings that git ignores
};
template <typename Form>
void fields(Form& form, In<Form, LockVerifyParams> params) {
  form.include(params.root);
  form.optional("lock", params.lock, "the lock to compare with; absent: the one on disk");
  form.optional("online", params.online,
                "also query the sources: whether locked versions moved or were deleted, and which "
                "newer ones exist");
  form.optional(
      "full", params.full,
      "hash every file again, also those that did not change since the last time; with online, download archives whose "
      "server states that they are unchanged");
  form.optional("strict", params.strict, "count every differing file, and calls that cannot be locked yet");
  form.optional(
      "age", params.age,
      "also query the sources: whether the locked releases are older than the minimum release age of the settings");
  form.optional("include", params.include, "absent: both");
}

// The state of one locked module or provider, from best to worst. If several apply, the last one is used.
enum class VerdictKind {
  held,
  update_available,
  not_locked,
  missing,
  stale,
  too_new,
  vanished,
  moved,
  tampered,
  denied
};
constexpr std::array<std::string_view, 10> names_of(const VerdictKind*) {
  return {"held",    "update-available", "not-locked", "missing",  "stale",
          "too-new", "vanished",         "moved",      "tampered", "denied"};
}

struct Verdict {
  std::string subject = {};
  VerdictKind kind = VerdictKind::held;
  // From the lock entry: the source, version and origin ("git:…") of a module, the version of a provider.
  std::string source = {};
  std::optional<std::string> version = {};
  std::string origin = {};
  // The locked and the found value: hashes of the installed package ("h1:…"); the two directories if modules.json names
  // another one; the old and the new id of a reference that moved or has new commits ("git:…", "oci:…"); the two
  // versions if a newer one is available. Empty if there is none.
  std::string expected = {};
  std::string actual = {};
  std::string detail = {};              // one sentence; empty for a held without remarks
  std::vector<std::string> paths = {};  // the first differing files, each with its change
  std::size_t more_paths = 0;           // the number of further differing files
  // For a git reference that points to another commit: whether that commit descends from the locked one, and how many
  // commits it is ahead. Absent: unknown.
  std::optional<bool> descends = {};
  std::optional<std::size_t> commits_behind = {};
  std::optional<Location> location = {};  // the call if it is in the root or a local module, else the lock's block
  // Not sent: a better kind that applies too; whether the lock entry contradicts itself, so that no package can match
  // it; and two further facts.
  VerdictKind other = VerdictKind::held;
  bool is_lock_wrong = false;
  bool is_too_new = false;       // also if another verdict is worse
  std::string replaced_by = {};  // the directory whose copy is installed instead: "../vpc"
  bool is_unlockable = false;    // no backend serves the source, so `lock` cannot add an entry
};

struct LockVerifyResult {
  bool ok = true;
  std::vector<Verdict> verdicts;
  Diagnostics diagnostics;
  std::optional<CheckedFor> checked_for = {};
  bool is_of_terragrunt = false;  // not sent: the verdicts are on what is in its cache, and its `init` mends them
};

constexpr TypeName name_of(const Verdict*) {
  return {"Verdict",
          "The result of the comparison of one installed module or provider with the lock. If "
          "several apply to one subject, the worst is shown."};
}
template <typename Form>
void fields(Form& form, In<Form, Verdict> verdict) {
  form.member("subject", verdict.subject, "`module.vpc.nested`, `provider.HOST/NAMESPACE/TYPE`");
  form.member("verdict", verdict.kind, "update-available is never an error");
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
  form.optional(
      "checkedFor", result.checked_for,
      "the client that was checked, if only the checkout declares it and addresses without a host depend on it");
}

}  // namespace modlock::messages
