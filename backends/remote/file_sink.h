#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>

#include "backends/base/digest.h"
#include "backends/http/http_client.h"
#include "backends/remote/closure.h"

namespace modlock::remote {

// Writes received bytes to a file. A new attempt replaces the earlier one.
class FileSink final : public BodySink {
 public:
  explicit FileSink(std::filesystem::path path) : path_(std::move(path)) {}

  Result<void> begin(std::optional<std::uint64_t> length) override;
  Result<void> write(std::string_view bytes) override;
  // Closes the file, once. Returns the descriptor of its bytes. Errors: IO_ERROR.
  Result<Blob> finish();

 private:
  std::filesystem::path path_;
  std::ofstream file_;
  Sha256 sha_;
  std::uint64_t size_ = 0;
};

}  // namespace modlock::remote
