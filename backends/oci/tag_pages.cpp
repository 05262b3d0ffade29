#include "backends/oci/tag_pages.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "backends/address/source_text.h"
#include "backends/http/url.h"

namespace modlock::oci {
namespace {

constexpr std::size_t kMostPages = 1'000;
constexpr std::size_t kMostTags = 200'000;

// A link may have several relations, separated by blanks (RFC 8288, section 3.3).
bool is_next(const std::string& parameters) {
  static const re2::RE2 kRelations(R"re(rel=(?:"([^"]*)|([^; \t]*)))re", re2::RE2::Latin1);
  std::string quoted;
  std::string plain;
  re2::RE2::PartialMatch(parameters, kRelations, &quoted, &plain);
  const std::string value = quoted + plain;
  const auto relations = split(value, ' ');
  return std::ranges::find(relations, "next") != relations.end();
}

}  // namespace

std::optional<std::string> next_link(std::string_view value) {
  // `<target>; parameters`, in which quoted texts may have commas.
  static const re2::RE2 kLink(R"re([ \t,]*<([^>]*)>((?:[^",]|"(?s:[^"\\]|\\.)*(?:"|\\?$))*))re", re2::RE2::Latin1);
  std::optional<std::string> without_relation;
  re2::StringPiece rest(value.data(), value.size());
  std::string target;
  std::string parameters;
  while (re2::RE2::Consume(&rest, kLink, &target, &parameters)) {
    if (is_next(parameters)) {
      return target;
    }
    if (!without_relation && parameters.find("rel=") == std::string::npos) {
      without_relation = target;
    }
  }
  return without_relation;
}

TagPages::TagPages(std::string first_url, std::string display)
    : first_url_(std::move(first_url)), display_(std::move(display)), next_(Page{first_url_, true}) {
  visited_.insert(first_url_);
}

Result<void> TagPages::take(const HttpResponse& page) {
  next_.reset();
  fetched_at_ = std::min(fetched_at_, page.kept_since.value_or(fetched_at_));
  MODLOCK_TRY(add(page));
  return find_next(page);
}

Result<void> TagPages::add(const HttpResponse& page) {
  const auto wrong = [this](std::string_view why) {
    return fail(Code::bad_response, fmt::format("the registry lists the tags of \"{}\" as {}", display_, why),
                "check that the host is an OCI registry");
  };
  const auto json = parse_json_body(page.body);
  if (!json && (json.error().code == Code::limit_exceeded || is_html(page.body))) {
    return fail(json.error().code, fmt::format("could not read the tags of \"{}\": {}", display_, json.error().message),
                json.error().hint);
  }
  if (!json || !json->isObject()) {
    return wrong("a value that is not a JSON object");
  }
  const Json::Value& tags = (*json)["tags"];
  if (!tags.isNull() && !tags.isArray()) {
    return wrong("a \"tags\" that is not an array");
  }
  for (const Json::Value& tag : tags) {
    if (!tag.isString()) {
      return wrong("a \"tags\" that contains values other than strings");
    }
    std::string name = tag.asString();
    if (seen_.insert(name).second) {
      tags_.push_back(std::move(name));
    }
  }
  if (tags_.size() > kMostTags) {
    return fail(Code::limit_exceeded, fmt::format("\"{}\" has more than {} tags", display_, kMostTags),
                "name a tag or a digest instead of a version");
  }
  return {};
}

Result<void> TagPages::find_next(const HttpResponse& page) {
  const auto target = next_link(page.header("Link").value_or(""));
  if (!target) {
    return {};
  }
  // A link is checked like a redirect: resolved against the page, never from https to http.
  // Behind a proxy that ends TLS, a registry may write http for its own address.
  const bool is_http = target->starts_with("http://");
  auto step = follow_redirect(page.url.reveal(), 307, is_http ? "https" + target->substr(4) : *target, false);
  if (is_http && (!step || !step->keeps_secrets)) {
    step = follow_redirect(page.url.reveal(), 307, *target, false);
  }
  if (!step) {
    return fail(Code::bad_response,
                fmt::format("the registry lists the tags of \"{}\" in pages, and the link to the next one cannot be "
                            "followed",
                            display_),
                "ask the registry's operator: its header Link is malformed");
  }
  if (!visited_.insert(step->url).second) {
    return fail(Code::bad_response,
                fmt::format("the registry lists the tags of \"{}\" in pages that form a loop", display_),
                "ask the registry's operator: its header Link is malformed");
  }
  if (visited_.size() > kMostPages) {
    return fail(Code::limit_exceeded,
                fmt::format("the registry lists the tags of \"{}\" in more than {} pages", display_, kMostPages),
                "name a tag or a digest instead of a version");
  }
  const auto home = follow_redirect(first_url_, 307, step->url, false);
  next_ = Page{step->url, home && home->keeps_secrets};
  return {};
}

}  // namespace modlock::oci
