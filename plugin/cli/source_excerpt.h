#pragma once

#include <json/value.h>

#include <string>
#include <utility>

#include "protocol/base/error.h"

namespace modlock::cli {

// The lines that locations below `root` point to, with carets under their range, to be shown below messages:
//
//     12 |   source = "git::https://example.com/vpc.git?ref=${var.ref}"
//        |                                                  ^^^^^^^^^^
//
// Tabs are shown as blanks, control characters and what is not UTF-8 as "\x1b"; of a line of more than 160 characters
// only the part around the range, between "…". Empty where the location has no range, the file cannot be read, or the
// file is neither configuration nor a lock: others hold values of variables. What could be a secret in an address is
// shown as "***".
class SourceExcerpts {
 public:
  explicit SourceExcerpts(std::string root) : root_(std::move(root)) {}

  std::string at(const Location& location);

 private:
  const std::string& text_of(const std::string& path);

  std::string root_;
  std::string path_;  // of the file read last: many errors in a row stand in one
  std::string text_;  // empty where it cannot be read
};

}  // namespace modlock::cli
