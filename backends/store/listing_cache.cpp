#include "backends/store/listing_cache.h"

#include <fmt/format.h>
#include <json/value.h>

#include <chrono>

#include "backends/base/digest.h"
#include "backends/base/files.h"
#include "protocol/base/json.h"

namespace modlock {
namespace {

using Time = std::chrono::system_clock::time_point;

std::string text_of(const Json::Value& object, const char* name) {
  return object.isObject() && object[name].isString() ? object[name].asString() : std::string();
}

Json::Int64 seconds_of(Time time) {
  return static_cast<Json::Int64>(std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count());
}

std::optional<Json::Value> read_object(const std::filesystem::path& file) {
  auto object = read_file(file).and_then([](const std::string& bytes) { return parse_json(bytes); });
  constexpr Json::Int64 kLatest = 253402300799;  // the year 9999
  const bool is_one = object && object->isObject() && (*object)["fetchedAt"].isInt64() &&
                      (*object)["fetchedAt"].asInt64() >= 0 && (*object)["fetchedAt"].asInt64() <= kLatest;
  return is_one ? std::optional(std::move(*object)) : std::nullopt;
}

Time time_of(const Json::Value& object) {
  return Time(std::chrono::seconds(object["fetchedAt"].asInt64()));
}

void write_object(const Store& store, const std::filesystem::path& file, const Json::Value& object) {
  if (store.make_response_directory()) {
    (void)write_file_atomically(file, write_json(object) + "\n", Durable::no);
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
  return object;
}

std::optional<ListedVersion> version_of(const Json::Value& object) {
  auto version = Version::parse(text_of(object, "version"));
  return version ? std::optional(ListedVersion{.version = std::move(*version),
                                               .tag = text_of(object, "tag"),
                                               .id = text_of(object, "id"),
                                               .ref = text_of(object, "ref"),
                                               .ambiguous_with = text_of(object, "ambiguousWith")})
                 : std::nullopt;
}

std::string question_of(std::string_view package, std::string_view tag_prefix) {
  return fmt::format("{}\n{}", package, tag_prefix);
}

}  // namespace

std::filesystem::path ListingCache::file_of(std::string_view kind, std::string_view question) const {
  return store_.response_directory() / fmt::format("{}-{}.json", kind, sha256_hex(question));
}

std::optional<Listing> ListingCache::find(std::string_view package, std::string_view tag_prefix) const {
  const auto object = read_object(file_of("listing", question_of(package, tag_prefix)));
  if (!object || text_of(*object, "package") != package || text_of(*object, "tagPrefix") != tag_prefix ||
      !(*object)["complete"].isBool() || !(*object)["versions"].isArray()) {
    return std::nullopt;
  }
  Listing listing{
      .versions = {}, .skipped = {}, .fetched_at = time_of(*object), .complete = (*object)["complete"].asBool()};
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
  object["versions"] = Json::Value(Json::arrayValue);
  for (const ListedVersion& version : listing.versions) {
    object["versions"].append(object_of(version));
  }
  write_object(store_, file_of("listing", question_of(package, tag_prefix)), object);
}

std::optional<ListingCache::CachedPin> ListingCache::find_pin(const Source& source) const {
  const auto object = read_object(file_of("pin", source.identity()));
  if (!object || text_of(*object, "source") != source.identity() || text_of(*object, "id").empty()) {
    return std::nullopt;
  }
  return CachedPin{.pin = {.id = text_of(*object, "id"), .ref = text_of(*object, "ref")},
                   .fetched_at = time_of(*object)};
}

void ListingCache::keep_pin(const Source& source, const Pin& pin, Time now) const {
  Json::Value object(Json::objectValue);
  object["source"] = source.identity();
  object["fetchedAt"] = seconds_of(now);
  object["id"] = pin.id;
  object["ref"] = pin.ref;
  write_object(store_, file_of("pin", source.identity()), object);
}

}  // namespace modlock
