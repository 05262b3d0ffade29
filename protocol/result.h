#pragma once

#include <tl/expected.hpp>
#include <utility>

#include "protocol/error.h"

namespace modlock {

// A value or the one Error. `Result<void>` for calls that only can fail.
template <typename T>
using Result = tl::expected<T, Error>;

// `return fail(Code::io_error, "…")`
inline tl::unexpected<Error> fail(Error error) {
  return tl::unexpected<Error>(std::move(error));
}
inline tl::unexpected<Error> fail(Code code, std::string message, std::string hint = {}) {
  return tl::unexpected<Error>(Error{.code = code, .message = std::move(message), .hint = std::move(hint)});
}

}  // namespace modlock
