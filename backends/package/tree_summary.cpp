#include "backends/package/tree_summary.h"

#include "backends/base/digest.h"

namespace modlock {
namespace {

constexpr std::size_t kDigits = 64;

}  // namespace

std::string TreeSummary::text() const {
  std::string out;
  for (const FileDigest& file : files) {
    out.append(file.sha256).append("  ").append(file.name).append("\n");
  }
  return out;
}

std::string TreeSummary::h1() const {
  Sha256 sha;
  sha.update(text());
  const auto digest = sha.finish();
  return "h1:" + base64(digest.data(), digest.size());
}

std::optional<TreeSummary> parse_tree_summary(std::string_view text) {
  TreeSummary summary;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    if (end == std::string_view::npos || line.size() <= kDigits + 2 || line.substr(kDigits, 2) != "  ") {
      return std::nullopt;
    }
    summary.files.push_back({std::string(line.substr(kDigits + 2)), std::string(line.substr(0, kDigits))});
    text.remove_prefix(end + 1);
  }
  return summary;
}

}  // namespace modlock
