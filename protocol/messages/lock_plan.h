#pragma once

#include <optional>
#include <string>
#include <vector>

#include "protocol/messages/root_params.h"
#include "protocol/messages/stats.h"
#include "protocol/messages/workspace_edit.h"

namespace modlock::messages {

// The lock file to work on: its place, and its text where the host has another one than the disk.
struct LockParams {
  std::optional<std::string> path;
  std::optional<std::string> text;
};
LockParams decode_lock(ObjectReader& in);

// `include`: which kinds of things a request is about. Absent: all of them.
struct Include {
  bool modules = true;
  bool providers = true;
};
Include decode_include(ObjectReader& in);

struct LockPlanParams {
  RootParams root;
  LockParams lock;
  std::string mode = "missing";  // "upgrade", "frozen"
  std::vector<std::string> targets;
  Include include;
  std::vector<std::string> platforms;     // "linux_amd64"
  std::string hashes = "superset";        // "init", "providers-lock"
  std::optional<std::string> resolution;  // "auto", "unified", "per-call"
  std::vector<std::string> allow;
  std::vector<std::string> deny;
  bool adopt = true;
  std::optional<std::string> minimum_release_age;  // "72h"
};
Result<LockPlanParams> decode_lock_plan(const Json::Value& params, std::vector<std::string>& unknown);

struct ChangeSide {
  std::optional<std::string> version;
  std::string ref;
  std::string commit;
  std::string digest;
};

struct Change {
  std::string subject;
  std::string action;
  std::optional<ChangeSide> from;
  std::optional<ChangeSide> to;
  std::optional<std::string> constraints;
  std::string reason;
};
Json::Value encode(const Change& change);

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

// Who signed the checksums of a provider's release.
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

struct LockPlanResult {
  WorkspaceEdit edits = {};
  std::vector<Change> changes = {};
  std::vector<LockedModule> modules = {};
  std::vector<LockedProvider> providers = {};
  Diagnostics diagnostics = {};
  RunStats stats = {};
};
Json::Value encode(const LockPlanResult& result);

}  // namespace modlock::messages
