#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "protocol/base/error.h"
#include "tests/conformance/columns.h"

namespace modlock::test {

// How often a request is sent.
enum class Tries {
  once,
  twice,
  versions,  // without a wait: in versions 0 and 2 of git's protocol
  all,       // as often as the backend tries at all
  redirects  // once, and once for every redirect that is followed
};

// Which time has to run out.
enum class Pace {
  swift,
  silent,  // what a client waits for a byte
  slow     // what it waits for the whole answer
};

// What a fault comes to. No code: the backend gets what it wanted.
struct Outcome {
  std::optional<Code> code = {};
  Tries tries = Tries::once;
  std::optional<Pace> pace = {};  // where it is not the row's
};

// One thing that goes wrong with one request, and what every backend has to make of it.
struct FaultRow {
  const char* name;
  Outcome outcome;
  // What the server does with the request; none where the request does not get that far.
  std::function<Behaviour(World& world, const Column& column)> behaviour = {};
  Place place = Place::origin;
  std::size_t times = static_cast<std::size_t>(-1);  // that it goes wrong
  Pace pace = Pace::swift;
  std::optional<std::chrono::seconds> retry_after = {};  // that the server asks for
  std::map<Ask, Outcome> otherwise = {};
  std::map<Ask, const char*> not_for = {};  // and why
};
const std::vector<FaultRow>& fault_rows();

}  // namespace modlock::test
