#pragma once

#include <optional>
#include <string>
#include <vector>

#include "protocol/messages/lock_plan.h"

namespace modlock::messages {

struct ModulesInstallParams {
  RootParams root;
  LockParams lock;
  std::optional<bool> overrides;
  std::optional<bool> offline;
};
Result<ModulesInstallParams> decode_modules_install(const Json::Value& params, std::vector<std::string>& unknown);

struct InstalledModule {
  std::string key;
  std::string dir;
  std::string h1;
};

struct ModulesInstallResult {
  std::vector<InstalledModule> installed;
  std::vector<InstalledModule> reused;
  std::vector<InstalledModule> removed;
  std::string manifest;
  Diagnostics diagnostics;
  RunStats stats;
};
Json::Value encode(const ModulesInstallResult& result);

}  // namespace modlock::messages
