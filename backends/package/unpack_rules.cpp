#include "backends/package/unpack_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "backends/address/source_text.h"
#include "backends/base/ascii.h"
#include "backends/base/entry_name.h"

namespace modlock::unpack {
namespace {

constexpr std::size_t kLongestName = 255;
constexpr std::size_t kLongestPath = 2048;  // leaves room below PATH_MAX for the directory of the package
constexpr const char* kHint = "the archive cannot be used as it is: ask its author for another one";

bool is_absolute(std::string_view name) {
  const auto is_slash = [](char c) { return c == '/' || c == '\\'; };
  return (!name.empty() && is_slash(name[0])) ||
         (name.size() >= 3 && ascii::is_alpha(name[0]) && name[1] == ':' && is_slash(name[2]));
}

// Returns the parts of a name as filepath.Join cleans it.
std::vector<std::string_view> parts_of(std::string_view name) {
  std::vector<std::string_view> parts = split(name, '/');
  std::erase_if(parts, [](std::string_view part) { return part.empty() || part == "."; });
  return parts;
}

std::string_view fault_of(std::string_view name, EntryType type) {
  if (name.size() > kLongestPath) {
    return "has a path longer than 2048 bytes";
  }
  if (name.find('\0') != std::string_view::npos) {
    return "has a NUL in its name";
  }
  if (is_absolute(name)) {
    return "has an absolute path";
  }
  if (has_dot_dot(name)) {
    return "points outside it with \"..\"";
  }
  return type == EntryType::special ? "is a device, a pipe or a socket" : "";
}

}  // namespace

tl::unexpected<Error> unsafe_entry(std::string_view display, std::string_view entry, std::string_view why) {
  constexpr std::size_t kShown = 256;
  const std::string shown = escape_controls(entry.substr(0, kShown)) + (entry.size() > kShown ? "…" : "");
  return fail(Code::archive_unsafe, fmt::format("the entry \"{}\" of \"{}\" {}", shown, display, why), kHint);
}

tl::unexpected<Error> unsafe_archive(std::string_view display, std::string_view why) {
  return fail(Code::archive_unsafe, fmt::format("\"{}\" {}", display, why), kHint);
}

tl::unexpected<Error> bad_archive(std::string_view display, std::string_view why) {
  return fail(Code::bad_response, fmt::format("\"{}\" cannot be unpacked: {}", display, why));
}

Result<std::optional<Place>> Rules::place(std::string_view name, EntryType type) {
  if (++entries_ > limits_.entries) {
    return unsafe_entry(display_, name, fmt::format("is one more than the {} allowed", limits_.entries));
  }
  if (const std::string_view fault = fault_of(name, type); !fault.empty()) {
    return unsafe_entry(display_, name, fault);
  }
  const std::vector<std::string_view> parts = parts_of(name);
  if (std::ranges::any_of(parts, is_git_entry)) {
    return std::nullopt;
  }
  if (parts.empty() && type == EntryType::file) {
    return unsafe_entry(display_, name, "is a file without a name");
  }
  for (const std::string_view part : parts) {
    if (const auto disguised = disguised_name(part)) {
      return unsafe_entry(display_, name, fmt::format(kDisguised, *disguised));
    }
  }
  Place place;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].size() > kLongestName) {
      return unsafe_entry(display_, name, "has a name longer than 255 bytes");
    }
    place.path.append(i == 0 ? "" : "/").append(parts[i]);
    const bool is_last = i + 1 == parts.size();
    const auto before = known_.find(place.path);
    if (is_last && type == EntryType::file) {
      if (before != known_.end()) {
        return unsafe_entry(display_, name,
                            before->second == EntryType::file ? "occurs twice" : "is a directory and a file");
      }
      MODLOCK_TRY(remember(name, place.path, EntryType::file));
    } else if (before == known_.end()) {
      MODLOCK_TRY(remember(name, place.path, EntryType::directory));
      place.directories.push_back(place.path);
    } else if (before->second == EntryType::file) {
      return unsafe_entry(display_, name, is_last ? "is a directory and a file" : "is below a file");
    }
  }
  return place;
}

Result<void> Rules::remember(std::string_view name, const std::string& path, EntryType type) {
  name_bytes_ += path.size();
  if (known_.size() >= limits_.entries) {
    return unsafe_entry(display_, name,
                        fmt::format("makes it exceed the {} files and directories allowed", limits_.entries));
  }
  if (name_bytes_ > limits_.name_bytes) {
    return unsafe_entry(display_, name, fmt::format("makes the names exceed the {} bytes allowed", limits_.name_bytes));
  }
  known_.emplace(path, type);
  return {};
}

Result<void> Rules::grow(std::string_view name, std::uint64_t bytes) {
  auto checked = check_size_limits(name, unpacked_bytes_, bytes);
  unpacked_bytes_ += checked ? bytes : 0;
  return checked;
}

Result<void> Rules::check_size_limits(std::string_view name, std::uint64_t before, std::uint64_t bytes) const {
  const std::uint64_t after = before + std::min(bytes, std::numeric_limits<std::uint64_t>::max() - before);
  const bool is_too_much = after > limits_.total_bytes;
  if (!is_too_much && after <= limits_.always_fine) {
    return {};
  }
  MODLOCK_TRY(const auto packed, packed_(after / limits_.ratio));
  const std::uint64_t most = std::max(limits_.always_fine, packed * limits_.ratio + limits_.ratio - 1);
  // The lower of two limits is reached first, regardless of the step size.
  if (is_too_much && limits_.total_bytes <= most) {
    return unsafe_entry(display_, name, fmt::format("makes it exceed the {} bytes allowed", limits_.total_bytes));
  }
  if (after > most) {
    return unsafe_entry(display_, name, fmt::format("unpacks to over {} times the size of the archive", limits_.ratio));
  }
  return {};
}

}  // namespace modlock::unpack
