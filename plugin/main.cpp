#include <exception>

#include "plugin/cli/commands.h"

int main(int argc, char** argv) {
  try {
    return modlock::cli::run(argc, argv);
  } catch (const std::exception& error) {
    return modlock::cli::end_unexpectedly(error);
  }
}
