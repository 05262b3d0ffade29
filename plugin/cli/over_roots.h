#pragma once

#include <functional>
#include <string>

#include "plugin/cli/commands.h"

namespace modlock::cli {

// What one root came to.
struct RootOutcome {
  int exit_code = 0;
  Json::Value json;  // the method's result, or {"error": …}; null: nothing to print
};

// Prints an error as the flags ask: JSON goes into the outcome, text to stderr, with the line of a file below `root`.
RootOutcome failed(const Error& error, const CommonFlags& flags, const std::string& root = {},
                   const Json::Value& error_data = {});

// Runs `work` for every root that the flags name, under a heading where there are several, and prints the JSON where it
// is asked for: the result itself for one root, {"results": [{root, …}]} for several. Returns the worst exit code.
int over_roots(const CommonFlags& flags, const std::function<RootOutcome(const std::string& root)>& work);

// On stderr, each with the line that it speaks of.
void print_diagnostics(const Diagnostics& diagnostics, const std::string& root);
// The exit code for the worst of them: 0 where none is an error.
int exit_code_of_diagnostics(const Diagnostics& diagnostics);

}  // namespace modlock::cli
