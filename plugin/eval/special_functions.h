#pragma once

#include "plugin/eval/evaluator.h"

namespace modlock::eval {

// A function that needs more than the plain values of its arguments: their marks, their expressions, or an evaluator.
struct Evaluator::SpecialFunction {
  Function signature;  // call: null
  Outcome (Evaluator::*run)(const Invocation& invocation);
  bool lazy = false;  // arguments are not evaluated before the call
};

}  // namespace modlock::eval
