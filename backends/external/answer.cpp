#include "backends/external/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "backends/address/git_reference.h"
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
constexpr std::size_t kCommitDigits = 40;

std::string_view expected_id(IdForm form) {
  return form == IdForm::commit ? "expected a commit, 40 lower-case hexadecimal digits,"
         : form == IdForm::digest
             ? "expected a digest, \"sha256:\" and 64 lower-case hexadecimal digits,"
             : "expected 1 to 200 letters, digits, \".\", \"_\", \":\" and \"-\", the first a letter or digit";
}

bool is_tag_name(std::string_view name) {
  return !name.empty() && name.size() <= kLongestTag && !has_control_characters(name);
}

// A full name as git has it.
bool is_full_name(std::string_view ref) {
  return ref == "HEAD" || (is_tag_name(ref) && (ref.starts_with(kGitTags) || ref.starts_with(kGitBranches)));
}

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

Result<OfferedTags> read_tags(const Json::Value& result, IdForm form) {
  ObjectReader in(result, "result");
  OfferedTags offered;
  if (in.value("versions") == nullptr) {
    in.reject("versions", "expected an array of objects");
  }
  for (ObjectReader& version : in.objects("versions")) {
    Tag tag{.name = version.required_string("tag"), .id = version.string("id").value_or("")};
    if (!tag.id.empty() && !is_id(tag.id, form)) {
      version.reject("id", expected_id(form));
    }
    tag.ref = std::string(form == IdForm::commit ? kGitTags : "") + tag.name;
    if (is_tag_name(tag.name)) {
      offered.tags.push_back(std::move(tag));
    } else {
      offered.unusable.push_back({printable_address(tag.name), "not a valid tag name"});
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

Result<Found> read_found(const Json::Value& result, IdForm form) {
  ObjectReader in(result, "result");
  Found found{.id = in.required_string("id")};
  if (!is_id(found.id, form)) {
    in.reject("id", expected_id(form));
  }
  if (form == IdForm::commit) {
    found.ref = in.string("ref").value_or("");
    if (!found.ref.empty() && !is_full_name(found.ref)) {
      in.reject("ref", "expected \"HEAD\" or a name that starts with \"refs/heads/\" or \"refs/tags/\"");
    }
    const std::string date = in.string("date").value_or("");
    found.claimed = read_time(date);
    if (!date.empty() && !found.claimed) {
      in.reject("date", "expected a time such as \"2026-11-28T20:05:09Z\"");
    }
  }
  MODLOCK_TRY(in.finish().map_error(misshapen));
  return found;
}

bool is_id(std::string_view text, IdForm form) {
  if (form == IdForm::commit) {
    return text.size() == kCommitDigits && std::ranges::all_of(text, ascii::is_hex) && ascii::lower(text) == text;
  }
  const auto fits = [](char c) { return ascii::is_alnum(c) || c == '.' || c == '_' || c == ':' || c == '-'; };
  return !text.empty() && text.size() <= kLongestId && ascii::is_alnum(text[0]) && std::ranges::all_of(text, fits) &&
         (form != IdForm::digest || text.starts_with("sha256:") || text.starts_with("sha512:"));
}

std::string quotable(std::string_view text, const Secrets& secrets) {
  return cut_text(modlock::quotable(secrets.scrub(scrub_urls(trimmed(text)))), kLongestQuote);
}

}  // namespace modlock::external
