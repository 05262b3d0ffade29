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
Result<LockVerifyParams> decode_lock_verify(const Json::Value& params, std::vector<std::string>& unknown);

struct Verdict {
  std::string subject;
  std::string verdict;
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
Json::Value encode(const LockVerifyResult& result);

}  // namespace modlock::messages
