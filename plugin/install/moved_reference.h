#pragma once

#include <string>

#include "backends/backend.h"
#include "plugin/install/verdict.h"

namespace modlock {

// What gives another id now than when it was locked.
struct ReferenceMove {
  std::string thing;  // `the tag "v1.2.0"`
  std::string now;    // the id
  bool is_expected = false;
};

// Without the sentence: describe_descent() writes it.
Verdict classify_move(const ReferenceMove& move, const std::string& locked, const Backend& backend);

// Asks whether the new id descends from the locked one, and adds what is known of it, and the sentence, to a verdict of
// classify_move().
void describe_descent(Verdict& verdict, const ReferenceMove& move, const std::string& locked,
                      const SourceAddress& source, Backend& backend, const Context& context);

}  // namespace modlock
