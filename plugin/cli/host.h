#pragma once

#include <json/value.h>

#include <string>

#include "plugin/cli/client_environment.h"
#include "plugin/cli/command_line.h"
#include "plugin/cli/terminal.h"
#include "plugin/server/engine_methods.h"
#include "protocol/result.h"

namespace modlock::cli {

// What a method tells beside its result.
struct Told {
  Json::Value error_data;   // what an error carries besides (`changes` of FROZEN)
  Diagnostics diagnostics;  // of the result
};

// A host in the same process: the same methods as over the wire, without the wire.
class Host {
 public:
  // Opens the service as the flags say. Errors: those of Engine::open() and read_client_environment().
  static Result<Host> start(const CommonFlags& flags, std::stop_token stop);

  // Calls one method. Any thread.
  Result<Json::Value> call(const std::string& method, const Json::Value& params, Told* told = nullptr) const;
  // The same, of which a tree is made only where somebody asks for one.
  Result<Answer> ask(const std::string& method, const Json::Value& params, Told* told = nullptr) const;
  // What is asked from here on is asked of so many roots, at the same time: progress counts them and says how long it
  // will take, whatever the requests report.
  void count_roots(std::size_t total) const;
  void root_done(const std::string& root) const;
  // A run of the engine that ends with this process, and reports to the terminal.
  Run run() const;

  // What every method with a root takes: from the flags, and of variables also what the environment says.
  Json::Value root_params(const std::string& root, const CommonFlags& flags) const;

  const Engine& engine() const { return *engine_; }
  // For what a command does beside its calls.
  Context context() const;

 private:
  Host() = default;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<MethodTable> methods_;
  std::unique_ptr<TerminalProgress> progress_;
  std::unique_ptr<TerminalLog> log_;
  ClientEnvironment environment_;
  std::stop_token stop_;
};

// The roots that the flags name, absolute and sorted; with `recursive` those in and below these directories
// (search_roots()). Prints what was excluded, and by what, on stderr. Errors: INVALID_PARAMS (not a directory, globs
// without `recursive`); CONFIG_PARSE (no root is left); those of search_roots().
Result<std::vector<std::string>> find_roots(const CommonFlags& flags, const Host& host);

// With `recursive`, for a root that ended with exit code 3 and has no lock file: says so on stderr, and which line of a
// settings file leaves it out if it is not a root module.
void print_unlocked_root(const std::string& root, int exit_code, const CommonFlags& flags);

// The text that a document of a result's `edits` makes of its base.
std::string text_after(std::string_view base, const Json::Value& document);

// Writes the documents of a result's `edits` below `root`, which the caller holds (hold_root): a lock in place of a
// link to one, a configuration file where a link leads. Nothing is written where any base is no longer the same.
// Errors: CONTENT_MODIFIED; PATH_OUTSIDE_ROOT; IO_ERROR.
Result<void> apply_edits(const std::string& root, const Json::Value& edits);

}  // namespace modlock::cli
