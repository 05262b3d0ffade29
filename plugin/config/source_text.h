#pragma once

#include <atomic>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "protocol/base/result.h"

namespace modlock {

// A value of the configuration and its location.
struct SourceText {
  std::string text;   // the value
  Location location;  // of the expression
};

struct ConfigFile {
  std::string path;  // relative to the root
  enum class Role { primary, override_file, test } role = Role::primary;
  std::string sha256;
};

// A text that overlays a file on disk.
struct DocumentText {
  explicit DocumentText(std::string content, std::string as_sent = {})
      : text(std::move(content)), name(std::move(as_sent)) {}

  std::string text;
  std::string name;  // its path in the request
  // Whether it was read. Copies share it.
  std::shared_ptr<std::atomic<bool>> is_read = std::make_shared<std::atomic<bool>>(false);
};

// The lock files, settings and edited files that a run has read, by path. They are forgotten when they are written.
struct ReadTexts {
  std::mutex mutex;
  std::map<std::filesystem::path, Result<std::optional<std::string>>> texts;
};

// By absolute, lexically normal path.
struct Documents : std::map<std::filesystem::path, DocumentText> {
  std::shared_ptr<ReadTexts> read = {};  // null: read_once() reads each time
};

// A path in the form of locations and results: relative to `root`, `/`-separated, may start with "../".
std::string relative_to_root(const std::filesystem::path& path, const std::filesystem::path& root);

}  // namespace modlock
