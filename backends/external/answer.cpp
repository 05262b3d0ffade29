#include "backends/external/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "backends/address/source_text.h"
#include "backends/base/ascii.h"
#include "backends/base/text.h"
#include "protocol/base/json.h"
#include "protocol/base/object_reader.h"
#include "protocol/base/utf8.h"

namespace modlock::external {
namespace {

constexpr std::size_t kLongestId = 200;
constexpr std::size_t kLongestTag = 255;
constexpr std::uint64_t kLongestRetryMs = std::uint64_t{24} * 3600 * 1000;
constexpr std::string_view kIdForm =
    "expected 1 to 200 letters, digits, \".\", \"_\", \":\" and \"-\", the first a letter or digit";

// The codes that a backend may use. tofu-modlock itself determines the others.
constexpr std::array kCodes = {
    Code::not_found,     Code::auth_required,  Code::forbidden,          Code::rate_limited,
    Code::unreachable,   Code::timeout,        Code::bad_response,       Code::tool_missing,
    Code::io_error,      Code::source_invalid, Code::source_unsupported, Code::source_denied,
    Code::hash_mismatch, Code::archive_unsafe, Code::signature_invalid,  Code::limit_exceeded,
};

tl::unexpected<Error> no_answer(std::string message) {
  return fail(Code::bad_response, std::move(message),
              "only answers belong on the stdout of a backend; what it has to say belongs on its stderr");
}

Code code_named(std::string_view name) {
  const auto* const found = std::ranges::find_if(kCodes, [name](Code code) { return to_string(code) == name; });
  return found == kCodes.end() ? Code::bad_response : *found;
}

// The error for a result of the wrong shape, without the prefix "decode: " of responses to hosts.
Error misshapen(const Error& error) {
  constexpr std::string_view kPrefix = "decode: ";
  const bool has_prefix = error.message.starts_with(kPrefix);
  return {.code = Code::bad_response, .message = error.message.substr(has_prefix ? kPrefix.size() : 0)};
}

Error read_error(const Json::Value& value) {
  ObjectReader in(value, "error");
  in.value("code");
  Error error{.code = Code::bad_response, .message = in.required_string("message")};
  if (auto data = in.object("data")) {
    error.code = code_named(data->string("code").value_or(""));
    error.hint = data->string("hint").value_or("");
    if (const auto wait = data->unsigned_integer("retryAfterMs")) {
      error.retry_after = std::chrono::milliseconds(std::min(*wait, kLongestRetryMs));
    }
  }
  if (const auto fine = in.finish(); !fine) {
    return misshapen(fine.error());
  }
  return error;
}

constexpr std::size_t kLongestQuote = 500;
}  // namespace

Result<std::optional<Answer>> parse_answer(std::string_view line) {
  const auto value = parse_json(line);
  if (!value) {
    return no_answer(fmt::format("it wrote a line that is no answer ({})", value.error().message));
  }
  if (!value->isObject() || (*value)["jsonrpc"] != Json::Value("2.0")) {
    return no_answer("it wrote a line that is no answer (no object with the member \"jsonrpc\": \"2.0\")");
  }
  const Json::Value& id = (*value)["id"];
  if (value->isMember("method")) {
    return id.isNull() ? Result<std::optional<Answer>>(std::nullopt)
                       : no_answer("it sent a request, but a backend only answers");
  }
  if (!id.isUInt64() || id.type() == Json::realValue) {
    return no_answer("it wrote an answer without the id of a request");
  }
  if (value->isMember("result") == value->isMember("error")) {
    return no_answer("it wrote an answer that has not exactly one of \"result\" and \"error\"");
  }
  Answer answer{.id = id.asUInt64(), .result = (*value)["result"]};
  if (value->isMember("error")) {
    answer.result = fail(read_error((*value)["error"]));
  }
  return answer;
}

Result<Description> read_description(const Json::Value& result) {
  ObjectReader in(result, "result");
  Description description;
  auto schemes = in.strings("schemes");
  if (!schemes) {
    in.reject("schemes", "expected an array of strings");
  }
  description.schemes = std::move(schemes).value_or(std::vector<std::string>{});
  description.name = in.required_string("name");
  description.version = in.required_string("version");
  MODLOCK_TRY(in.finish().map_error(misshapen));
  return description;
}

Result<OfferedTags> read_tags(const Json::Value& result) {
  ObjectReader in(result, "result");
  OfferedTags offered;
  if (in.value("versions") == nullptr) {
    in.reject("versions", "expected an array of objects");
  }
  for (ObjectReader& version : in.objects("versions")) {
    Tag tag{.name = version.required_string("tag"), .id = version.string("id").value_or("")};
    if (!tag.id.empty() && !is_id(tag.id)) {
      version.reject("id", kIdForm);
    }
    tag.ref = tag.name;
    if (tag.name.empty() || tag.name.size() > kLongestTag || has_control_characters(tag.name)) {
      offered.unusable.push_back({printable_address(tag.name), "not a valid tag name"});
    } else {
      offered.tags.push_back(std::move(tag));
    }
  }
  const auto complete = in.boolean("complete");
  if (!complete) {
    in.reject("complete", "expected true or false");
  }
  offered.complete = complete.value_or(false);
  MODLOCK_TRY(in.finish().map_error(misshapen));
  return offered;
}

Result<std::string> read_id(const Json::Value& result) {
  ObjectReader in(result, "result");
  std::string id = in.required_string("id");
  if (!is_id(id)) {
    in.reject("id", kIdForm);
  }
  MODLOCK_TRY(in.finish().map_error(misshapen));
  return id;
}

bool is_id(std::string_view text) {
  const auto fits = [](char c) { return ascii::is_alnum(c) || c == '.' || c == '_' || c == ':' || c == '-'; };
  return !text.empty() && text.size() <= kLongestId && ascii::is_alnum(text[0]) && std::ranges::all_of(text, fits);
}

std::string quotable(std::string_view text, const Secrets& secrets) {
  return cut_text(modlock::quotable(secrets.scrub(scrub_urls(trimmed(text)))), kLongestQuote);
}

}  // namespace modlock::external
