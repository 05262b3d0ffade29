#include <csignal>
#include <cstdlib>
#include <exception>
#include <string_view>

#include "backends/base/build_info.h"
#include "backends/base/home.h"
#include "plugin/cli/commands.h"
#include "plugin/cli/completion.h"
#include "plugin/cli/interrupt.h"
#include "plugin/cli/over_roots.h"
#include "plugin/mirror/private_file.h"

namespace modlock::cli {
namespace {

int dispatch(const CommandLine& line, const Host& host, Interrupt& interrupt) {
  switch (line.verb) {
    case CommandLine::Verb::lock:
    case CommandLine::Verb::upgrade:
      return run_lock(line, host);
    case CommandLine::Verb::update:
      return run_update(line, host);
    case CommandLine::Verb::diff:
      return run_diff(line, host);
    case CommandLine::Verb::install:
      return run_install(line, host);
    case CommandLine::Verb::verify:
      return run_verify(line, host);
    case CommandLine::Verb::status:
      return run_status(line, host);
    case CommandLine::Verb::inspect:
      return run_inspect(line, host);
    case CommandLine::Verb::graph:
      return run_graph(line, host);
    case CommandLine::Verb::versions:
      return run_versions(line, host);
    case CommandLine::Verb::explain:
      return !line.find.empty()         ? run_find(line, host)
             : line.credentials.empty() ? run_explain(line, host)
                                        : run_explain_credentials(line, host);
    case CommandLine::Verb::bundle_create:
      return run_bundle_create(line, host);
    case CommandLine::Verb::bundle_pull:
      return run_bundle_pull(line, host);
    case CommandLine::Verb::bundle_unpack:
      return run_bundle_unpack(line, host);
    case CommandLine::Verb::bundle_push:
      return run_bundle_push(line, host);
    case CommandLine::Verb::bundle_list:
    case CommandLine::Verb::bundle_verify:
      return run_bundle_read(line, host);
    case CommandLine::Verb::cache_info:
      return run_cache_info(line, host);
    case CommandLine::Verb::cache_prune:
      return run_cache_prune(line, host);
    case CommandLine::Verb::call:
      return run_call(line, host);
    case CommandLine::Verb::sbom:
      return run_sbom(line, host);
    case CommandLine::Verb::ci:
      return run_ci(line, host, interrupt);
    case CommandLine::Verb::mirror:
      return run_mirror(line, host, interrupt);
    case CommandLine::Verb::doctor:
      return run_doctor(line, host);
    case CommandLine::Verb::hook:
      return run_hook(line, host);
    case CommandLine::Verb::completion:
    case CommandLine::Verb::init:
    case CommandLine::Verb::mcp:
    case CommandLine::Verb::merge:
    case CommandLine::Verb::schema:
    case CommandLine::Verb::serve:
    case CommandLine::Verb::version:
      break;  // need no host
  }
  return run_serve(line);
}

// Of other threads than the first.
[[noreturn]] void end_on_exception() {
  try {
    if (const auto thrown = std::current_exception()) {
      std::rethrow_exception(thrown);
    }
  } catch (const std::exception& caught) {
    std::_Exit(end_unexpectedly(caught));
  } catch (...) {
    std::abort();
  }
  std::abort();
}

// Returns whether --quiet holds the output of a command. Others print what the user has requested.
bool holds_output(const CommandLine& line) {
  if (!line.common.quiet || line.common.json || line.sarif || line.dry_run || line.output_format != "text") {
    return false;
  }
  switch (line.verb) {
    case CommandLine::Verb::lock:
    case CommandLine::Verb::upgrade:
    case CommandLine::Verb::install:
    case CommandLine::Verb::verify:
    case CommandLine::Verb::status:
    case CommandLine::Verb::bundle_create:
    case CommandLine::Verb::bundle_pull:
    case CommandLine::Verb::bundle_push:
    case CommandLine::Verb::bundle_unpack:
    case CommandLine::Verb::bundle_verify:
    case CommandLine::Verb::cache_prune:
    case CommandLine::Verb::ci:
    case CommandLine::Verb::mirror:
    case CommandLine::Verb::hook:
    case CommandLine::Verb::doctor:
      return true;
    case CommandLine::Verb::update:
      return !line.list;
    default:
      return false;
  }
}

int run_line(CommandLine& line) {
  if (line.verb == CommandLine::Verb::version) {
    print_out(std::string(kVersion) + "\n");
    return 0;
  }
  if (line.verb == CommandLine::Verb::schema) {
    return run_schema(line);
  }
  if (line.verb == CommandLine::Verb::completion) {
    return run_completion(line);
  }
  if (line.verb == CommandLine::Verb::init) {
    return run_init(line);
  }
  if (line.verb == CommandLine::Verb::merge) {
    return run_merge(line);
  }
  if (line.verb == CommandLine::Verb::serve) {
    std::signal(SIGPIPE, SIG_IGN);  // a host that closes stderr must not end the session
    return run_serve(line);
  }
  if (line.verb == CommandLine::Verb::mcp) {
    std::signal(SIGPIPE, SIG_IGN);
    const auto host = Host::start(line.common, {});
    return host ? run_mcp(line, *host) : failed(host.error(), CommonFlags{}).exit_code;
  }
  if (line.verb == CommandLine::Verb::hook) {
    if (auto ok = prepare_hook(line); !ok) {
      return failed(ok.error(), CommonFlags{}).exit_code;
    }
  }
  Interrupt interrupt;
  const bool calls_again = line.verb == CommandLine::Verb::upgrade || line.verb == CommandLine::Verb::update ||
                           line.verb == CommandLine::Verb::diff;
  const auto host = Host::start(line.common, interrupt.token(), calls_again, line.verb == CommandLine::Verb::doctor);
  if (!host) {
    return failed(host.error(), CommonFlags{}).exit_code;
  }
  int code = dispatch(line, *host, interrupt);
  if (!flush_out()) {
    print_err("Error: the output could not be written [IO_ERROR]\n");
    code = worse_exit_code(code, exit_code(Code::io_error));
  }
  return interrupt.signal() != 0 ? 128 + interrupt.signal() : code;
}

}  // namespace

int end_unexpectedly(const std::exception& caught) {
  const Error error = unexpected_error("tofu-modlock", caught);
  release_output(true);
  print_err(render(error));
  return exit_code(error);
}

int run(int argc, const char* const* argv) {
  open_standard_descriptors();
  make_home_absolute();
  // A parent may have ignored this signal; children then have no exit code.
  std::signal(SIGCHLD, SIG_DFL);
  // A file that may not grow is an error like others.
  std::signal(SIGXFSZ, SIG_IGN);
  std::set_terminate(end_on_exception);
  PrivateFile::remove_abandoned();
  if (argc > 1 && std::string_view(argv[1]) == "complete") {
    run_complete({argv + 2, argv + argc});
    return 0;
  }
  auto parsed = parse_command_line(argc, argv);
  if (const int* code = std::get_if<int>(&parsed)) {
    return *code;
  }
  auto& line = std::get<CommandLine>(parsed);
  if (holds_output(line)) {
    hold_output();
  }
  const int code = run_line(line);
  release_output(code != 0);
  return code;
}

}  // namespace modlock::cli
