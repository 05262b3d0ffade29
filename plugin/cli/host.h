#pragma once

#include <json/value.h>

#include <functional>
#include <string>
#include <utility>

#include "plugin/cli/command_line.h"
#include "plugin/cli/interrupt.h"
#include "plugin/cli/terminal.h"
#include "plugin/client/client_environment.h"
#include "plugin/server/engine_methods.h"
#include "protocol/base/result.h"
#include "protocol/base/system_reason.h"
#include "protocol/messages/workspace.h"

namespace modlock::cli {

// Details of a call in addition to its result.
struct CallDetails {
  Json::Value error_data;   // additional data of an error (`changes` of FROZEN)
  Diagnostics diagnostics;  // of the result
};

// The outcome of a call of the engine.
template <typename Output>
struct RootAnswer {
  Result<Output> result;
  CallDetails details = {};
};

// The engine for one-shot commands.
class Host {
 public:
  // Opens the engine with the options of the flags. `interrupt`, if set, ends its work, and outlives the host. If
  // `command` runs a client, that one is the implementation; flags that name the other are INVALID_PARAMS. Errors:
  // those of read_client_environment(); those of Engine::open(), except if the flags diagnose.
  static Result<Host> start(const CommonFlags& flags, Interrupt* interrupt = nullptr,
                            const std::vector<std::string>& command = {});

  // Calls a method of the engine: `host.call(&Engine::plan, params)`. May be called from any thread.
  template <typename Method, typename Params>
  auto call(const Method& method, const Params& params) const {
    Run run = this->run();
    using Asked = std::invoke_result_t<Method, const Engine&, const Params&, Run&>;
    RootAnswer<typename Asked::value_type> asked{
        .result = without_exceptions("tofu-modlock", [&] { return std::invoke(method, *engine_, params, run); })};
    progress_->request_done();
    asked.details = {error_data(run), std::move(run.diagnostics)};
    return asked;
  }
  // Calls terragrunt::check(), and Engine::lookup() or for a unit of Terragrunt look_up_unit().
  RootAnswer<messages::LockVerifyResult> verify(const messages::LockVerifyParams& params) const;
  RootAnswer<messages::UpdateLookupResult> look_up(const messages::UpdateLookupParams& params) const;
  // Calls a method of the protocol with its JSON.
  Result<Json::Value> ask(const std::string& method, const Json::Value& params, CallDetails& details) const;
  TerminalProgress& progress() const { return *progress_; }
  // Returns a run of the engine that ends with this process and reports to the terminal.
  Run run() const;

  // Returns the params of a root: from the flags, and for variables also from the environment.
  messages::RootParams root_params(const std::string& root, const CommonFlags& flags) const;

  // Writes the edits of a plan, and prints warnings. Errors: those of Engine::apply().
  Result<void> apply(const std::string& root, const CommonFlags& flags, const messages::LockPlanResult& plan) const;

  const Engine& engine() const { return *engine_; }
  const MethodTable& methods() const { return *methods_; }
  Interrupt& interrupt() const { return *interrupt_; }
  // Returns a context for work outside engine calls.
  Context context() const;

 private:
  Host() = default;

  std::unique_ptr<Engine> engine_;
  Run shared_run_ = Run();  // of the command
  bool compares_ = false;   // the calls of the engine read lock files and settings once
  std::unique_ptr<MethodTable> methods_;
  std::unique_ptr<TerminalProgress> progress_;
  std::unique_ptr<TerminalLog> log_;
  ClientEnvironment environment_;
  Interrupt* interrupt_ = nullptr;
  std::stop_token stop_;  // of the interrupt
};

// The root modules of a command.
struct Roots {
  std::vector<std::string> paths;  // absolute and sorted
  // What the search left out besides the directories that it prints.
  std::vector<messages::CalledModule> called = {};
  std::uint64_t not_on_disk = 0;

  // Returns "Not a root: modules/x (called by live/a)." and the like, for the end of the report; empty if nothing was
  // left out. More than ten directories are summed up by the directory that they are in.
  std::string left_out() const;
};
// Returns the roots that the flags name; with `recursive` those in and below these directories (search_roots()). Prints
// exclusions and their reasons on stderr. Errors: INVALID_PARAMS (not a directory, globs without `recursive`);
// CONFIG_PARSE (no root is left); those of search_roots().
Result<Roots> find_roots(const CommonFlags& flags, const Host& host);

// With `recursive`, for a root that ended with exit code 3 and has no lock file: prints that on stderr, with the
// settings line that excludes it if it is not a root module. The only root module of a tree cannot be excluded.
void print_unlocked_root(const std::string& root, int exit_code, const CommonFlags& flags, bool is_one_of_several);

}  // namespace modlock::cli
