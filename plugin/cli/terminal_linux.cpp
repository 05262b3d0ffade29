#include <sys/ioctl.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <cstring>

#include "plugin/cli/terminal.h"

namespace modlock::cli {

std::size_t terminal_columns(int descriptor) {
  if (isatty(descriptor) != 1) {
    return 0;
  }
  winsize size{};
  if (ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col != 0) {
    return size.ws_col;
  }
  constexpr std::size_t kUsual = 80;
  std::size_t columns = 0;
  if (const char* const set = std::getenv("COLUMNS"); set != nullptr) {
    std::from_chars(set, set + std::strlen(set), columns);
  }
  return columns == 0 ? kUsual : columns;
}

}  // namespace modlock::cli
