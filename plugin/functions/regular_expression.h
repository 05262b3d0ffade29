#pragma once

#include <tl/expected.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace re2 {
class RE2;
}

namespace modlock::eval {

// Why a pattern is none, in the words of Go's package regexp/syntax: "missing closing ]" in "[a".
struct PatternError {
  std::string code;
  std::string expression;
};

// A regular expression in Go's syntax, which is RE2's. Matching takes time linear in the text. A pattern of more than
// 250 groups, which Go would take, is refused.
class RegularExpression {
 public:
  static tl::expected<RegularExpression, PatternError> compile(std::string_view pattern);

  // What the whole expression matched, then what its groups did; data() is null where a group took no part.
  using Match = std::vector<std::string_view>;

  // The leftmost match that starts at `from` or behind.
  std::optional<Match> find(std::string_view text, std::size_t from) const;
  std::size_t group_count() const;
  // The names of the groups in their order, empty for those without.
  const std::vector<std::string>& group_names() const { return names_; }

 private:
  explicit RegularExpression(std::shared_ptr<const re2::RE2> compiled);

  std::shared_ptr<const re2::RE2> compiled_;
  std::vector<std::string> names_;
};

// The regular expression that matches the paths which a pattern of fileset() means: "*" and "?" within a part of a
// path, "**" as a whole part for any number of them, "[a-z]" and "[^a-z]", "{one,two}", and "\" before what is to be
// taken literally. nullopt where brackets or braces stay open.
std::optional<std::string> regular_expression_of_glob(std::string_view pattern);

// The part of a pattern before the last "/" that stands in front of all wildcards ("." without one), and the rest.
struct SplitGlob {
  std::string base;
  std::string pattern;
};
SplitGlob split_glob(std::string_view pattern);

}  // namespace modlock::eval
