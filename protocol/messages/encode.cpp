#include "protocol/messages/encode.h"

#include "protocol/error_json.h"

namespace modlock::messages {

Json::Value encode_strings(const std::vector<std::string>& strings) {
  Json::Value out(Json::arrayValue);
  for (const std::string& text : strings) {
    out.append(text);
  }
  return out;
}

void set_if(Json::Value& object, const char* name, const std::string& text) {
  if (!text.empty()) {
    object[Json::StaticString(name)] = text;
  }
}

void set_if(Json::Value& object, const char* name, const std::optional<std::string>& text) {
  if (text) {
    object[Json::StaticString(name)] = *text;
  }
}

void set_location(Json::Value& object, const Location& location) {
  object["path"] = location.path;
  if (location.range) {
    object["range"] = to_json(*location.range);
  }
}

}  // namespace modlock::messages
