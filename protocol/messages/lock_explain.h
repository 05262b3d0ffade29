#pragma once

#include <optional>
#include <string>
#include <vector>

#include "protocol/messages/lock_plan.h"

namespace modlock::messages {

struct LockExplainParams {
  RootParams root;
  LockParams lock;
  std::string subject;
};
Result<LockExplainParams> decode_lock_explain(const Json::Value& params, std::vector<std::string>& unknown);

struct Rejection {
  std::string version;
  std::string why;
};

struct ExplainedStep {
  std::string constraint;
  std::string subject;
  std::optional<Location> location;
  std::vector<std::string> kept;
  std::vector<Rejection> rejected;
};

// What is selected for the subject.
struct Selected {
  std::optional<std::string> version;
  std::string ref;
  std::string commit;
  std::string digest;
  std::vector<std::string> hashes;
  std::string first_seen;  // RFC 3339; empty: unknown
  std::string reason;
};

struct LockExplainResult {
  std::string subject;
  std::string source;
  Selected selected;
  std::vector<ExplainedStep> chain = {};
  Diagnostics diagnostics = {};
};
Json::Value encode(const LockExplainResult& result);

}  // namespace modlock::messages
