#include "backends/store/file_response_cache.h"

#include <json/value.h>

#include "backends/base/digest.h"
#include "backends/base/files.h"
#include "protocol/base/json.h"
#include "protocol/base/utf8.h"

namespace modlock {
namespace {

std::optional<std::string> text_of(const Json::Value& object, const char* name) {
  const Json::Value* member = object.find(name, name + std::string_view(name).size());
  return member != nullptr && member->isString() ? std::optional(member->asString()) : std::nullopt;
}

// JSON has room for text alone; a signature is none.
void set_body(Json::Value& object, const std::string& body) {
  if (to_valid_utf8(body) == body) {
    object["body"] = body;
  } else {
    object["bodyBase64"] = base64(reinterpret_cast<const std::uint8_t*>(body.data()), body.size());
  }
}

std::optional<std::string> body_of(const Json::Value& object) {
  const auto encoded = text_of(object, "bodyBase64");
  return encoded ? decode_base64(*encoded) : text_of(object, "body");
}

std::vector<HttpHeader> headers_of(const Json::Value& object) {
  std::vector<HttpHeader> headers;
  const Json::Value& members = object["headers"];
  if (!members.isObject()) {
    return headers;
  }
  for (const std::string& name : members.getMemberNames()) {
    if (members[name].isString()) {
      headers.push_back({name, members[name].asString()});
    }
  }
  return headers;
}

}  // namespace

std::filesystem::path FileResponseCache::file_of(const SecretText& url) const {
  return store_.response_directory() / (sha256_hex(url.reveal()) + ".json");
}

std::optional<CachedResponse> FileResponseCache::find(const SecretText& url) const {
  const auto text = read_file(file_of(url));
  const auto object = text.and_then([](const std::string& bytes) { return parse_json(bytes); });
  if (!object || !object->isObject() || !(*object)["fetchedAt"].isInt64()) {
    return std::nullopt;
  }
  auto body = body_of(*object);
  if (!body || text_of(*object, "url") != printable_url(url.reveal())) {
    return std::nullopt;
  }
  return CachedResponse{
      .etag = text_of(*object, "etag").value_or(""),
      .last_modified = text_of(*object, "lastModified").value_or(""),
      .headers = headers_of(*object),
      .body = std::move(*body),
      .fetched_at = std::chrono::system_clock::time_point(std::chrono::seconds((*object)["fetchedAt"].asInt64()))};
}

void FileResponseCache::keep(const SecretText& url, const CachedResponse& response) const {
  if (!store_.make_response_directory()) {
    return;
  }
  Json::Value object(Json::objectValue);
  object["url"] = printable_url(url.reveal());
  object["etag"] = response.etag;
  object["lastModified"] = response.last_modified;
  object["headers"] = Json::Value(Json::objectValue);
  for (const HttpHeader& header : response.headers) {
    object["headers"][header.name] = header.value;
  }
  set_body(object, response.body);
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(response.fetched_at.time_since_epoch());
  object["fetchedAt"] = static_cast<Json::Int64>(seconds.count());
  (void)write_file_atomically(file_of(url), write_json(object) + "\n", Durable::no);
}

}  // namespace modlock
