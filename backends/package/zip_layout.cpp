#include "backends/package/zip_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "backends/package/unpack_rules.h"
#include "protocol/base/result.h"

namespace modlock {
namespace {

using unpack::unsafe_archive;
using unpack::unsafe_entry;

constexpr std::size_t kLongestName = 255;
constexpr std::string_view kProgramPrefix = "terraform-provider-";

std::string_view next_part(std::string_view& rest, std::string_view separators) {
  const std::size_t end = std::min(rest.find_first_of(separators), rest.size());
  const std::string_view part = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return part;
}

// What is wrong with a name; empty: nothing.
std::string_view fault_of(std::string_view name) {
  if (name.find('\0') != std::string_view::npos) {
    return "has a NUL in its name";
  }
  if (name.find('\n') != std::string_view::npos) {
    return "has a line end in its name";
  }
  for (std::string_view rest = name; !rest.empty();) {
    if (next_part(rest, "/\\") == "..") {
      return "leads out of it with \"..\"";
    }
  }
  for (std::string_view rest = name; !rest.empty();) {
    if (next_part(rest, "/").size() > kLongestName) {
      return "has a name longer than 255 bytes";
    }
  }
  return "";
}

class Layout {
 public:
  Layout(const UnpackLimits& limits, std::string_view display) : limits_(limits), display_(display) {}

  Result<void> add(const ZipEntry& entry) {
    if (const std::string_view fault = fault_of(entry.name); !fault.empty()) {
      return unsafe_entry(display_, entry.name, fault);
    }
    std::string path;
    for (std::string_view rest = entry.name; !rest.empty();) {
      const std::string_view part = next_part(rest, "/");
      if (part.empty() || part == ".") {
        continue;
      }
      if (!path.empty()) {
        if (auto ok = remember(entry.name, path, true); !ok) {
          return ok;
        }
        path += '/';
      }
      path += part;
    }
    if (path.empty() && !entry.is_directory) {
      return unsafe_entry(display_, entry.name, "is a file without a name");
    }
    found_.is_plain = found_.is_plain && !entry.is_directory && path == entry.name && !known_.contains(path);
    if (!path.empty()) {
      if (auto ok = remember(entry.name, path, entry.is_directory); !ok) {
        return ok;
      }
    }
    if (!entry.is_directory && path.find('/') == std::string::npos && path.starts_with(kProgramPrefix)) {
      found_.programs.push_back(path);
    }
    found_.paths.push_back(entry.is_directory ? std::string() : std::move(path));
    return {};
  }

  ZipLayout result() {
    std::sort(found_.programs.begin(), found_.programs.end());
    found_.programs.erase(std::unique(found_.programs.begin(), found_.programs.end()), found_.programs.end());
    return std::move(found_);
  }

 private:
  Result<void> remember(std::string_view name, const std::string& path, bool is_directory) {
    const auto [at, is_new] = known_.emplace(path, is_directory);
    if (!is_new) {
      return at->second == is_directory ? Result<void>()
                                        : unsafe_entry(display_, name, "is, or lies below, a directory and a file");
    }
    name_bytes_ += path.size();
    if (known_.size() > limits_.entries || name_bytes_ > limits_.name_bytes) {
      return unsafe_entry(display_, name, "takes it over the files and directories allowed");
    }
    return {};
  }

  const UnpackLimits& limits_;
  std::string_view display_;
  ZipLayout found_;
  std::unordered_map<std::string, bool> known_;  // whether a path is a directory
  std::uint64_t name_bytes_ = 0;
};

}  // namespace

Result<ZipLayout> zip_layout(const std::vector<ZipEntry>& entries, const UnpackLimits& limits,
                             std::string_view display) {
  if (entries.size() > limits.entries) {
    return unsafe_archive(display, fmt::format("holds {} entries, {} are allowed", entries.size(), limits.entries));
  }
  Layout layout(limits, display);
  for (const ZipEntry& entry : entries) {
    MODLOCK_TRY(layout.add(entry));
  }
  return layout.result();
}

Result<void> expect_provider_program(const std::vector<std::string>& programs, std::string_view type,
                                     std::string_view display) {
  const std::string prefix = fmt::format("{}{}", kProgramPrefix, type);
  const bool any = std::any_of(programs.begin(), programs.end(), [&](std::string_view name) {
    return name.starts_with(prefix) &&
           (name.size() == prefix.size() || name[prefix.size()] == '_' || name[prefix.size()] == '.');
  });
  if (!any) {
    return fail(Code::bad_response,
                fmt::format("\"{}\": provider binary not found: could not find executable file starting with {}",
                            display, prefix),
                "no client can use the package: ask its author for another one");
  }
  return {};
}

}  // namespace modlock
