#pragma once

#include <tl/expected.hpp>
#include <utility>

#include "protocol/base/error.h"

namespace modlock {

// A value or an Error. `Result<void>` is for calls that return no value.
template <typename T>
using Result = tl::expected<T, Error>;

// `return fail(Code::io_error, "…")`
inline tl::unexpected<Error> fail(Error error) {
  return tl::unexpected<Error>(std::move(error));
}
inline tl::unexpected<Error> fail(Code code, std::string message, Hint hint = {}) {
  return tl::unexpected<Error>(Error{.code = code, .message = std::move(message), .hint = std::move(hint)});
}

}  // namespace modlock

// Returns from the calling function, which returns a Result too, with the error of `expression`, if it has one.
//   MODLOCK_TRY(check(root));                               needs only the success
//   MODLOCK_TRY(const auto settings, load_settings(root));  declares a variable for the value
// A declaration or an expression with a comma outside parentheses needs parentheses or a separate statement.
#define MODLOCK_TRY(first, ...) MODLOCK_TRY_##__VA_OPT__(DECLARE)(first __VA_OPT__(, ) __VA_ARGS__)
#define MODLOCK_TRY_(expression)                      \
  if (auto tried = (expression); !tried) {            \
    return ::modlock::fail(std::move(tried).error()); \
  }
#define MODLOCK_TRY_DECLARE(declaration, ...) \
  MODLOCK_TRY_INTO(MODLOCK_TRY_JOIN(tried_, __LINE__), declaration, __VA_ARGS__)
#define MODLOCK_TRY_INTO(result, declaration, ...)     \
  auto result = (__VA_ARGS__);                         \
  if (!result) {                                       \
    return ::modlock::fail(std::move(result).error()); \
  }                                                    \
  declaration = *std::move(result)
#define MODLOCK_TRY_JOIN(left, right) MODLOCK_TRY_JOIN_EXPANDED(left, right)
#define MODLOCK_TRY_JOIN_EXPANDED(left, right) left##right
