#include <cstdio>
#include <exception>

#include "plugin/cli/commands.h"

int main(int argc, char** argv) {
  try {
    return modlock::cli::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "Error: %s [INTERNAL]\n", error.what());
    return 1;
  }
}
