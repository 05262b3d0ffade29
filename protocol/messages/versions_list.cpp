#include "protocol/messages/versions_list.h"

#include <utility>

#include "protocol/error_json.h"
#include "protocol/json.h"
#include "protocol/messages/encode.h"

namespace modlock::messages {
namespace {

void append(std::string& out, const OfferedVersion& version) {
  char separator = '{';
  const auto add = [&](std::string_view name, const std::string& text) {
    if (!text.empty()) {
      out.append(1, std::exchange(separator, ',')).append(name);
      append_json_string(out, text);
    }
  };
  add("\"commit\":", version.commit);
  add("\"digest\":", version.digest);
  add("\"tag\":", version.tag);
  add("\"version\":", version.version);
  out += '}';
}

}  // namespace

Result<VersionsListParams> decode_versions_list(const Json::Value& params, std::vector<std::string>& unknown) {
  ObjectReader in(params);
  VersionsListParams out;
  out.source = in.required_string("source");
  out.constraint = in.string("constraint");
  out.include_prerelease = in.boolean("includePrerelease").value_or(false);
  out.tag_prefix = in.string("tagPrefix").value_or("");
  if (auto ok = in.finish(); !ok) {
    return fail(std::move(ok.error()));
  }
  unknown = in.unknown();
  return out;
}

JsonText encode(const VersionsListResult& result) {
  Json::Value head(Json::objectValue);
  head["source"] = result.source;
  head["kind"] = result.kind;
  set_if(head, "selected", result.selected);
  Json::Value& skipped = head["skipped"] = Json::arrayValue;
  for (const SkippedTag& tag : result.skipped) {
    Json::Value item(Json::objectValue);
    item["tag"] = tag.tag;
    item["reason"] = tag.reason;
    skipped.append(std::move(item));
  }
  head["evidence"]["fetchedAt"] = result.fetched_at;
  head["evidence"]["complete"] = result.complete;
  if (!result.diagnostics.empty()) {
    head["diagnostics"] = to_json(result.diagnostics);
  }
  // Versions come by the ten thousand, and last in the order of the names.
  std::string out = write_json(head);
  out.pop_back();
  out += ",\"versions\":[";
  constexpr std::size_t kUsualVersion = 128;
  out.reserve(out.size() + result.versions.size() * kUsualVersion);
  const char* separator = "";
  for (const OfferedVersion& version : result.versions) {
    out += std::exchange(separator, ",");
    append(out, version);
  }
  return {std::move(out) + "]}"};
}

}  // namespace modlock::messages
