#pragma once

#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace modlock::test {

// A system call that changes files, or opens one: where its arguments say which file is meant. Or one that starts a
// thread.
struct WatchedCall {
  static constexpr int kNone = -1;

  std::string_view group;  // what --calls names: rename, link, unlink, mkdir, open, write, sync, mode, clone, thread
  std::string_view name;
  long number = 0;
  int directory = kNone;  // argument: the directory that `path` is relative to
  int path = kNone;       // argument: a path
  int second_directory = kNone;
  int second_path = kNone;
  int descriptor = kNone;  // argument: an open file
  int request = kNone;     // argument: that must be `request_value`
  unsigned long request_value = 0;
  int flags = kNone;   // argument: flags of open(), which must ask for writing
  int thread = kNone;  // argument: flags of clone(), or where they are, which must ask for a thread
};

// The calls of these groups. Throws std::invalid_argument for a group that is not known.
std::vector<WatchedCall> watched_calls(const std::vector<std::string>& groups);

using Arguments = unsigned long long[6];

// The paths that a call which process `pid` is about to make names: absolute, normalised, links not followed; "/"
// for the start of a thread. Empty where the call is not meant by its row (an open for reading, a new process).
std::vector<std::filesystem::path> paths_of(const WatchedCall& call, pid_t pid, const Arguments& arguments);

}  // namespace modlock::test
