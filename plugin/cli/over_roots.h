#pragma once

#include <functional>
#include <string>
#include <vector>

#include "plugin/cli/commands.h"
#include "protocol/answer.h"

namespace modlock::cli {

// What one root came to.
struct RootOutcome {
  int exit_code = 0;
  Answer json;  // the method's result, or {"error": …}; null: nothing to print
};

// Prints an error as the flags ask: JSON goes into the outcome, text to stderr, with the line of a file below `root`.
RootOutcome failed(const Error& error, const CommonFlags& flags, const std::string& root = {},
                   const Json::Value& error_data = {});

// The same for what concerns no root, or all of them; JSON is printed too. Returns the exit code.
int failed_everywhere(const Error& error, const CommonFlags& flags);

// What a method answered for one root.
struct Asked {
  Result<Answer> result;
  Told told = {};
};

Asked ask(const Host& host, const std::string& method, const Json::Value& params);

// Runs `work` for every root, or every one that the flags name, under a heading where there are several, and prints the
// JSON where it is asked for: the result itself for one root, {"results": [{root, …}]} for several. Returns the worst
// exit code.
int over_roots(const std::vector<std::string>& roots, const CommonFlags& flags,
               const std::function<RootOutcome(const std::string& root)>& work);
int over_roots(const CommonFlags& flags, const Host& host,
               const std::function<RootOutcome(const std::string& root)>& work);

// The same where the work is to ask: `ask` is called for several roots at once, as many as the flags say, from any
// thread, and what `tell` makes of the answers is in the order of the roots.
int over_roots(const CommonFlags& flags, const Host& host, const std::function<Asked(const std::string& root)>& ask,
               const std::function<RootOutcome(const std::string& root, Asked asked)>& tell);
// The answers alone, in the order of the roots.
std::vector<Asked> ask_roots(const std::vector<std::string>& roots, const CommonFlags& flags, const Host& host,
                             const std::function<Asked(const std::string& root)>& ask);

// On stderr, each with the line that it speaks of.
void print_diagnostics(const Diagnostics& diagnostics, const std::string& root);
// The exit code for the worst of them: 0 where none is an error.
int exit_code_of_diagnostics(const Diagnostics& diagnostics);

}  // namespace modlock::cli
