#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/base/result.h"

namespace modlock {

// A version as hashicorp/go-version reads it, the library that OpenTofu uses for module versions.
class Version {
 public:
  // Parses `v?N(.N)*`, prerelease (`-pre`, or letters without a dash as in 1.2.3beta1), `+metadata`; padded to three
  // numbers. Errors: CONSTRAINT_SYNTAX naming the text.
  static Result<Version> parse(std::string_view text);

  const std::vector<std::int64_t>& numbers() const { return numbers_; }  // three or more
  std::size_t given_numbers() const { return given_numbers_; }           // how many the text had
  std::string_view prerelease() const { return part(prerelease_); }
  std::string_view metadata() const { return part(metadata_); }
  const std::string& original() const { return original_; }

  // Returns the canonical form: no `v`, three numbers or more, "-pre", "+meta".
  std::string to_string() const;

  // The precedence of SemVer 2.0.0. Missing numbers are zero; metadata is ignored. This is a true weak order, unlike
  // go-version's own comparison (compare_as_go_version); for releases the two agree.
  std::weak_ordering operator<=>(const Version& other) const;
  bool operator==(const Version& other) const { return (*this <=> other) == 0; }

 private:
  // A part of the original text. A listing has many versions, so they should be small.
  struct Part {
    std::uint32_t begin = 0;
    std::uint32_t size = 0;
  };
  std::string_view part(const Part& part) const {
    return part.begin < original_.size() ? std::string_view(original_).substr(part.begin, part.size)
                                         : std::string_view();  // also of a version that was moved from
  }

  std::vector<std::int64_t> numbers_;
  std::string original_;
  Part prerelease_;
  Part metadata_;
  std::uint32_t given_numbers_ = 0;
};

// go-version's Compare, used to evaluate constraints as OpenTofu does: negative, zero or positive. It has cycles
// between prereleases (alpha < alpha.1 < alpha.beta < alpha), so it must not be used for sorting.
int compare_as_go_version(const Version& left, const Version& right);

// Returns the version that a tag names: `prefix`, an optional `v`, then strict SemVer 2.0.0 (three numbers, no leading
// zeros). nullopt for any other tag; `reason`, if given, is then set ("not a semantic version", "other prefix").
std::optional<Version> parse_version_tag(std::string_view tag, std::string_view prefix, std::string* reason = nullptr);

}  // namespace modlock
