#pragma once

#include <optional>
#include <string>
#include <vector>

#include "protocol/object_reader.h"

namespace modlock::messages {

inline constexpr std::string_view kProtocolVersion = "1.0";

// A program that serves a further kind of sources (docs/backends.md).
struct ExternalBackend {
  std::string scheme;
  std::vector<std::string> command;
};

struct InitializeParams {
  std::vector<std::string> protocol_versions;
  std::vector<std::string> workspace_roots;
  std::vector<std::string> edit_forms;  // "fullText", "ranges"; empty: both
  std::optional<std::string> implementation;
  std::optional<std::string> implementation_version;
  std::optional<bool> offline;
  std::optional<std::string> cache_dir;
  std::optional<std::string> config_file;
  std::vector<ExternalBackend> backends;
};

// Errors: INVALID_PARAMS; also where no protocol version is in common.
Result<InitializeParams> decode_initialize(const Json::Value& params, std::vector<std::string>& unknown);

struct InitializeResult {
  std::string server_version;
  std::vector<std::string> methods;
  std::vector<std::string> backends;
  std::size_t max_in_flight = 0;
  std::size_t max_message_bytes = 0;
  std::string implementation;          // "opentofu" or "terraform"
  std::string implementation_version;  // empty: not known
  std::string implementation_from;     // what it was concluded from
};

Json::Value encode(const InitializeResult& result);

}  // namespace modlock::messages
