#pragma once

#include <json/value.h>

#include <string>

#include "protocol/base/result.h"
#include "protocol/messages/lock_verify.h"

namespace modlock {

// One run of SARIF 2.1.0 (OASIS) for what lock/verify said of one root: a result per verdict that is not held, a
// notification per diagnostic, and one for the error if verifying failed. Places are relative to `base`, an
// absolute directory that holds the root: it is %SRCROOT%. Regions are lines and bytes; our columns count what a person
// sees as one character, which SARIF cannot.
Json::Value sarif_run(const Result<messages::LockVerifyResult>& result, const std::string& root,
                      const std::string& base, int exit_code);

// The log file of these runs.
Json::Value sarif_log(Json::Value runs);

}  // namespace modlock
