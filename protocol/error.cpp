#include "protocol/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace modlock {
namespace {

struct CodeFacts {
  Code code;
  std::string_view name;
  int exit_code;
  bool retryable;
};

// One row per code, in the order of the enum.
constexpr std::array kCodes = {
    CodeFacts{Code::parse_error, "PARSE_ERROR", 2, false},
    CodeFacts{Code::invalid_request, "INVALID_REQUEST", 2, false},
    CodeFacts{Code::method_not_found, "METHOD_NOT_FOUND", 2, false},
    CodeFacts{Code::invalid_params, "INVALID_PARAMS", 2, false},
    CodeFacts{Code::internal, "INTERNAL", 1, false},
    CodeFacts{Code::not_initialized, "NOT_INITIALIZED", 2, false},
    CodeFacts{Code::request_cancelled, "REQUEST_CANCELLED", 1, true},
    CodeFacts{Code::content_modified, "CONTENT_MODIFIED", 3, true},
    CodeFacts{Code::message_too_large, "MESSAGE_TOO_LARGE", 2, false},
    CodeFacts{Code::duplicate_id, "DUPLICATE_ID", 2, false},
    CodeFacts{Code::shutting_down, "SHUTTING_DOWN", 1, false},
    CodeFacts{Code::server_busy, "SERVER_BUSY", 1, true},
    CodeFacts{Code::deadline_exceeded, "DEADLINE_EXCEEDED", 7, true},
    CodeFacts{Code::io_error, "IO_ERROR", 1, false},
    CodeFacts{Code::tool_missing, "TOOL_MISSING", 2, false},
    CodeFacts{Code::frozen, "FROZEN", 3, false},
    CodeFacts{Code::missing, "MISSING", 3, false},
    CodeFacts{Code::hash_mismatch, "HASH_MISMATCH", 4, false},
    CodeFacts{Code::signature_invalid, "SIGNATURE_INVALID", 4, false},
    CodeFacts{Code::archive_unsafe, "ARCHIVE_UNSAFE", 4, false},
    CodeFacts{Code::vanished, "VANISHED", 5, false},
    CodeFacts{Code::not_found, "NOT_FOUND", 7, false},
    CodeFacts{Code::no_matching_version, "NO_MATCHING_VERSION", 6, false},
    CodeFacts{Code::version_ambiguous, "VERSION_AMBIGUOUS", 6, false},
    CodeFacts{Code::constraint_conflict, "CONSTRAINT_CONFLICT", 6, false},
    CodeFacts{Code::auth_required, "AUTH_REQUIRED", 7, false},
    CodeFacts{Code::forbidden, "FORBIDDEN", 7, false},
    CodeFacts{Code::rate_limited, "RATE_LIMITED", 7, true},
    CodeFacts{Code::unreachable, "UNREACHABLE", 7, true},
    CodeFacts{Code::timeout, "TIMEOUT", 7, true},
    CodeFacts{Code::bad_response, "BAD_RESPONSE", 7, false},
    CodeFacts{Code::offline_miss, "OFFLINE_MISS", 7, false},
    CodeFacts{Code::config_parse, "CONFIG_PARSE", 8, false},
    CodeFacts{Code::config_non_static, "CONFIG_NON_STATIC", 8, false},
    CodeFacts{Code::lock_parse, "LOCK_PARSE", 8, false},
    CodeFacts{Code::lock_newer, "LOCK_NEWER", 8, false},
    CodeFacts{Code::constraint_syntax, "CONSTRAINT_SYNTAX", 8, false},
    CodeFacts{Code::source_invalid, "SOURCE_INVALID", 8, false},
    CodeFacts{Code::source_unsupported, "SOURCE_UNSUPPORTED", 8, false},
    CodeFacts{Code::source_denied, "SOURCE_DENIED", 8, false},
    CodeFacts{Code::path_outside_root, "PATH_OUTSIDE_ROOT", 8, false},
    CodeFacts{Code::limit_exceeded, "LIMIT_EXCEEDED", 8, false},
    CodeFacts{Code::constraint_unbounded, "CONSTRAINT_UNBOUNDED", 0, false},
    CodeFacts{Code::lock_unenforced, "LOCK_UNENFORCED", 0, false},
    CodeFacts{Code::tag_moved, "TAG_MOVED", 0, false},
    CodeFacts{Code::lfs_pointer, "LFS_POINTER", 0, false},
    CodeFacts{Code::setting_unserved, "SETTING_UNSERVED", 0, false},
    CodeFacts{Code::state_unread, "STATE_UNREAD", 0, false},
};

constexpr bool in_enum_order() {
  for (std::size_t i = 0; i < kCodes.size(); ++i) {
    if (static_cast<std::size_t>(kCodes[i].code) != i) {
      return false;
    }
  }
  return true;
}
static_assert(in_enum_order(), "kCodes must list every Code in order");

const CodeFacts& facts(Code code) {
  return kCodes[static_cast<std::size_t>(code)];
}

constexpr std::array kExitCodesByWeight = {4, 5, 8, 6, 2, 7, 3, 1, 0};

}  // namespace

std::string_view to_string(Code code) {
  return facts(code).name;
}

std::string to_string(const Location& location) {
  if (!location.range) {
    return location.path;
  }
  return fmt::format("{}:{}:{}", location.path, location.range->start.line, location.range->start.column);
}

Error with_note(Error error, std::string note) {
  error.notes.push_back(std::move(note));
  return error;
}

bool is_retryable(Code code) {
  return facts(code).retryable;
}

int exit_code(Code code) {
  return facts(code).exit_code;
}

int exit_code(const Error& error) {
  if (error.code == Code::not_found && error.locked_thing_gone) {
    return exit_code(Code::vanished);
  }
  return exit_code(error.code);
}

int worse_exit_code(int left, int right) {
  const auto weight = [](int code) { return std::find(kExitCodesByWeight.begin(), kExitCodesByWeight.end(), code); };
  return weight(left) <= weight(right) ? left : right;
}

std::string_view to_string(Severity severity) {
  switch (severity) {
    case Severity::info:
      return "info";
    case Severity::warning:
      return "warning";
    case Severity::error:
      break;
  }
  return "error";
}

bool has_errors(const Diagnostics& diagnostics) {
  return std::any_of(diagnostics.begin(), diagnostics.end(),
                     [](const Diagnostic& d) { return d.severity == Severity::error; });
}

}  // namespace modlock
