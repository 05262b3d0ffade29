#pragma once

#include <cstddef>
#include <optional>

#include "plugin/eval/outcome.h"
#include "plugin/value/value.h"

namespace modlock::eval {

// What one evaluation may still spend. Once a limit is passed, all that follows fails too.
class Budget {
 public:
  // Each returns what is wrong (LIMIT_EXCEEDED), or nullopt where all is fine.
  std::optional<Problem> take_step();
  std::optional<Problem> take_text(std::size_t bytes);
  // A value that was put together, and one that is only referred to: what is in that is shared.
  std::optional<Problem> take_value(const Value& value);
  std::optional<Problem> take_copy(const Value& value);

 private:
  std::size_t steps_ = 0;
  std::size_t text_ = 0;
  std::size_t elements_ = 0;
};

}  // namespace modlock::eval
