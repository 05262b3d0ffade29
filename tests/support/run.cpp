#include "tests/support/run.h"

#include <cstdint>
#include <stdexcept>

#include "backends/base/process.h"

namespace modlock::test {

std::string run(std::vector<std::string> argv, const std::filesystem::path& directory,
                std::map<std::string, std::string> environment, std::string input) {
  std::string shown;
  for (const std::string& argument : argv) {
    shown += argument + " ";
  }
  Command command{.argv = std::move(argv)};
  if (!directory.empty()) {
    command.directory = directory;
  }
  command.set_environment = std::move(environment);
  command.unset_environment = {"GIT_*"};
  command.input = std::move(input);
  Context context;
  context.children.memory = std::uint64_t{8} << 30U;  // several programs at once, each with its sanitizers
  auto finished = run_command(command, context);
  if (!finished) {
    throw std::runtime_error(shown + "did not run: " + finished.error().message);
  }
  if (finished->exit_code != 0) {
    throw std::runtime_error(shown + "failed: " + finished->error_output);
  }
  return finished->output;
}

}  // namespace modlock::test
