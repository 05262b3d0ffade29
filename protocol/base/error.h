#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/base/hint.h"

namespace modlock {

// The code of an error in the protocol (`error.data.code`). A code never changes its meaning; messages may.
enum class Code {
  // standard JSON-RPC and LSP codes
  parse_error,
  invalid_request,
  method_not_found,
  invalid_params,
  internal,
  not_initialized,
  request_cancelled,
  content_modified,
  // transport
  message_too_large,
  duplicate_id,
  shutting_down,
  server_busy,
  deadline_exceeded,
  // environment
  io_error,
  tool_missing,
  // decisions
  frozen,
  missing,
  hash_mismatch,
  signature_invalid,
  archive_unsafe,
  release_denied,
  vanished,
  not_found,
  no_matching_version,
  version_ambiguous,
  constraint_conflict,
  // network and remote services
  auth_required,
  forbidden,
  rate_limited,
  unreachable,
  timeout,
  bad_response,
  offline_miss,
  // configuration, lock file, settings and addresses
  config_parse,
  config_non_static,
  lock_parse,
  lock_newer,
  constraint_syntax,
  source_invalid,
  source_unsupported,
  source_denied,
  path_outside_root,
  limit_exceeded,
  // warnings
  constraint_unbounded,
  lock_unenforced,
  tag_moved,
  lfs_pointer,
  setting_unserved,
  state_unread,
  lock_incomplete,
  provider_ambiguous,
  registry_notice,
};

// Returns the UPPER_SNAKE spelling of the protocol, for example "NO_MATCHING_VERSION".
std::string_view to_string(Code code);

// A position in a text of less than 4 GiB. Line and column are 1-based (columns in grapheme clusters, as in HCL), byte
// is 0-based. Small, because syntax trees contain hundreds of thousands of them.
struct Position {
  std::uint32_t line = 1;
  std::uint32_t column = 1;
  std::uint32_t byte = 0;
  bool operator==(const Position&) const = default;
};

// A part of a text; `end` is exclusive.
struct Range {
  Position start;
  Position end;
  bool operator==(const Range&) const = default;
};

// A part of a file. `path` is the host's form: relative to the root, `/`-separated. No range: the whole file.
struct Location {
  std::string path = {};
  std::optional<Range> range = {};
  bool operator==(const Location&) const = default;
};

// Returns "main.tf:3:12", or only the path if there is no range.
std::string to_string(const Location& location);

// A second location that an error concerns.
struct Related {
  std::string message = {};
  Location location = {};
};

// What callers distinguish within a code. It is not part of the protocol.
enum class Reason : std::uint8_t {
  none,
  certificate,        // UNREACHABLE: the certificate of the server was not accepted
  locked_thing_gone,  // NOT_FOUND of something in the lock file: exit code 5 instead of 7
  no_access,          // IO_ERROR: no permission, or a read-only file system
  no_tls,             // UNREACHABLE: the server does not speak TLS
  not_started,        // REQUEST_CANCELLED before any work was done
  params,             // INVALID_PARAMS: a param is missing, or has a wrong type or an impossible value
  unknown_subject,    // INVALID_PARAMS: no module call or provider has this name
};

// The only error type. `message` is one sentence that names the object, the expected and the actual value; `hint`
// states what to do. Neither ever contains a secret.
struct Error {
  Code code = Code::internal;
  std::string message = {};
  std::string subject = {};  // "module.vpc.nested", or empty
  std::optional<Location> location = {};
  std::vector<Related> related = {};
  std::vector<std::string> notes = {};  // context added on the way up, innermost first
  Hint hint = {};
  std::optional<std::chrono::milliseconds> retry_after = {};
  Reason reason = Reason::none;
};

// Adds context on the way up and returns the error: `return with_note(std::move(error), "while listing …")`.
Error with_note(Error error, std::string note);
// The same for Result::map_error().
inline auto noting(std::string note) {
  return [note = std::move(note)](Error error) { return with_note(std::move(error), note); };
}

// Returns the numeric JSON-RPC code: -32700, -32600 (any problem with a message or its moment), -32601, -32602, -32603,
// -32002, -32800, -32801, and -32803 for all others.
int rpc_code(Code code);

// Whether the same request may succeed later without any change by the user.
bool is_retryable(Code code);

// Returns the exit code of a one-shot command that ends with this error (docs/protocol.md has the table).
int exit_code(const Error& error);
int exit_code(Code code);

// Returns the exit code to report if several apply: 4 > 5 > 8 > 6 > 2 > 7 > 3 > 1 > 0.
int worse_exit_code(int left, int right);

// A message in addition to a result. Errors among diagnostics concern only a part of the request.
enum class Severity { info, warning, error };
std::string_view to_string(Severity severity);

struct Diagnostic {
  Severity severity = Severity::error;
  Error what = {};
};
using Diagnostics = std::vector<Diagnostic>;

// Returns the error as one about this subject, at this location if there is one.
Error placed(Error error, std::string subject, std::optional<Location> location = {});

// Returns a diagnostic of severity warning.
Diagnostic as_warning(Error what);

// Adds diagnostics to others.
void append(Diagnostics& to, Diagnostics more);

bool has_errors(const Diagnostics& diagnostics);

// Returns every code in the order of the enum, for the documents of the protocol.
std::vector<Code> all_codes();

std::string_view meaning_of(Code code);

}  // namespace modlock
