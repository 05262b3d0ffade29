#include "plugin/eval/budget.h"

#include <fmt/format.h>

#include "plugin/eval/evaluate.h"

namespace modlock::eval {
namespace {

Problem exceeded(std::string message) {
  return {std::move(message), "compute less, or write the value out", Code::limit_exceeded};
}

}  // namespace

std::optional<Problem> Budget::take_step() {
  if (++steps_ <= kMaxSteps) return std::nullopt;
  return exceeded(fmt::format("this expression takes more than {} steps to compute", kMaxSteps));
}

std::optional<Problem> Budget::take_text(std::size_t bytes) {
  text_ += bytes;
  if (text_ <= kMaxTextBytes) return std::nullopt;
  return exceeded(fmt::format("this expression makes more than {} bytes of text", kMaxTextBytes));
}

std::optional<Problem> Budget::take_copy(const Value& value) {
  if (!value.is_null() && value.is(Type::Kind::string)) return take_text(value.as_string().size());
  if (value.type().height() > kMaxNesting) {
    return exceeded(fmt::format("this value is nested deeper than {} levels", kMaxNesting));
  }
  // The weight counts at each place what stands at several: such a value is small in memory, but slow to walk.
  if (elements_ <= kMaxElements && value.weight() <= kMaxElements) return std::nullopt;
  return exceeded(fmt::format("this expression makes a value of more than {} elements", kMaxElements));
}

std::optional<Problem> Budget::take_value(const Value& value) {
  if (!value.is_null() && !value.type().is_primitive()) elements_ += value.size();
  return take_copy(value);
}

}  // namespace modlock::eval
