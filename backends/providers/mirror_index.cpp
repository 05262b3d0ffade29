#include "backends/providers/mirror_index.h"

#include <fmt/format.h>

#include "backends/address/source_text.h"
#include "protocol/base/json.h"
#include "protocol/base/result.h"

namespace modlock {
namespace {

tl::unexpected<Error> invalid(std::string_view why) {
  return fail(Code::bad_response, fmt::format("invalid response content from mirror server: {}", why),
              "have the mirror made again, for example by \"tofu providers mirror\"");
}

// The object member of that name; null where it is absent.
Result<Json::Value> object_member(std::string_view json, const char* name) {
  auto answer = parse_json(json);
  if (!answer) {
    return invalid(answer.error().message);
  }
  if (!answer->isObject()) {
    return invalid("it is not a JSON object");
  }
  const Json::Value& member = (*answer)[name];
  return member.isNull() || member.isObject() ? Result<Json::Value>(member)
                                              : invalid(fmt::format("its \"{}\" is not an object", name));
}

Result<MirrorArchive> parse_archive(const Json::Value& json, const std::string& platform) {
  const auto wrong = [&](std::string_view what) {
    return invalid(fmt::format("the archive of \"{}\" {}", escape_controls(platform), what));
  };
  if (!json.isObject() || !(json["url"].isNull() || json["url"].isString()) ||
      !(json["hashes"].isNull() || json["hashes"].isArray())) {
    return wrong("is not an object with a url and hashes");
  }
  MirrorArchive archive{.url = json["url"].asString(), .hashes = {}};
  for (const Json::Value& hash : json["hashes"]) {
    if (!hash.isString()) {
      return wrong("has a hash that is not a string");
    }
    const std::string text = hash.asString();
    if (text.find(':') == 0 || text.find(':') == std::string::npos) {
      return wrong(fmt::format("has the invalid hash \"{}\": it must start with a scheme keyword followed by a colon",
                               printable_address(text)));
    }
    archive.hashes.push_back(text);
  }
  return archive;
}

}  // namespace

Result<std::vector<ProviderVersion>> parse_mirror_versions(std::string_view json) {
  MODLOCK_TRY(const auto listed, object_member(json, "versions"));
  std::vector<ProviderVersion> versions;
  for (const std::string& text : listed.getMemberNames()) {
    if (auto version = ProviderVersion::parse(text)) {
      versions.push_back(std::move(*version));
    }
  }
  return versions;
}

Result<std::map<std::string, MirrorArchive>> parse_mirror_archives(std::string_view json) {
  MODLOCK_TRY(const auto listed, object_member(json, "archives"));
  std::map<std::string, MirrorArchive> archives;
  for (const std::string& platform : listed.getMemberNames()) {
    MODLOCK_TRY(auto archive, parse_archive(listed[platform], platform));
    archives.emplace(platform, std::move(archive));
  }
  return archives;
}

}  // namespace modlock
