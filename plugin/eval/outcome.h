#pragma once

#include <memory>
#include <string>
#include <tl/expected.hpp>

#include "plugin/value/value.h"
#include "protocol/base/error.h"

namespace modlock::eval {

// What is wrong, before it is known where.
struct Problem {
  std::string message;
  std::string hint = {};
  Code code = Code::config_parse;
};

// Why an expression has no value, and of which type its value would be: a conditional compares the types of both its
// branches also where only one of them has a value.
struct NoValue {
  // Null: not known, because a name is bound to no value (see for_expression.cpp).
  std::shared_ptr<const Error> error = {};
  Type type = {};
};

using Outcome = tl::expected<Value, NoValue>;

inline tl::unexpected<NoValue> no_value(NoValue why) {
  return tl::unexpected<NoValue>(std::move(why));
}
// The same reason for an expression around it, whose value would be of another type.
inline tl::unexpected<NoValue> no_value(const Outcome& inner, Type type = {}) {
  return no_value(NoValue{inner.error().error, std::move(type)});
}

inline Type type_of(const Outcome& outcome) {
  return outcome ? outcome->type() : outcome.error().type;
}
inline Marks marks_of(const Outcome& outcome) {
  return outcome ? outcome->marks() : Marks{};
}
inline bool failed(const Outcome& outcome) {
  return !outcome && outcome.error().error != nullptr;
}

}  // namespace modlock::eval
