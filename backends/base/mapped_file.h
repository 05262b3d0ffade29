#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

#include "protocol/base/result.h"

namespace modlock {

// The content of a file without a copy in memory. The file must not become shorter while the object exists.
class MappedFile {
 public:
  // Errors: IO_ERROR.
  static Result<MappedFile> open(const std::filesystem::path& path);
  std::string_view content() const { return content_; }

 private:
  std::shared_ptr<void> mapping_;  // null: the file is empty
  std::string_view content_;
};

// Takes the whole pages of these bytes out of memory, if the system can. They can still be read.
void release_pages(std::string_view bytes);

}  // namespace modlock
