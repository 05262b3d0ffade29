#include "backends/store/listing_cache.h"

#include <fmt/format.h>
#include <json/value.h>

#include <utility>

#include "backends/base/digest.h"
#include "backends/base/files.h"
#include "protocol/base/json.h"
#include "protocol/base/utf8.h"

namespace modlock {
namespace {

using Time = std::chrono::system_clock::time_point;

std::string text_of(const Json::Value& object, const char* name) {
  return string_member(object, name).value_or("");
}

Json::Int64 seconds_of(Time time) {
  return static_cast<Json::Int64>(std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count());
}

bool is_time(const Json::Value& value) {
  constexpr Json::Int64 kLatest = 253402300799;  // the year 9999
  return value.isInt64() && value.asInt64() >= 0 && value.asInt64() <= kLatest;
}

Time time_of(const Json::Value& seconds) {
  return Time(std::chrono::seconds(seconds.asInt64()));
}

std::optional<Json::Value> read_object(const std::filesystem::path& file) {
  auto object = read_file(file).and_then([](const std::string& bytes) { return parse_json(bytes); });
  const bool is_one = object && object->isObject() && is_time((*object)["fetchedAt"]);
  return is_one ? std::optional(std::move(*object)) : std::nullopt;
}

void write_text(const Store& store, const std::filesystem::path& file, const std::string& text) {
  if (store.make(store.response_directory())) {
    (void)write_file_atomically(file, text, Durable::no);
  }
}

Json::Value object_of(const ListedVersion& version) {
  Json::Value object(Json::objectValue);
  object["version"] = version.version.original();
  for (const auto& [name, text] :
       {std::pair("tag", &version.tag), std::pair("id", &version.id), std::pair("ref", &version.ref),
        std::pair("ambiguousWith", &version.ambiguous_with)}) {
    if (!text->empty()) {
      object[name] = *text;
    }
  }
  if (version.published) {
    object["published"] = seconds_of(*version.published);
  }
  if (version.deprecated) {
    object["deprecated"] = *version.deprecated;
  }
  return object;
}

std::optional<ListedVersion> version_of(const Json::Value& object) {
  auto version = Version::parse(text_of(object, "version"));
  if (!version) {
    return std::nullopt;
  }
  ListedVersion listed{.version = std::move(*version),
                       .tag = text_of(object, "tag"),
                       .id = text_of(object, "id"),
                       .ref = text_of(object, "ref"),
                       .ambiguous_with = text_of(object, "ambiguousWith"),
                       .published = {},
                       .deprecated = string_member(object, "deprecated")};
  if (is_time(object["published"])) {
    listed.published = time_of(object["published"]);
  }
  return listed;
}

std::string question_of(std::string_view package, std::string_view tag_prefix) {
  return fmt::format("{}\n{}", package, tag_prefix);
}

// JSON can contain only text, and a signature is not text.
void set_body(Json::Value& object, const std::string& body) {
  if (to_valid_utf8(body) == body) {
    object["body"] = body;
  } else {
    object["bodyBase64"] = base64(body);
  }
}

std::optional<std::string> body_of(const Json::Value& object) {
  const auto encoded = string_member(object, "bodyBase64");
  return encoded ? decode_base64(*encoded) : string_member(object, "body");
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

std::filesystem::path ListingCache::file_of(std::string_view kind, std::string_view question) const {
  return store_.response_directory() / fmt::format("{}-{}.json", kind, store_.key_of(question));
}

std::optional<Listing> ListingCache::find(std::string_view package, std::string_view tag_prefix) const {
  const auto object = read_object(file_of("listing", question_of(package, tag_prefix)));
  if (!object || text_of(*object, "package") != package || text_of(*object, "tagPrefix") != tag_prefix ||
      !(*object)["complete"].isBool() || !(*object)["versions"].isArray()) {
    return std::nullopt;
  }
  Listing listing{.versions = {},
                  .skipped = {},
                  .fetched_at = time_of((*object)["fetchedAt"]),
                  .complete = (*object)["complete"].asBool()};
  for (const Json::Value& one : (*object)["versions"]) {
    auto version = version_of(one);
    if (!version) {
      return std::nullopt;
    }
    listing.versions.push_back(std::move(*version));
  }
  return listing;
}

void ListingCache::keep(std::string_view package, std::string_view tag_prefix, const Listing& listing) const {
  Json::Value object(Json::objectValue);
  object["package"] = std::string(package);
  object["tagPrefix"] = std::string(tag_prefix);
  object["fetchedAt"] = seconds_of(listing.fetched_at);
  object["complete"] = listing.complete;
  constexpr std::size_t kPiece = 64 * 1024;  // the whole text of many versions would need much memory
  std::string piece = write_json(object);
  piece.back() = ',';
  piece += "\"versions\":[";
  std::size_t written = 0;
  bool is_first = true;
  bool is_last = false;
  const auto next = [&]() -> std::string_view {
    if (!std::exchange(is_first, false)) {
      piece.clear();
    }
    for (; written < listing.versions.size() && piece.size() < kPiece; ++written) {
      piece += (written == 0 ? "" : ",") + write_json(object_of(listing.versions[written]));
    }
    if (written == listing.versions.size() && !std::exchange(is_last, true)) {
      piece += "]}\n";
    }
    return piece;
  };
  if (store_.make(store_.response_directory())) {
    (void)write_file_atomically(file_of("listing", question_of(package, tag_prefix)), next, Durable::no);
  }
}

std::optional<ListingCache::CachedPin> ListingCache::find_pin(const Source& source) const {
  const auto object = read_object(file_of("pin", source.identity()));
  if (!object || text_of(*object, "source") != source.identity() || text_of(*object, "id").empty()) {
    return std::nullopt;
  }
  return CachedPin{.pin = {.id = text_of(*object, "id"), .ref = text_of(*object, "ref")},
                   .fetched_at = time_of((*object)["fetchedAt"])};
}

void ListingCache::keep_pin(const Source& source, const Pin& pin, Time now) const {
  Json::Value object(Json::objectValue);
  object["source"] = source.identity();
  object["fetchedAt"] = seconds_of(now);
  object["id"] = pin.id;
  object["ref"] = pin.ref;
  write_text(store_, file_of("pin", source.identity()), write_json(object) + "\n");
}

std::filesystem::path FileResponseCache::file_of(const SecretText& url) const {
  return store_.response_directory() / (sha256_hex(url.reveal()) + ".json");
}

std::optional<CachedResponse> FileResponseCache::find(const SecretText& url) const {
  const auto object = read_object(file_of(url));
  if (!object) {
    return std::nullopt;
  }
  auto body = body_of(*object);
  if (!body || text_of(*object, "url") != printable_url(url.reveal())) {
    return std::nullopt;
  }
  return CachedResponse{.etag = text_of(*object, "etag"),
                        .last_modified = text_of(*object, "lastModified"),
                        .headers = headers_of(*object),
                        .body = std::move(*body),
                        .fetched_at = time_of((*object)["fetchedAt"])};
}

void FileResponseCache::keep(const SecretText& url, const CachedResponse& response) const {
  Json::Value object(Json::objectValue);
  object["url"] = printable_url(url.reveal());
  object["etag"] = response.etag;
  object["lastModified"] = response.last_modified;
  object["headers"] = Json::Value(Json::objectValue);
  for (const HttpHeader& header : response.headers) {
    object["headers"][header.name] = header.value;
  }
  set_body(object, response.body);
  object["fetchedAt"] = seconds_of(response.fetched_at);
  write_text(store_, file_of(url), write_json(object) + "\n");
}

}  // namespace modlock
