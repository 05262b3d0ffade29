
#include <filesystem>

#include "plugin/cli/foreground_child.h"
#include "plugin/cli/over_roots.h"
#include "plugin/mirror/mirror.h"
#include "protocol/base/result.h"

namespace modlock::cli {
namespace {

namespace fs = std::filesystem;

struct MirrorRun {
  std::string root;
  fs::path directory;  // where the command runs
};

// `tofu -chdir=DIR init` names its root itself.
Result<MirrorRun> find_run(const CommandLine& line, const Host& host) {
  constexpr std::string_view kChdir = "-chdir=";
  CommonFlags flags = line.common;
  const bool names_root = flags.directories.empty() && line.command.size() > 1 && line.command[1].starts_with(kChdir);
  if (names_root) {
    flags.directories = {line.command[1].substr(kChdir.size())};
  }
  MODLOCK_TRY(auto roots, find_roots(flags, host));
  std::error_code ignored;
  return MirrorRun{roots.paths.front(), names_root ? fs::current_path(ignored) : fs::path(roots.paths.front())};
}

}  // namespace

Result<int> run_mirror(const CommandLine& line, const Host& host) {
  MODLOCK_TRY(const MirrorRun place, find_run(line, host));
  if (auto missing = find_missing_configuration(place.root)) {
    missing->message += ": the command runs without a mirror";
    print_diagnostics({{Severity::warning, std::move(*missing)}}, place.root, line.common.print);
  }
  TerminalLog log(LogLevel::warning, true, line.common.print);
  Run run({.stop = host.interrupt().token(), .deadline = {}, .log = &log});
  const auto mirror = Mirror::start(host.engine(), host.root_params(place.root, line.common), run);
  if (!mirror) {
    return failed_everywhere(mirror.error(), line.common, place.root, error_data(run));
  }
  print_diagnostics(run.diagnostics, place.root, line.common.print);
  const auto code = run_in_foreground(line.command, place.directory, mirror->environment(), host.interrupt());
  return code ? *code : failed_everywhere(code.error(), line.common, place.root);
}

}  // namespace modlock::cli
