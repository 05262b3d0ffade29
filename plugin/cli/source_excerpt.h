#pragma once

#include <string>
#include <utility>

#include "protocol/base/error.h"

namespace modlock::cli {

// Excerpts of the lines at locations below `root`, with carets under their range, for display below messages:
//
//     12 |   source = "git::https://example.com/vpc.git?ref=${var.ref}"
//        |                                                  ^^^^^^^^^^
//
// Tabs are shown as blanks, control characters and what is not UTF-8 as "\x1b"; of a line of more than 160 characters
// only the part around the range, between "…". Empty if the location has no range, the file cannot be read, is in an
// installed module, or is neither configuration nor a lock: other files contain values of variables. Empty, too, if the
// line has more than 4096 bytes, or may contain a secret: an address with user-info other than "git", with a fragment,
// or with an argument other than a `ref` or `depth` that names a commit or a reference.
class SourceExcerpts {
 public:
  explicit SourceExcerpts(std::string root) : root_(std::move(root)) {}

  std::string at(const Location& location);

 private:
  const std::string& text_of(const std::string& path);

  std::string root_;
  std::string path_;  // of the last file read: many errors in a row are in one file
  std::string text_;  // empty if it cannot be read
};

}  // namespace modlock::cli
