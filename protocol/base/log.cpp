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
  return kLogLevels.at(static_cast<std::size_t>(level));
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
