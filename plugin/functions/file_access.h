#pragma once

#include <string>
#include <vector>

#include "protocol/base/result.h"

namespace modlock::eval {

// The files that functions may read. Paths are as the expression gives them; relative ones start at the directory that
// OpenTofu runs in, the root module. Errors: PATH_OUTSIDE_ROOT, NOT_FOUND, IO_ERROR, each naming the path.
class FileAccess {
 public:
  virtual ~FileAccess() = default;
  virtual Result<std::string> read(const std::string& path) const = 0;
  virtual Result<bool> exists(const std::string& path) const = 0;
  // The files below a directory, relative to it, "/"-separated, sorted bytewise.
  virtual Result<std::vector<std::string>> list(const std::string& directory) const = 0;
  // The absolute directory that relative paths start at.
  virtual std::string working_directory() const = 0;
};

}  // namespace modlock::eval
