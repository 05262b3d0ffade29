#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <string_view>

#include "backends/base/environment.h"
#include "backends/base/private_file.h"
#include "plugin/cli/commands.h"
#include "plugin/cli/interrupt.h"
#include "plugin/cli/over_roots.h"
#include "plugin/config/config_files.h"

namespace modlock::cli {
namespace {

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

// Returns whether --quiet holds the output of a command.
bool holds_output(const CommandLine& line) {
  return line.common.quiet && line.has_report && !line.common.json && !line.common.sarif && !line.dry_run &&
         !line.list && line.output_format == "text";
}

// Returns INVALID_PARAMS if the root module is named in place of a module call.
Result<void> expect_no_directory(const CommandLine& line) {
  const CommonFlags& flags = line.common;
  std::vector<std::string> subjects = line.updates;
  subjects.insert(subjects.end(), line.targets.begin(), line.targets.end());
  subjects.push_back(line.subject);
  const auto directory = std::ranges::find_if(subjects, path_is_directory);
  const bool has_calls = has_configuration(flags.directories.empty() ? "." : flags.directories.front());
  return flags.recursive || directory == subjects.end() || has_calls
             ? Result<void>()
             : fail(found_directory(line.command_name, *directory));
}

int run_line(CommandLine& line) {
  CommonFlags& flags = line.common;
  flags.in_markdown = line.output_format == "markdown";
  flags.sarif = flags.sarif || line.output_format == "sarif";
  flags.json = flags.json || flags.sarif || line.output_format == "json" || line.output_format == "terraform-modules";
  const auto code_of = [&](const Result<int>& code) { return code ? *code : failed_everywhere(code.error(), flags); };
  if (const auto* const alone = std::get_if<CommandLine::RunAlone>(&line.run)) {
    return code_of((*alone)(line));
  }
  const auto run = std::get<CommandLine::RunWithHost>(line.run);
  CommonFlags plain;
  plain.print = flags.print;
  if (auto ok = run == run_hook ? prepare_hook(line) : expect_no_directory(line); !ok) {
    return failed_everywhere(ok.error(), run == run_hook ? plain : flags);
  }
  flags.needs_cache = flags.needs_cache || line.verify.online || line.verify.age;  // they fetch
  flags.uses_age = flags.uses_age || line.verify.age;
  Interrupt interrupt;
  const auto host = Host::start(flags, &interrupt, line.command);
  if (!host) {
    return failed_everywhere(host.error(), plain);
  }
  int code = code_of(run(line, *host));
  if (!flush_out()) {
    flags.print.err("Error: the output could not be written [IO_ERROR]\n");
    code = worse_exit_code(code, exit_code(Code::io_error));
  }
  return interrupt.signal() != 0 ? 128 + interrupt.signal() : code;
}

}  // namespace

int end_unexpectedly(const std::exception& caught) {
  const Error error = unexpected_error("tofu-modlock", caught);
  Printer().err(render(error));
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
  const bool holds = holds_output(line);
  line.common.print = holds ? Printer::holding() : Printer();
  const int code = run_line(line);
  if (holds && code == 0) {
    line.common.print.drop();
  }
  return code;
}

}  // namespace modlock::cli
