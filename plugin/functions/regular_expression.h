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

// Why a pattern is invalid, in the wording of Go's package regexp/syntax: "missing closing ]" in "[a".
struct PatternError {
  std::string code;
  std::string expression;
};

// A regular expression in Go's syntax, which is that of RE2. Matching takes time linear in the text. A pattern with
// more than 250 groups is rejected, although Go accepts it.
class RegularExpression {
 public:
  static tl::expected<RegularExpression, PatternError> compile(std::string_view pattern);

  // The match of the whole expression, then those of its groups; data() is null if a group took no part.
  using Match = std::vector<std::string_view>;

  // The leftmost match that starts at `from` or after it.
  std::optional<Match> find(std::string_view text, std::size_t from) const;
  std::size_t group_count() const { return names_.size(); }
  // The names of the groups in their order, empty for those without.
  const std::vector<std::string>& group_names() const { return names_; }

 private:
  explicit RegularExpression(std::shared_ptr<const re2::RE2> compiled);

  std::shared_ptr<const re2::RE2> compiled_;
  std::vector<std::string> names_;
};

// The regular expression for the paths that a pattern of fileset() matches: "*" and "?" within a path component, "**"
// as a whole component for any number of them, "[a-z]" and "[^a-z]", "{one,two}", and "\" before a literal character.
// nullopt if brackets or braces are not closed.
std::optional<std::string> regular_expression_of_glob(std::string_view pattern);

// The part of a pattern before the last "/" that precedes all wildcards ("." if there is none), and the rest.
struct SplitGlob {
  std::string base;
  std::string pattern;
};
SplitGlob split_glob(std::string_view pattern);

}  // namespace modlock::eval
