#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/messages/root_params.h"
#include "protocol/messages/workspace_edit.h"

namespace modlock::messages {

// The lock file to use: its path, and its text if the host's text differs from the file on disk.
struct LockParams {
  std::optional<std::string> path;
  std::optional<std::string> text;
};
template <typename Form>
void fields(Form& form, In<Form, LockParams> lock) {
  form.optional("path", lock.path, "another name inside the root");
  form.optional("text", lock.text, "a text that differs from the one on disk");
}
constexpr TypeName name_of(const LockParams*) {
  return {"LockSource", "The lock file to work on."};
}

// `include`: which kinds of things a request is about. Absent: all of them.
struct Include {
  bool modules = true;
  bool providers = true;
};
Json::Value schema_of(const Include*);
void read_member(ObjectReader& in, const char* name, Include& include);

// Which locked versions may change: none that the constraints allow, those of the targets, or none at all.
enum class PlanMode { missing, upgrade, frozen };
constexpr std::array<std::string_view, 3> names_of(const PlanMode*) {
  return {"missing", "upgrade", "frozen"};
}

// The hashes of a provider that are written to the lock file.
enum class HashSet {
  superset,       // all that a client may add on any of the platforms
  init,           // those that `init` of the client writes if nothing is installed yet
  providers_lock  // those that `providers lock -platform=…` of the client writes
};
constexpr std::array<std::string_view, 3> names_of(const HashSet*) {
  return {"superset", "init", "providers-lock"};
}

struct LockPlanParams {
  RootParams root;
  LockParams lock;
  PlanMode mode = PlanMode::missing;
  std::vector<std::string> targets;
  Include include;
  std::vector<std::string> platforms;  // "linux_amd64"
  HashSet hashes = HashSet::superset;
  std::optional<std::string> resolution;  // "auto", "unified", "per-call"
  std::vector<std::string> allow;
  std::vector<std::string> deny;
  bool adopt = true;
  bool accept_moved = false;
  std::optional<std::string> minimum_release_age;  // "72h"
  // Not sent: the revision whose differences selected the targets. The user did not name them.
  std::optional<std::string> since = {};
};

template <typename Form>
void fields(Form& form, In<Form, LockPlanParams> params) {
  form.include(params.root);
  form.optional("lock", params.lock, "the lock to start from; absent: the one on disk");
  form.optional("mode", params.mode,
                "missing (default): locked versions that are allowed stay; upgrade: the newest "
                "version that is allowed; frozen: FROZEN if anything would change");
  form.optional("targets", params.targets, "subjects, used only by upgrade: these and the modules that they call");
  form.optional("include", params.include, "absent: both; the other one stays unchanged");
  form.optional("platforms", params.platforms,
                "for which platforms providers are locked, `linux_amd64`; absent: those of "
                "the settings, else this machine");
  form.optional("hashes", params.hashes,
                "which hashes of providers: all that any client may want to add (default), those "
                "of `init`, or those of `providers lock`");
  form.optional_group("policy", "how versions are chosen", [&](auto& policy) {
    policy.optional("resolution", params.resolution,
                    "auto (default): calls of one git or OCI package share a version; "
                    "unified: those of every source; per-call: each its own",
                    {"auto", "unified", "per-call"});
    policy.optional("allow", params.allow, "globs on source identities; they only narrow what the settings allow");
    policy.optional("deny", params.deny, "globs on source identities that are refused");
    policy.optional("minimumReleaseAge", params.minimum_release_age,
                    "select only versions that were first seen at least this long ago, `3d`");
    policy.optional("adopt", params.adopt, "whether a first lock keeps the installed versions; true if absent");
    policy.optional("acceptMoved", params.accept_moved,
                    "lock the commit that a moved tag points to now: with upgrade also without targets, "
                    "with missing by resolving every tag again; false if absent");
  });
}

enum class Action {
  added,
  updated,
  removed,
  adopted,
  restored,
  renamed,
  moved,
  hashes_added,
  constraints_changed,
  source_changed,
  reordered,
  merged
};
constexpr std::array<std::string_view, 12> names_of(const Action*) {
  return {"added",          "updated",      "removed",
          "adopted",        "restored",     "renamed",
          "moved",          "hashes-added", "constraints-changed",
          "source-changed", "reordered",    "merged"};
}

struct ChangeSide {
  std::optional<std::string> version = {};
  std::string ref = {};
  std::string commit = {};
  std::string digest = {};
  std::string checksum = {};
};

struct Change {
  std::string subject;
  std::string previous_subject = {};  // of a renamed or moved call
  Action action = Action::added;
  std::optional<ChangeSide> from = {};
  std::optional<ChangeSide> to = {};
  std::optional<std::string> constraints = {};  // in effect now, for people
  std::string reason = {};
  bool is_made_by_lock = true;  // false: the obstacle under frozen, and `lock` cannot help
  bool is_exception = false;    // from the minimum release age
};

constexpr TypeName name_of(const ChangeSide*) {
  return {"Selection", "What is selected for a subject."};
}
template <typename Form>
void fields(Form& form, In<Form, ChangeSide> side) {
  form.optional("version", side.version, "the version");
  form.optional("ref", side.ref, "the branch or tag that the call names");
  form.optional("commit", side.commit, "the commit of a git source");
  form.optional("digest", side.digest, "the digest of an OCI source");
  form.optional("checksum", side.checksum, "the SHA-256 of an archive, in hexadecimal digits");
}

constexpr TypeName name_of(const Change*) {
  return {"Change", "The change of one lock entry."};
}
template <typename Form>
void fields(Form& form, In<Form, Change> change) {
  form.member("subject", change.subject, "`module.vpc.nested`, `provider.HOST/NAMESPACE/TYPE`");
  form.optional("previousSubject", change.previous_subject, "of a renamed or moved call: its subject until now");
  form.member("action", change.action, "what happens");
  form.optional("from", change.from, "the locked version before");
  form.optional("to", change.to, "what will be locked");
  form.optional("constraints", change.constraints, "on the version, as the lock records them");
  form.member("reason", change.reason, "why, for people");
}

struct LockedModule {
  std::string key;
  std::string source;
  std::optional<std::string> version;
  std::string ref;
  std::string commit;
  std::string digest;
  std::optional<std::string> constraints;
  std::vector<std::string> hashes;
};

// The signer of a provider release's checksums.
struct Signature {
  std::string status = "unasked";  // "signed", "skipped" (no key is published), "none" (a mirror)
  std::string key_id = {};
};

struct LockedProvider {
  std::string address;
  std::string version;
  std::string constraints;  // empty: none
  std::vector<std::string> hashes;
  Signature signature = {};
};

// A module call whose tag was moved and whose locked content is kept.
struct HeldMove {
  std::string subject;
  std::string locked;   // origin hash: "git:…", "oci:sha256:…"
  std::string offered;  // what the tag points to now
};

// The client that a check is for, if only the checkout declares it and module addresses without a host depend on it.
struct CheckedFor {
  std::string client;  // "opentofu" or "terraform"
  std::string from;    // "lock file"
};
constexpr TypeName name_of(const CheckedFor*) {
  return {"CheckedFor", "The client that the result is valid for, if only the checkout declares it."};
}
template <typename Form>
void fields(Form& form, In<Form, CheckedFor> checked) {
  form.member("client", checked.client, "its name", {"opentofu", "terraform"});
  form.member("from", checked.from, "what declares it, in words");
}

struct LockPlanResult {
  WorkspaceEdit edits = {};
  std::vector<Change> changes = {};
  std::vector<HeldMove> moved = {};
  std::vector<LockedModule> modules = {};
  std::vector<LockedProvider> providers = {};
  Diagnostics diagnostics = {};
  RunStats stats = {};
  std::optional<CheckedFor> checked_for = {};
};

constexpr TypeName name_of(const LockedModule*) {
  return {"LockedModule", "The entry of a module call in the new lock."};
}
template <typename Form>
void fields(Form& form, In<Form, LockedModule> module) {
  form.member("key", module.key, "the names of the call from the root down");
  form.member("source", module.source, "OpenTofu's own form");
  form.optional("version", module.version, "the version");
  form.optional("ref", module.ref, "the branch or tag that the call names");
  form.optional("commit", module.commit, "the commit of a git source");
  form.optional("digest", module.digest, "the digest of an OCI source");
  form.optional("constraints", module.constraints, "on the version");
  form.member("hashes", module.hashes, "of the package");
}

constexpr TypeName name_of(const Signature*) {
  return {"Signature", "Who signed the checksums of a provider's release."};
}
template <typename Form>
void fields(Form& form, In<Form, Signature> signature) {
  form.member("status", signature.status,
              "skipped: no key is published, and the client requires none; none: a mirror; unasked: "
              "the locked hashes were sufficient",
              {"signed", "skipped", "none", "unasked"});
  form.optional("keyId", signature.key_id, "of the key that signed");
}

constexpr TypeName name_of(const LockedProvider*) {
  return {"LockedProvider", "The entry of a provider in the new lock."};
}
template <typename Form>
void fields(Form& form, In<Form, LockedProvider> provider) {
  form.member("address", provider.address, "`HOST/NAMESPACE/TYPE`");
  form.member("version", provider.version, "the version");
  form.optional("constraints", provider.constraints, "all constraints on it, as the client writes them");
  form.member("hashes", provider.hashes, "of its packages");
  form.member("signature", provider.signature, "of the release");
}

constexpr TypeName name_of(const HeldMove*) {
  return {"HeldMove", "A module call whose tag was moved and whose locked content is kept."};
}
template <typename Form>
void fields(Form& form, In<Form, HeldMove> move) {
  form.member("subject", move.subject, "`module.vpc.nested`");
  form.member("locked", move.locked, "the origin hash that stays locked, `git:<commit>`");
  form.member("offered", move.offered, "the origin hash of what the tag points to now");
}

template <typename Form>
void fields(Form& form, In<Form, LockPlanResult> result) {
  form.member("edits", result.edits, "what would change; nothing is written");
  form.member("changes", result.changes, "a reason for every change");
  form.optional("moved", result.moved, "the module calls that upgrade did not change because their tag was moved");
  form.member("modules", result.modules, "every module call of the new lock");
  form.member("providers", result.providers, "every provider of the new lock");
  form.member("diagnostics", result.diagnostics, "warnings, and errors of parts");
  form.member("stats", result.stats, "the requests and the time");
  form.optional("checkedFor", result.checked_for,
                "under frozen: the client that was checked, if only the checkout declares it and addresses without a "
                "host depend on it");
}

}  // namespace modlock::messages
