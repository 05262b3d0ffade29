#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "plugin/cli/commands.h"
#include "protocol/messages/fields.h"

namespace modlock::cli {

// What one root came to.
struct RootOutcome {
  int exit_code = 0;
  Json::Value json;  // the method's result, or {"error": …}; null: nothing to print
  // For the table of several roots; empty: nothing to say.
  std::string result = {};  // "FROZEN", "stale"
  std::string to_do = {};
};

// Prints an error as the flags ask: JSON goes into the outcome, text to stderr, with the line of a file below `root`.
RootOutcome failed(const Error& error, const CommonFlags& flags, const std::string& root = {},
                   const Json::Value& error_data = {});

// The same for what concerns no root, or all of them; JSON is printed too. Returns the exit code.
int failed_everywhere(const Error& error, const CommonFlags& flags);

// CONFIG_PARSE if the directory has no configuration file.
std::optional<Error> find_missing_configuration(const std::string& root);

// On stderr, of several roots: their number if each is fine, else a row for each with what to do.
struct RootRow {
  std::string root;
  int exit_code = 0;
  std::string result;
  std::string to_do;
};
void print_table(const std::vector<RootRow>& rows);

// Runs `work` for every root, under a heading if there are several, and prints the JSON if it is asked for: the result
// itself for one root, {"results": [{root, exitCode, …}]} for several. Errors of several name their root, and
// print_table() ends them. Returns the worst exit code. Of the roots that the flags name, one without configuration is
// an error, unless a lock file suffices.
int run_for_roots(const std::vector<std::string>& roots, const CommonFlags& flags,
                  const std::function<RootOutcome(const std::string& root)>& work);
int run_for_roots(const CommonFlags& flags, const Host& host,
                  const std::function<RootOutcome(const std::string& root)>& work);

// Calls `ask` for several roots at once, as many as the flags say, from any thread. Returns the answers in the order of
// the roots. A root without configuration is CONFIG_PARSE.
void ask_each(const std::vector<std::string>& roots, const CommonFlags& flags, const Host& host,
              const std::function<void(std::size_t i, std::optional<Error> missing)>& ask);
template <typename Ask>
auto call_for_roots(const std::vector<std::string>& roots, const CommonFlags& flags, const Host& host, const Ask& ask) {
  using Answered = decltype(ask(roots.front()));
  std::vector<Answered> asked(roots.size(), Answered{.result = fail(Error{})});
  ask_each(roots, flags, host, [&](std::size_t i, std::optional<Error> missing) {
    asked[i] = missing ? Answered{.result = fail(std::move(*missing))} : ask(roots[i]);
  });
  return asked;
}

// The same as run_for_roots() where the work is to ask: what `tell` makes of the answers is in the order of the roots.
template <typename Ask, typename Tell>
int run_for_roots(const CommonFlags& flags, const Host& host, const Ask& ask, const Tell& tell) {
  const auto roots = find_roots(flags, host);
  if (!roots) {
    return failed_everywhere(roots.error(), flags);
  }
  auto asked = call_for_roots(*roots, flags, host, ask);
  auto next = asked.begin();
  return run_for_roots(*roots, flags, [&](const std::string& root) { return tell(root, std::move(*next++)); });
}

// On stderr, each with the line that it speaks of.
void print_diagnostics(const Diagnostics& diagnostics, const std::string& root);
// The exit code for the worst of them: 0 where none is an error.
int exit_code_of_diagnostics(const Diagnostics& diagnostics);
// The first error of them, as the result of a root.
void describe_worst(const Diagnostics& diagnostics, RootOutcome& outcome);

}  // namespace modlock::cli
