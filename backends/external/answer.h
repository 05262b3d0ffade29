#pragma once

#include <json/value.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/address/scrub.h"
#include "backends/backend.h"
#include "backends/tag_listing.h"
#include "protocol/base/result.h"

namespace modlock::external {

// What a backend answered to the request `id`. The error has a code that a backend may give and the backend's own words
// as message and hint, which are not fit to be shown yet.
struct Answer {
  std::uint64_t id = 0;
  Result<Json::Value> result;
};

// Reads one line of a backend, JSON-RPC 2.0; nullopt for a notification. An error object gives the code that
// `data.code` names where that is NOT_FOUND, AUTH_REQUIRED, FORBIDDEN, RATE_LIMITED, UNREACHABLE, TIMEOUT,
// BAD_RESPONSE, TOOL_MISSING, IO_ERROR, SOURCE_INVALID, SOURCE_UNSUPPORTED, SOURCE_DENIED, HASH_MISMATCH,
// SIGNATURE_INVALID, ARCHIVE_UNSAFE or LIMIT_EXCEEDED, else BAD_RESPONSE; `data.retryAfterMs` and `data.hint` are taken
// too. Errors: BAD_RESPONSE for a line that is no answer, with a message such as "it wrote a line that is no JSON (…)".
Result<std::optional<Answer>> parse_answer(std::string_view line);

// The readers of results. Errors of all: BAD_RESPONSE with a message such as "expected a string at result.id, found
// nothing".

// Of `backend/describe`.
struct Description {
  std::vector<std::string> schemes;
  std::string name;
  std::string version;
};
Result<Description> read_description(const Json::Value& result);

// Of `backend/list`. Tags that no message could show are in `unusable`.
struct OfferedTags {
  std::vector<Tag> tags;
  std::vector<SkippedTag> unusable;
  bool complete = false;
};
Result<OfferedTags> read_tags(const Json::Value& result);

// Of `backend/pin` and `backend/fetch`: the id.
Result<std::string> read_id(const Json::Value& result);

// Whether a text can be an id: 1 to 200 characters of A-Z, a-z, 0-9, ".", "_", ":" and "-", the first of them a letter
// or digit. So it is safe as a file name, as an argument and in a lock file.
bool is_id(std::string_view text);

// What a log line or a message may quote of what a program said: one line of valid UTF-8 and at most 500 bytes, with
// "…" for the secrets, for the user-info and the query of any URL, and for what is left out at the end. Control
// characters appear as "\xNN".
std::string quotable(std::string_view text, const Secrets& secrets);

}  // namespace modlock::external
