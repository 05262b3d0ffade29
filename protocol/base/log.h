#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace modlock {

enum class LogLevel { error, warning, info, debug };
inline constexpr std::array<std::string_view, 4> kLogLevels = {"error", "warning", "info", "debug"};
std::string_view to_string(LogLevel level);

// Receives log lines. May be called from several threads. A line never contains a secret: callers pass only printable
// types (Source, not RawSource).
class Log {
 public:
  virtual ~Log() = default;
  virtual void write(LogLevel level, std::string_view line) = 0;
};

// Drops everything.
Log& null_log();

// Receives the progress of one request. May be called from several threads and may drop calls.
class Progress {
 public:
  virtual ~Progress() = default;
  // `message` is the current action ("listing git::https://…"), `done` of `total` steps (total 0: unknown).
  virtual void report(std::string_view message, std::size_t done, std::size_t total) = 0;
  // Bytes of a download arrived. Called often.
  virtual void received(std::size_t /*bytes*/) {}
};

// Drops everything.
Progress& null_progress();

}  // namespace modlock
