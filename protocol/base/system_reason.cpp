#include "protocol/base/system_reason.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <new>
#include <system_error>

namespace modlock {
namespace {

struct Limit {
  int reason;
  std::string_view text;
  std::string_view advice;
};

constexpr std::array kLimits = {
    Limit{EMFILE, "the limit of open files of this process is reached", "raise it (ulimit -n), then run it again"},
    Limit{ENFILE, "the limit of open files of this machine is reached",
          "end other programs, or raise it (sysctl fs.file-max)"},
    Limit{ENOMEM, "no memory is left for this process",
          "free some memory, or raise the limit (ulimit -v), then run it again"},
    Limit{EFBIG, "the limit of the size of a file is reached",
          "raise it (ulimit -f), or choose a file system that takes larger files"},
};
// Of a thread that is to start; other calls mean something else by this number.
constexpr Limit kThreads{EAGAIN, "the limit of processes and threads is reached",
                         "raise it (ulimit -u), or that of memory (ulimit -v), then run it again"};

const Limit* limit_of(int reason) {
  const auto* const found = std::ranges::find(kLimits, reason, &Limit::reason);
  return found == kLimits.end() ? nullptr : found;
}

const Limit* limit_of(const std::exception& caught) {
  if (dynamic_cast<const std::bad_alloc*>(&caught) != nullptr) {
    return limit_of(ENOMEM);
  }
  const auto* const error = dynamic_cast<const std::system_error*>(&caught);
  if (error == nullptr) {
    return nullptr;
  }
  return error->code().value() == kThreads.reason ? &kThreads : limit_of(error->code().value());
}

}  // namespace

std::string system_reason(int reason) {
  const Limit* const limit = limit_of(reason);
  return limit == nullptr ? std::generic_category().message(reason) : std::string(limit->text);
}

std::string_view system_advice(int reason) {
  if (const Limit* const limit = limit_of(reason)) {
    return limit->advice;
  }
  switch (reason) {
    case ENOSPC:
    case EDQUOT:
      return "free some space there, then run it again";
    case EACCES:
    case EPERM:
      return "give the user that runs this permission there";
    case EROFS:
      return "the file system is mounted read-only: make it writable or choose another directory";
    default:
      return {};
  }
}

Error unexpected_error(std::string_view what, const std::exception& caught) {
  if (const Limit* const limit = limit_of(caught)) {
    return {.code = Code::io_error,
            .message = fmt::format("{} ended early: {}", what, limit->text),
            .hint = std::string(limit->advice)};
  }
  return {.code = Code::internal,
          .message = fmt::format("{} failed unexpectedly: {}", what, caught.what()),
          .hint = "this is an internal error (bug): please report it"};
}

}  // namespace modlock
