#include "tests/hosts/renovate_writer.h"

#include <algorithm>
#include <optional>
#include <sstream>

namespace modlock::test {
namespace {

using Lines = std::vector<std::string>;

Lines split(const std::string& text) {
  Lines lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    lines.push_back(line);
  }
  lines.emplace_back();  // behind the last line end
  return lines;
}

// The text between the quotes of `  name = "…"`.
std::optional<std::pair<std::size_t, std::size_t>> value_of(const std::string& line, const std::string& name) {
  const std::size_t start = line.find_first_not_of(" \t");
  if (start == std::string::npos || line.compare(start, name.size(), name) != 0) {
    return std::nullopt;
  }
  const std::size_t equals = line.find_first_not_of(" \t", start + name.size());
  if (equals == std::string::npos || line[equals] != '=') {
    return std::nullopt;
  }
  const std::size_t open = line.find('"', equals);
  const std::size_t close = open == std::string::npos ? open : line.find('"', open + 1);
  return close == std::string::npos ? std::nullopt : std::optional(std::pair(open + 1, close));
}

// `    "h1:…",`
bool is_hash_line(const std::string& line) {
  const std::size_t start = line.find_first_not_of(" \t");
  return start != std::string::npos && line[start] == '"' && line.find("\",", start + 2) != std::string::npos;
}

Lines rewritten(const Lines& block, const ProviderBump& bump) {
  Lines out;
  std::size_t first_hash = std::string::npos;
  for (const std::string& line : block) {
    if (is_hash_line(line)) {
      first_hash = std::min(first_hash, out.size());
      continue;
    }
    std::string changed = line;
    if (const auto version = value_of(line, "version")) {
      changed.replace(version->first, version->second - version->first, bump.version);
    } else if (const auto constraints = value_of(line, "constraints")) {
      changed.replace(constraints->first, constraints->second - constraints->first, bump.constraints);
    }
    out.push_back(changed);
  }
  Lines hashes;
  for (const std::string& hash : bump.hashes) {
    hashes.push_back("    \"" + hash + "\",");
  }
  out.insert(out.begin() + static_cast<std::ptrdiff_t>(std::min(first_hash, out.size())), hashes.begin(), hashes.end());
  return out;
}

}  // namespace

std::string as_renovate_writes(const std::string& lock, std::vector<ProviderBump> bumps) {
  const Lines lines = split(lock);
  std::vector<std::size_t> starts;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].starts_with("provider \"")) {
      starts.push_back(i);
    }
  }
  Lines out(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(starts.empty() ? lines.size() : starts.front()));
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const std::size_t end = i + 1 < starts.size() ? starts[i + 1] : lines.size() - 1;
    const Lines block(lines.begin() + static_cast<std::ptrdiff_t>(starts[i]),
                      lines.begin() + static_cast<std::ptrdiff_t>(end));
    const auto bump = std::find_if(bumps.begin(), bumps.end(), [&](const ProviderBump& candidate) {
      return block.front().starts_with("provider \"" + candidate.address + "\"");
    });
    const Lines written = bump == bumps.end() ? block : rewritten(block, *bump);
    out.insert(out.end(), written.begin(), written.end());
  }
  if (!starts.empty()) {
    out.push_back(lines.back());
  }
  std::string text;
  for (std::size_t i = 0; i < out.size(); ++i) {
    text += (i == 0 ? "" : "\n") + out[i];
  }
  return text;
}

}  // namespace modlock::test
