#include "protocol/messages/versions_list.h"

#include "protocol/error_json.h"
#include "protocol/messages/encode.h"

namespace modlock::messages {

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

Json::Value encode(const VersionsListResult& result) {
  Json::Value out(Json::objectValue);
  out["source"] = result.source;
  out["kind"] = result.kind;
  Json::Value& versions = out["versions"] = Json::arrayValue;
  for (const OfferedVersion& version : result.versions) {
    Json::Value item(Json::objectValue);
    item[Json::StaticString("version")] = version.version;
    set_if(item, "tag", version.tag);
    set_if(item, "commit", version.commit);
    set_if(item, "digest", version.digest);
    versions.append(std::move(item));
  }
  set_if(out, "selected", result.selected);
  Json::Value& skipped = out["skipped"] = Json::arrayValue;
  for (const SkippedTag& tag : result.skipped) {
    Json::Value item(Json::objectValue);
    item["tag"] = tag.tag;
    item["reason"] = tag.reason;
    skipped.append(std::move(item));
  }
  out["evidence"]["fetchedAt"] = result.fetched_at;
  out["evidence"]["complete"] = result.complete;
  if (!result.diagnostics.empty()) {
    out["diagnostics"] = to_json(result.diagnostics);
  }
  return out;
}

}  // namespace modlock::messages
