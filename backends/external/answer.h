#pragma once

#include <json/value.h>

#include <chrono>
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

// The response of a backend to the request `id`. An error has a code that a backend may use, and the backend's own
// message and hint, which are not safe to print yet.
struct Answer {
  std::uint64_t id = 0;
  Result<Json::Value> result;
};

// Reads one JSON-RPC 2.0 line of a backend. Returns nullopt for a notification. An error object has the code in
// `data.code` if that is NOT_FOUND, AUTH_REQUIRED, FORBIDDEN, RATE_LIMITED, UNREACHABLE, TIMEOUT, BAD_RESPONSE,
// TOOL_MISSING, IO_ERROR, SOURCE_INVALID, SOURCE_UNSUPPORTED, SOURCE_DENIED, HASH_MISMATCH, SIGNATURE_INVALID,
// ARCHIVE_UNSAFE or LIMIT_EXCEEDED, otherwise BAD_RESPONSE; `data.retryAfterMs` and `data.hint` are kept. Errors:
// BAD_RESPONSE for a line that is not a response ("it wrote a line that is no answer (…)").
Result<std::optional<Answer>> parse_answer(std::string_view line);

// The form of the ids of a backend.
enum class IdForm {
  any,     // 1 to 200 characters of A-Z, a-z, 0-9, ".", "_", ":" and "-", starting with a letter or digit
  commit,  // 40 lower-case hexadecimal digits
  digest,  // of a manifest: "sha256:" or "sha512:" and any of the same
};

// The readers of results. All fail with BAD_RESPONSE and a message such as "expected a string at result.id, found
// nothing".

// The result of `backend/describe`.
struct Description {
  std::vector<std::string> schemes;
  std::string name;
  std::string version;
};
Result<Description> read_description(const Json::Value& result);

// The result of `backend/list`. `unusable` has the tags that cannot be shown in a message.
struct OfferedTags {
  std::vector<Tag> tags;
  std::vector<SkippedTag> unusable;
  bool complete = false;
};
Result<OfferedTags> read_tags(const Json::Value& result, IdForm form);

// The result of `backend/pin` or `backend/fetch`. Only that of a built-in kind has more than the id.
struct Found {
  std::string id;
  std::string ref = {};                                               // Pin::ref
  std::optional<std::chrono::system_clock::time_point> claimed = {};  // FetchedTree::claimed
};
Result<Found> read_found(const Json::Value& result, IdForm form);

// Whether a text can be an id. All forms are safe as a file name, as an argument and in a lock file.
bool is_id(std::string_view text, IdForm form);

// Makes the text of a program fit for a log line or a message: one line of valid UTF-8 and at most 500 bytes. "…"
// replaces secrets, the user-info and the query of any URL, and the text cut off at the end. Control characters appear
// as "\xNN".
std::string quotable(std::string_view text, const Secrets& secrets);

}  // namespace modlock::external
