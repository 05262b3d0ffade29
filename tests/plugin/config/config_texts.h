#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "plugin/config/config_files.h"

namespace modlock::test {

// Files by name, as read in a directory that holds nothing else.
using Texts = std::vector<std::pair<std::string, std::string>>;

inline std::vector<ConfigText> read_texts(const Texts& texts, ClientKind tool = ClientKind::opentofu,
                                          ConfigKind kind = ConfigKind::module) {
  Documents documents;
  for (const auto& [name, text] : texts) {
    documents.emplace("/no/such/root/" + name, text);
  }
  const auto parts = kind == ConfigKind::module ? ConfigParts::used : ConfigParts::all;
  return read_config_files("/no/such/root", "/no/such/root", documents, kind, tool, {}, parts).value();
}

// The text that a location names: of a range of several lines the first one.
inline std::string sliced(const std::vector<ConfigText>& files, const Location& location) {
  for (const ConfigText& file : files) {
    if (file.path == location.path && location.range) {
      const std::size_t start = location.range->start.byte;
      const std::string text = file.text.substr(start, location.range->end.byte - start);
      return text.substr(0, text.find('\n'));
    }
  }
  return {};
}

// One line for each: "error main.tf:1:2 `what stands there`: message".
inline std::string describe(const Diagnostics& diagnostics, const std::vector<ConfigText>& files) {
  std::string lines;
  for (const Diagnostic& diagnostic : diagnostics) {
    const Location location = diagnostic.what.location.value_or(Location{});
    lines += fmt::format("{}{} {} `{}`: {}", lines.empty() ? "" : "\n", to_string(diagnostic.severity),
                         to_string(location), sliced(files, location), diagnostic.what.message);
  }
  return lines;
}

}  // namespace modlock::test
