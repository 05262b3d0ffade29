#include "plugin/lock/local_git.h"

#include "backends/base/process.h"
#include "backends/git/git_command.h"

namespace modlock {
namespace {

bool ends_the_run(const Error& error) {
  return error.code == Code::request_cancelled || error.code == Code::deadline_exceeded || error.code == Code::io_error;
}

}  // namespace

Result<std::optional<std::string>> run_local_git(const std::filesystem::path& root,
                                                 const std::vector<std::string>& arguments, const Context& context) {
  Result<Finished> finished = run_command(git::enclosing_command(root, arguments), context);
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
