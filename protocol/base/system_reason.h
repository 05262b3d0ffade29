#pragma once

#include <exception>
#include <string>
#include <string_view>

#include "protocol/base/error.h"
#include "protocol/base/result.h"

namespace modlock {

// What a system call that failed with `reason` (an errno) says: the system's text, but for limits (of open files, of
// memory, of the size of a file) which limit was met.
std::string system_reason(int reason);

// What a person can do about it (full disk, no permission, read-only file system, limits); empty where that is unknown.
std::string_view system_advice(int reason);

// The error of an exception that came out of `what` ("lock/plan"): IO_ERROR where the system gave no memory, threads or
// descriptors, else INTERNAL.
Error unexpected_error(std::string_view what, const std::exception& caught);

// Returns the result of `call`, or the unexpected_error() of the exception that came out of it: for calls between a
// mark for other threads and its removal, and for the end of a thread.
template <typename Call>
auto without_exceptions(std::string_view what, const Call& call) -> decltype(call()) {
  try {
    return call();
  } catch (const std::exception& caught) {
    return fail(unexpected_error(what, caught));
  }
}

}  // namespace modlock
