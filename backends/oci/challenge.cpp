#include "backends/oci/challenge.h"

#include <fmt/format.h>

#include <algorithm>

#include "backends/address/go_url.h"
#include "backends/address/source_text.h"
#include "backends/base/ascii.h"

namespace modlock::oci {
namespace {

bool is_token(char c) {
  return ascii::is_alnum(c) || std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

bool is_token68(char c) {
  return ascii::is_alnum(c) || std::string_view("-._~+/").find(c) != std::string_view::npos;
}

// Reads from the front of a header value.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  bool at_end() const { return rest_.empty(); }
  bool next_is(char c) const { return !rest_.empty() && rest_.front() == c; }
  void drop() { rest_.remove_prefix(1); }

  std::string_view skip_blanks() {
    return take([](char c) { return c == ' ' || c == '\t'; });
  }
  void skip_commas() {
    take([](char c) { return c == ' ' || c == '\t' || c == ','; });
  }
  std::string_view token() { return take(is_token); }

  // Skips a token68 ("YWJj=") up to the end of the challenge; reads nothing if there is none.
  void skip_token68() {
    Scanner ahead = *this;
    ahead.take(is_token68);
    ahead.take([](char c) { return c == '='; });
    ahead.skip_blanks();
    if (ahead.at_end() || ahead.next_is(',')) {
      *this = ahead;
    }
  }

  // Reads a token or a quoted string. nullopt if neither is complete.
  std::optional<std::string> value() {
    if (!next_is('"')) {
      const std::string_view text = token();
      return text.empty() ? std::nullopt : std::optional<std::string>(text);
    }
    std::string text;
    for (std::size_t i = 1; i < rest_.size(); ++i) {
      if (rest_[i] == '"') {
        rest_.remove_prefix(i + 1);
        return text;
      }
      i += rest_[i] == '\\' ? 1U : 0U;
      if (i < rest_.size()) {
        text += rest_[i];
      }
    }
    return std::nullopt;
  }

 private:
  template <typename Predicate>
  std::string_view take(Predicate belongs) {
    const auto* const end = std::find_if_not(rest_.begin(), rest_.end(), belongs);
    const std::string_view taken = rest_.substr(0, static_cast<std::size_t>(end - rest_.begin()));
    rest_.remove_prefix(taken.size());
    return taken;
  }

  std::string_view rest_;
};

// Whether resolvers parse the name as an address: its last label is a number, or it is in brackets.
bool is_ip_address(std::string_view host) {
  host = host.substr(0, host.size() - (host.empty() || host.back() != '.' ? 0 : 1));
  const std::string_view last = host.substr(host.rfind('.') + 1);
  return host.substr(0, 1) == "[" || last.substr(0, 2) == "0x" ||
         (!last.empty() && std::all_of(last.begin(), last.end(), ascii::is_digit));
}

std::string_view without_port(std::string_view authority) {
  return authority.substr(0, authority.find(':', authority.substr(0, 1) == "[" ? authority.find(']') : 0));
}

}  // namespace

std::string Challenge::parameter(std::string_view name) const {
  const auto at = std::find_if(parameters.rbegin(), parameters.rend(),
                               [name](const auto& parameter) { return parameter.first == name; });
  return at == parameters.rend() ? std::string() : at->second;
}

std::vector<Challenge> parse_challenges(std::string_view value) {
  std::vector<Challenge> challenges;
  Scanner in(value);
  while (true) {
    in.skip_commas();
    const std::string_view word = in.token();
    if (word.empty()) {
      return challenges;
    }
    const bool blank = !in.skip_blanks().empty();
    if (!in.next_is('=')) {
      challenges.push_back({ascii::lower(word)});
      if (blank) {
        in.skip_token68();
      }
      continue;
    }
    in.drop();
    in.skip_blanks();
    auto text = in.value();
    if (challenges.empty() || !text) {
      return challenges;
    }
    challenges.back().parameters.emplace_back(ascii::lower(word), std::move(*text));
    in.skip_blanks();
    if (!in.next_is(',')) {
      return challenges;
    }
  }
}

std::optional<Challenge> answerable_challenge(const HttpResponse& response) {
  for (const HttpHeader& header : response.headers) {
    if (!ascii::equals_ignoring_case(header.name, "www-authenticate")) {
      continue;
    }
    for (Challenge& challenge : parse_challenges(header.value)) {
      if (challenge.scheme == "bearer" || challenge.scheme == "basic") {
        return std::move(challenge);
      }
    }
  }
  return std::nullopt;
}

Result<std::string> token_realm(const Challenge& challenge, std::string_view authority, std::string_view display) {
  const std::string realm = challenge.parameter("realm");
  const auto refused = [&](std::string_view why) {
    return fail(Code::bad_response, fmt::format("the registry of \"{}\" sent a challenge {}", display, why),
                "have the registry's token service configured with an https URL");
  };
  if (realm.empty()) {
    return refused("that names no realm to get a token from");
  }
  const auto url = GoUrl::parse(realm);
  if (!url || url->host.empty() || has_control_characters(realm)) {
    return refused("with a realm that is not a URL");
  }
  if (url->scheme != "https") {
    return refused(fmt::format("with a realm of the scheme \"{}\", but only https may receive credentials",
                               escape_controls(url->scheme)));
  }
  if (url->user) {
    return refused("with a realm that contains user-info");
  }
  const std::string host = ascii::lower(without_port(url->host));
  if (is_ip_address(host) && host != without_port(authority)) {
    return refused(
        fmt::format("with a realm on \"{}\", an address that is not the registry's own", escape_controls(host)));
  }
  return realm;
}

}  // namespace modlock::oci
