#pragma once

#include <optional>
#include <string>
#include <vector>

#include "protocol/error.h"
#include "protocol/json_text.h"
#include "protocol/object_reader.h"

namespace modlock::messages {

struct VersionsListParams {
  std::string source;
  std::optional<std::string> constraint;
  bool include_prerelease = false;
  std::string tag_prefix;
};
Result<VersionsListParams> decode_versions_list(const Json::Value& params, std::vector<std::string>& unknown);

struct OfferedVersion {
  std::string version;
  std::string tag;
  std::string commit;
  std::string digest;
};
struct SkippedTag {
  std::string tag;
  std::string reason;
};

struct VersionsListResult {
  std::string source;
  std::string kind;
  std::vector<OfferedVersion> versions;  // newest first
  std::optional<std::string> selected;
  std::vector<SkippedTag> skipped;
  std::string fetched_at;  // RFC 3339, UTC
  bool complete = true;
  Diagnostics diagnostics = {};  // left out where there are none
};
JsonText encode(const VersionsListResult& result);
// The same, as indent_json() would have it.
std::string encode_indented(const VersionsListResult& result);

}  // namespace modlock::messages
