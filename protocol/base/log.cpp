#include "protocol/base/log.h"

namespace modlock {
namespace {

class NullLog final : public Log {
 public:
  void write(LogLevel, std::string_view) override {}
};

class NullProgress final : public Progress {
 public:
  void report(std::string_view, std::size_t, std::size_t) override {}
};

}  // namespace

std::string_view to_string(LogLevel level) {
  switch (level) {
    case LogLevel::error:
      return "error";
    case LogLevel::warning:
      return "warning";
    case LogLevel::info:
      return "info";
    case LogLevel::debug:
      break;
  }
  return "debug";
}

Log& null_log() {
  static NullLog log;
  return log;
}

Progress& null_progress() {
  static NullProgress progress;
  return progress;
}

}  // namespace modlock
