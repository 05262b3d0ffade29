#include "protocol/base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

namespace modlock {
namespace {

struct CodeFacts {
  Code code;
  std::string_view name;
  int exit_code;
  bool retryable;
  std::string_view meaning;
  int rpc = -32803;
};

// One row per code, in the order of the enum.
constexpr std::array kCodes = {
    CodeFacts{Code::parse_error, "PARSE_ERROR", 2, false, "the line is not JSON", -32700},
    CodeFacts{Code::invalid_request, "INVALID_REQUEST", 2, false,
              "the JSON is ambiguous or not a message, or the message came at the wrong time", -32600},
    CodeFacts{Code::method_not_found, "METHOD_NOT_FOUND", 2, false, "method not found", -32601},
    CodeFacts{Code::invalid_params, "INVALID_PARAMS", 2, false,
              "a param is missing, has the wrong type, or cannot be used", -32602},
    CodeFacts{Code::internal, "INTERNAL", 1, false, "internal error (bug)", -32603},
    CodeFacts{Code::not_initialized, "NOT_INITIALIZED", 2, false, "a request came before initialize", -32002},
    CodeFacts{Code::request_cancelled, "REQUEST_CANCELLED", 1, true, "the request was cancelled", -32800},
    CodeFacts{Code::content_modified, "CONTENT_MODIFIED", 3, true, "a file was modified during the operation", -32801},
    CodeFacts{Code::message_too_large, "MESSAGE_TOO_LARGE", 2, false,
              "a line was longer than the limit and was discarded", -32600},
    CodeFacts{Code::duplicate_id, "DUPLICATE_ID", 2, false, "the id belongs to a request in flight", -32600},
    CodeFacts{Code::shutting_down, "SHUTTING_DOWN", 1, false, "a request came after shutdown", -32600},
    CodeFacts{Code::server_busy, "SERVER_BUSY", 1, true, "too many requests wait"},
    CodeFacts{Code::deadline_exceeded, "DEADLINE_EXCEEDED", 7, true, "the deadline of the request passed"},
    CodeFacts{Code::io_error, "IO_ERROR", 1, false, "a file or a directory cannot be read or written"},
    CodeFacts{Code::tool_missing, "TOOL_MISSING", 2, false, "a required program is not installed"},
    CodeFacts{Code::frozen, "FROZEN", 3, false,
              "the lock file does not match the configuration and must not change; `data.changes` lists the required "
              "changes"},
    CodeFacts{Code::missing, "MISSING", 3, false, "something that is needed is neither locked nor installed"},
    CodeFacts{Code::hash_mismatch, "HASH_MISMATCH", 4, false, "content differs from the locked content"},
    CodeFacts{Code::signature_invalid, "SIGNATURE_INVALID", 4, false, "a signature is missing or wrong"},
    CodeFacts{Code::archive_unsafe, "ARCHIVE_UNSAFE", 4, false,
              "a package contains entries that must not be extracted"},
    CodeFacts{Code::release_denied, "RELEASE_DENIED", 4, false, "a deny rule of the settings forbids this release"},
    CodeFacts{Code::vanished, "VANISHED", 5, false, "a locked version no longer exists at its source"},
    CodeFacts{Code::not_found, "NOT_FOUND", 7, false, "not found"},
    CodeFacts{Code::no_matching_version, "NO_MATCHING_VERSION", 6, false,
              "no available version satisfies the constraints"},
    CodeFacts{Code::version_ambiguous, "VERSION_AMBIGUOUS", 6, false, "two tags of one version have different content"},
    CodeFacts{Code::constraint_conflict, "CONSTRAINT_CONFLICT", 6, false,
              "constraints exclude each other, or the client version"},
    CodeFacts{Code::auth_required, "AUTH_REQUIRED", 7, false,
              "the host requires authentication; the notes list the searched locations"},
    CodeFacts{Code::forbidden, "FORBIDDEN", 7, false, "the host denied access with these credentials"},
    CodeFacts{Code::rate_limited, "RATE_LIMITED", 7, true, "rate limit exceeded"},
    CodeFacts{Code::unreachable, "UNREACHABLE", 7, true, "the host cannot be reached"},
    CodeFacts{Code::timeout, "TIMEOUT", 7, true, "a host timed out, or another process did not finish"},
    CodeFacts{Code::bad_response, "BAD_RESPONSE", 7, false, "the host sent an invalid response"},
    CodeFacts{Code::offline_miss, "OFFLINE_MISS", 7, false, "the cache does not have it, and no request may be sent"},
    CodeFacts{Code::config_parse, "CONFIG_PARSE", 8, false, "the configuration or a settings file cannot be read"},
    CodeFacts{Code::config_non_static, "CONFIG_NON_STATIC", 8, false, "a value is not known before plan"},
    CodeFacts{Code::lock_parse, "LOCK_PARSE", 8, false, "the lock file cannot be read"},
    CodeFacts{Code::lock_newer, "LOCK_NEWER", 8, false, "the lock file was written by a newer release"},
    CodeFacts{Code::constraint_syntax, "CONSTRAINT_SYNTAX", 8, false, "a version constraint cannot be read"},
    CodeFacts{Code::source_invalid, "SOURCE_INVALID", 8, false, "a source address cannot be read"},
    CodeFacts{Code::source_unsupported, "SOURCE_UNSUPPORTED", 8, false, "the source type is not supported"},
    CodeFacts{Code::source_denied, "SOURCE_DENIED", 8, false, "the settings or the request do not allow the source"},
    CodeFacts{Code::path_outside_root, "PATH_OUTSIDE_ROOT", 8, false,
              "a path is outside the directories that may be read or written"},
    CodeFacts{Code::limit_exceeded, "LIMIT_EXCEEDED", 8, false, "something is larger than its limit"},
    CodeFacts{Code::constraint_unbounded, "CONSTRAINT_UNBOUNDED", 0, false,
              "a constraint has no upper bound: `~> 2` on a module"},
    CodeFacts{Code::lock_unenforced, "LOCK_UNENFORCED", 0, false,
              "an unmodified client would not follow the lock file here"},
    CodeFacts{Code::tag_moved, "TAG_MOVED", 0, false, "a tag no longer points to the locked content"},
    CodeFacts{Code::lfs_pointer, "LFS_POINTER", 0, false,
              "a file of the package is a Git LFS pointer and is not replaced by its content"},
    CodeFacts{Code::setting_unserved, "SETTING_UNSERVED", 0, false,
              "a setting was not applied: a locked version is newer than the minimum release age"},
    CodeFacts{Code::state_unread, "STATE_UNREAD", 0, false,
              "the state cannot be read, so providers that only the state uses are unknown"},
    CodeFacts{Code::lock_incomplete, "LOCK_INCOMPLETE", 0, false,
              "the lock lacks hashes that clients on other platforms need, or module blocks: a client removed them, or "
              "they may be in commits that git does not read; or git ignores a file that must be committed"},
    CodeFacts{Code::provider_ambiguous, "PROVIDER_AMBIGUOUS", 0, false,
              "providers of one type are needed from several places, which may be a mistake"},
    CodeFacts{Code::registry_notice, "REGISTRY_NOTICE", 0, false,
              "a notice of a registry about a provider or a module version, or a source that has another address now"},
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

std::string_view meaning_of(Code code) {
  return facts(code).meaning;
}

std::vector<Code> all_codes() {
  std::vector<Code> codes;
  for (const CodeFacts& row : kCodes) {
    codes.push_back(row.code);
  }
  return codes;
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

int rpc_code(Code code) {
  return facts(code).rpc;
}

bool is_retryable(Code code) {
  return facts(code).retryable;
}

int exit_code(Code code) {
  return facts(code).exit_code;
}

int exit_code(const Error& error) {
  if (error.code == Code::not_found && error.reason == Reason::locked_thing_gone) {
    return exit_code(Code::vanished);
  }
  return exit_code(error.code);
}

int worse_exit_code(int left, int right) {
  const auto weight = [](int code) { return std::ranges::find(kExitCodesByWeight, code); };
  return weight(left) <= weight(right) ? left : right;
}

std::string_view to_string(Severity severity) {
  constexpr std::array<std::string_view, 3> kNames = {"info", "warning", "error"};
  return kNames.at(static_cast<std::size_t>(severity));
}

Error placed(Error error, std::string subject, std::optional<Location> location) {
  error.subject = std::move(subject);
  error.location = location ? std::move(location) : std::move(error.location);
  return error;
}

Diagnostic as_warning(Error what) {
  return {Severity::warning, std::move(what)};
}

void append(Diagnostics& to, Diagnostics more) {
  std::ranges::move(more, std::back_inserter(to));
}

bool has_errors(const Diagnostics& diagnostics) {
  return std::ranges::any_of(diagnostics, [](const Diagnostic& d) { return d.severity == Severity::error; });
}

}  // namespace modlock
