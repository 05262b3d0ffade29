#include "tests/conformance/canaries.h"

#include <fmt/ranges.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <system_error>

#include "tests/support/base64.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

constexpr std::array kCanaries = {kRegistryToken, kOciPassword, kOciToken, kNetrcPassword, kUrlPassword, kUrlQuery};

// What can be read: a process may end meanwhile, which formatted output takes as the end of its file.
std::string content_of(const fs::path& file) {
  const std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

std::optional<int> process_number(const fs::path& directory) {
  const std::string name = directory.filename().string();
  int number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  return error == std::errc() && end == name.data() + name.size() ? std::optional(number) : std::nullopt;
}

// "17 (name) S 12 …": the name may hold anything.
int parent_in(const std::string& stat) {
  std::istringstream rest(stat.substr(std::min(stat.rfind(')') + 1, stat.size())));
  std::string state;
  int parent = 0;
  rest >> state >> parent;
  return parent;
}

}  // namespace

std::string basic_authorization(std::string_view password) {
  return "Basic " + base64_of(kUser + (":" + std::string(password)));
}

std::string canaries_in(std::string_view text) {
  std::string found;
  for (const std::string canary : kCanaries) {
    const std::string authorization = base64_of(kUser + (":" + canary));
    if (text.find(canary) != std::string_view::npos || text.find(authorization) != std::string_view::npos) {
      found += (found.empty() ? "" : ", ") + canary;
    }
  }
  return found;
}

std::string canaries_below(const fs::path& directory) {
  std::string text;
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    text += entry.path().string() + "\n";
    if (entry.is_symlink()) {
      text += fs::read_symlink(entry.path()).string() + "\n";
    } else if (entry.is_regular_file()) {
      text += content_of(entry.path()) + "\n";
    }
  }
  return canaries_in(text);
}

std::string files_below(const fs::path& directory) {
  std::set<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    if (!entry.is_directory() || entry.is_symlink()) {
      files.insert(entry.path().lexically_relative(directory).string());
    }
  }
  return fmt::to_string(fmt::join(files, " "));
}

std::string everything_said(const Error& error) {
  std::string text = error.message + "\n" + error.hint + "\n" + error.subject + "\n";
  for (const std::string& note : error.notes) {
    text += note + "\n";
  }
  for (const Related& related : error.related) {
    text += related.message + "\n" + related.location.path + "\n";
  }
  return text + (error.location ? error.location->path : "");
}

std::set<std::string> command_lines_of_children() {
  std::map<int, int> parents;
  std::error_code gone;
  for (fs::directory_iterator entry("/proc", gone); !gone && entry != fs::directory_iterator(); entry.increment(gone)) {
    if (const auto number = process_number(entry->path())) {
      parents[*number] = parent_in(content_of(entry->path() / "stat"));
    }
  }
  std::set<std::string> lines;
  for (const auto& [number, first] : parents) {
    int parent = first;
    while (parent != 0 && parent != ::getpid()) {
      const auto next = parents.find(parent);
      parent = next == parents.end() ? 0 : next->second;
    }
    if (parent != 0) {
      lines.insert(content_of("/proc/" + std::to_string(number) + "/cmdline"));
    }
  }
  return lines;
}

}  // namespace modlock::test
