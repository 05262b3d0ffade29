#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "backends/base/collections.h"
#include "plugin/cli/commands.h"
#include "plugin/cli/root_output.h"
#include "plugin/config/roots.h"
#include "plugin/report/sarif.h"
#include "protocol/base/json.h"
#include "protocol/messages/fields.h"
#include "protocol/messages/lock_plan.h"

namespace modlock::cli {

// The commands that are useful after this one.
struct NextSteps {
  bool lock = false;
  std::string install = {};                     // "install", "install --overrides"; empty: not useful
  std::string init = {};                        // the client whose init is useful: "tofu", "terraform"; empty: none
  std::vector<std::string> placed_inline = {};  // roots whose first module blocks are inline, and no setting decides
};
// Returns ", checked for OpenTofu (lock file)"; empty: the user decided, or it does not matter.
std::string checked_for_text(const std::optional<messages::CheckedFor>& checked);
// Returns "tofu" or "terraform".
std::string client_name(const Host& host, const std::string& root);

// The outcome for one root.
struct RootOutcome {
  int exit_code = 0;
  Json::Value json;  // the method's result, or {"error": …}; null: nothing to print
  // For the table of several roots; empty: nothing to report.
  std::string result = {};  // "FROZEN", "stale", "up to date"
  Hint hint = {};
  NextSteps next = {};                 // printed once, for all roots
  std::set<std::string> sources = {};  // their number is printed
  // For an interruption: the state of this root. Empty: "ok", or the result.
  std::string state = {};  // "lock file written"
  bool is_interrupted = false;
  std::string root = {};  // set by run_for_roots()
};

// Adds an error to the outcome as JSON if the flags specify it, or else to the output. After an interruption
// (REQUEST_CANCELLED), run_for_roots() prints the text, once for all roots.
RootOutcome failed(const Error& error, const CommonFlags& flags, RootOutput& output,
                   const Json::Value& error_data = {});

// Prints an error that concerns this root, or none. Returns the exit code.
int failed_everywhere(const Error& error, const CommonFlags& flags, const std::string& root = {},
                      const Json::Value& error_data = {});

// Returns INVALID_PARAMS for a subject of this command that is a directory.
Error found_directory(const std::string& command, const std::string& path);

// Returns CONFIG_PARSE if the directory has no configuration file.
std::optional<Error> find_missing_configuration(const std::string& root);
// Returns the same if it has no lock file either. A unit of Terragrunt has only that.
std::optional<Error> find_missing_files(const std::string& root);

// Prints the table of several roots on stderr. If each root succeeded, it prints only the number of each result. A hint
// that several roots have is printed once, for all of them. `left_out` is that of the roots.
void print_table(const std::vector<RootOutcome>& rows, const CommonFlags& flags, const std::string& left_out,
                 std::size_t sources = 0);
// Prints the rows. A root without a result is "ok" or "failed".
void print_rows(const std::vector<RootOutcome>& rows, const CommonFlags& flags);
// Prints what was left out, for a report that does not end with a table.
void print_left_out(const Roots& roots, const CommonFlags& flags);

// Runs `work` for every root, and then prints their outputs, or the JSON if requested: the result itself for one root,
// {"results": [{root, exitCode, …}]} for several, or a log of SARIF with a run for each. print_table() is called last.
// After an interruption, "Interrupted." and the state of each root are printed instead. Returns the worst exit code. If
// the flags name a root without configuration, that is an error unless a lock file is sufficient.
int run_for_roots(const Roots& roots, const CommonFlags& flags,
                  const std::function<RootOutcome(RootOutput& output)>& work);
// Returns an output for each root.
std::vector<RootOutput> outputs_of(const std::vector<std::string>& roots);

// Calls `ask` for several roots in parallel, as many as the flags specify, from any thread. call_for_roots() returns
// the answers in the order of the roots. A root without configuration is CONFIG_PARSE, and one that an interruption
// left out REQUEST_CANCELLED.
void ask_each(const std::vector<std::string>& roots, const CommonFlags& flags, const Host& host,
              const std::function<void(std::size_t i, std::optional<Error> failure)>& ask);
template <typename Ask>
auto call_for_roots(const std::vector<std::string>& roots, const CommonFlags& flags, const Host& host, const Ask& ask) {
  using Answered = decltype(ask(roots.front()));
  std::vector<Answered> asked(roots.size(), Answered{.result = fail(Error{})});
  ask_each(roots, flags, host, [&](std::size_t i, std::optional<Error> failure) {
    asked[i] = failure ? Answered{.result = fail(std::move(*failure))} : ask(roots[i]);
  });
  return asked;
}

// The subjects that a command line names. With --recursive not every root must have each of them, but at least one
// must.
class NamedSubjects {
 public:
  NamedSubjects(const CommonFlags& flags, std::vector<std::string> names) : flags_(flags), names_(std::move(names)) {}

  // Calls `ask` with the names, without those that the root lacks according to the error of its answer. May be called
  // from any thread.
  template <typename Ask>
  auto ask(const std::string& root, const Ask& ask) {
    std::vector<std::string> wanted = names_;
    auto asked = ask(wanted);
    while (!asked.result && drop(asked.result.error(), root, wanted)) {
      asked = ask(wanted);
    }
    const std::lock_guard guard(mutex_);
    found_.insert(wanted.begin(), wanted.end());
    return asked;
  }

  // Call after all roots: returns the outcome of a root that has none of the subjects, or lacks one that no root has;
  // nullopt: its answer counts.
  std::optional<RootOutcome> skipped(RootOutput& output) const;

 private:
  // Removes the name that the root lacks. Returns false if the error is another one, or if none is left.
  bool drop(const Error& error, const std::string& root, std::vector<std::string>& wanted);

  const CommonFlags& flags_;
  std::vector<std::string> names_;
  std::mutex mutex_;
  std::set<std::string> found_;
  std::map<std::string, std::map<std::string, Error>> lacking_;  // by root and name
};

// Calls `ask` in parallel, and adds the answers to the outputs of the roots with `tell`, or their errors. A root
// without any of the subjects is skipped.
template <typename Ask, typename Tell>
Result<int> run_for_roots(const CommonFlags& flags, const Host& host, const Ask& ask, const Tell& tell,
                          const NamedSubjects* named = nullptr) {
  MODLOCK_TRY(const auto roots, find_roots(flags, host));
  auto all = call_for_roots(roots.paths, flags, host, ask);
  auto next = all.begin();
  return run_for_roots(roots, flags, [&](RootOutput& output) {
    auto asked = std::move(*next++);
    auto skipped = named == nullptr ? std::nullopt : named->skipped(output);
    RootOutcome outcome = skipped        ? std::move(*skipped)
                          : asked.result ? tell(output, asked)
                                         : failed(asked.result.error(), flags, output, asked.details.error_data);
    if constexpr (requires { sarif_run(asked.result, "", "", 0); }) {
      if (flags.sarif) {
        const std::string& root = output.root();
        outcome.json = sarif_run(asked.result, root, find_repository_root(root).string(), outcome.exit_code);
      }
    }
    return outcome;
  });
}

// The same, but `ask` also gets those of the items, which are subjects or have one, that the root has.
template <typename Item, typename Ask, typename Tell>
Result<int> run_for_subjects(const std::vector<Item>& items, const CommonFlags& flags, const Host& host, const Ask& ask,
                             const Tell& tell) {
  const auto subject_of = [](const Item& item) -> const std::string& {
    if constexpr (std::is_same_v<Item, std::string>) {
      return item;
    } else {
      return item.subject;
    }
  };
  NamedSubjects named(flags, mapped(items, subject_of));
  const auto ask_of = [&](const std::string& root) {
    return named.ask(root, [&](const std::vector<std::string>& wanted) {
      std::vector<Item> left = items;
      std::erase_if(left, [&](const Item& item) { return std::ranges::count(wanted, subject_of(item)) == 0; });
      return ask(root, left);
    });
  };
  return run_for_roots(flags, host, ask_of, tell, &named);
}

// Returns the exit code for the worst of them: 0 if none is an error.
int exit_code_of_diagnostics(const Diagnostics& diagnostics);
// Sets the first error of them as the result of a root.
void describe_worst(const Diagnostics& diagnostics, RootOutcome& outcome);
// Sets the exit code of the worst error of an installation, and the first as the result of the root.
RootOutcome with_restored(RootOutcome outcome, const Diagnostics& diagnostics);

}  // namespace modlock::cli
