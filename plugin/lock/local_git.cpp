#include "plugin/lock/local_git.h"

#include "backends/process/process.h"

namespace modlock {
namespace {

bool ends_the_run(const Error& error) {
  return error.code == Code::request_cancelled || error.code == Code::deadline_exceeded || error.code == Code::io_error;
}

}  // namespace

Result<std::optional<std::string>> run_local_git(const std::filesystem::path& root,
                                                 const std::vector<std::string>& arguments, const Context& context) {
  // A partial clone would fetch what it lacks: GIT_NO_LAZY_FETCH forbids it from git 2.44 on, the protocol setting in
  // every version.
  Command command{
      .argv = {"git", "-c", "protocol.allow=never", "-c", "core.fsmonitor=false"},
      .directory = root,
      .set_environment = {{"GIT_NO_LAZY_FETCH", "1"},
                          {"GIT_TERMINAL_PROMPT", "0"},
                          {"GIT_OPTIONAL_LOCKS", "0"},
                          {"GIT_ALLOW_PROTOCOL", ""}},
      // A hook that runs us has these set for the repository it runs in, which may be another one.
      .unset_environment = {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_OBJECT_DIRECTORY",
                            "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_COMMON_DIR", "GIT_NAMESPACE"}};
  command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
  Result<Finished> finished = run_command(command, context);
  if (!finished) {
    if (ends_the_run(finished.error())) {
      return fail(std::move(finished).error());
    }
    return std::nullopt;
  }
  if (finished->exit_code != 0) {
    return std::nullopt;
  }
  return std::move(finished->output);
}

}  // namespace modlock
