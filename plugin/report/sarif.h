#pragma once

#include <json/value.h>

#include <string>

#include "protocol/base/result.h"
#include "protocol/messages/lock_verify.h"
#include "protocol/messages/update_diff.h"

namespace modlock {

// Returns one run of SARIF 2.1.0 (OASIS) for the lock/verify result of one root: a result per verdict other than held,
// a notification per diagnostic, and one for the error if verifying failed. Paths are relative to `base` (%SRCROOT%),
// an absolute directory that contains the root. Regions are lines and bytes; the columns of tofu-modlock count
// displayed characters, which SARIF cannot express.
Json::Value sarif_run(const Result<messages::LockVerifyResult>& result, const std::string& root,
                      const std::string& base, int exit_code);

// The same for a diff: each finding is a result, at the call if the call has to change, else at the lock file.
Json::Value sarif_run(const Result<messages::UpdateDiffResult>& result, const std::string& root,
                      const std::string& base, int exit_code);

// Returns the log file of these runs. A note that is not empty is added to the first.
Json::Value sarif_log(Json::Value runs, const std::string& note = {});

}  // namespace modlock
