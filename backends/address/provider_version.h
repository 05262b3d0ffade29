#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "protocol/base/result.h"

namespace modlock {

// A provider version as apparentlymart/go-versions reads it, the library behind OpenTofu's provider versions: one to
// three numbers (padded with zeros), `-prerelease`, `+metadata`.
struct ProviderVersion {
  std::uint64_t major = 0;
  std::uint64_t minor = 0;
  std::uint64_t patch = 0;
  std::string prerelease = {};
  std::string metadata = {};

  // Errors: CONSTRAINT_SYNTAX in go-versions' words, naming the text.
  static Result<ProviderVersion> parse(std::string_view text);
  std::string to_string() const;
  bool operator==(const ProviderVersion&) const = default;
};

// Negative, zero or positive: numbers, then a release above its prereleases, then prereleases in go-versions' own order
// (not SemVer's: of two that share their first parts the one with fewer parts is smaller). Metadata does not count.
int compare(const ProviderVersion& left, const ProviderVersion& right);

// The order of two prereleases, which is also that of metadata where constraints are sorted for the lock file.
int compare_extra(std::string_view left, std::string_view right);

}  // namespace modlock
