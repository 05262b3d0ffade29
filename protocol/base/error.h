#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace modlock {

// What went wrong, as the protocol names it (`error.data.code`). A code never changes its meaning; messages may.
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
  vanished,
  not_found,
  no_matching_version,
  version_ambiguous,
  constraint_conflict,
  // the outside
  auth_required,
  forbidden,
  rate_limited,
  unreachable,
  timeout,
  bad_response,
  offline_miss,
  // what was written
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

// The UPPER_SNAKE spelling of the protocol, for example "NO_MATCHING_VERSION".
std::string_view to_string(Code code);

// A point in a text of less than 4 GiB: line and column are 1-based (columns in grapheme clusters, as
// HCL counts them), byte is 0-based. Trees of syntax hold hundreds of thousands of them, so they are small.
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

// A part of a file. `path` is as the host knows it: relative to the root, `/`-separated. No range: the whole file.
struct Location {
  std::string path = {};
  std::optional<Range> range = {};
  bool operator==(const Location&) const = default;
};

// "main.tf:3:12", or only the path where there is no range.
std::string to_string(const Location& location);

// A second place that an error is about.
struct Related {
  std::string message = {};
  Location location = {};
};

// The one error type. `message` is one sentence that names the thing, what was expected and what was found; `hint`
// says what to do now. Neither ever holds a secret.
struct Error {
  Code code = Code::internal;
  std::string message = {};
  std::string subject = {};  // "module.vpc.nested", or empty
  std::optional<Location> location = {};
  std::vector<Related> related = {};
  std::vector<std::string> notes = {};  // context added on the way up, innermost first
  std::string hint = {};
  std::optional<std::chrono::milliseconds> retry_after = {};
  bool locked_thing_gone = false;  // NOT_FOUND of something the lock names: exit code 5 instead of 7
};

// Adds context on the way up and returns the error: `return with_note(std::move(error), "while listing …")`.
Error with_note(Error error, std::string note);

// Whether the same request may succeed later without anybody changing anything.
bool is_retryable(Code code);

// The exit code of a one-shot command that ends with this error (docs/protocol.md has the table).
int exit_code(const Error& error);
int exit_code(Code code);

// The exit code to report when several apply: 4 > 5 > 8 > 6 > 2 > 7 > 3 > 1 > 0.
int worse_exit_code(int left, int right);

// What is reported beside a result. Errors among diagnostics concern a part of the request only.
enum class Severity { info, warning, error };
std::string_view to_string(Severity severity);

struct Diagnostic {
  Severity severity = Severity::error;
  Error what = {};
};
using Diagnostics = std::vector<Diagnostic>;

bool has_errors(const Diagnostics& diagnostics);

// Every code, in the order of the enum, for the documents of the protocol.
std::vector<Code> all_codes();

// What a code means.
std::string_view meaning_of(Code code);

}  // namespace modlock
