#pragma once

#include <json/value.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "protocol/error.h"

namespace modlock::messages {

struct RangeEdit {
  std::size_t start = 0;  // bytes in the base
  std::size_t end = 0;
  std::string old_text;
  std::string new_text;
  Range range;
};

struct EditedDocument {
  std::string path;
  std::string operation;                   // "modify", "create", "delete"
  std::optional<std::string> base_sha256;  // absent: there is no base
  std::optional<std::string> new_text;
  std::optional<std::vector<RangeEdit>> edits;
  std::string result_sha256;
};

struct WorkspaceEdit {
  std::vector<EditedDocument> documents;
};

Json::Value encode(const WorkspaceEdit& edit);

}  // namespace modlock::messages
