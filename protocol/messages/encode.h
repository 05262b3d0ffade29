#pragma once

#include <json/value.h>

#include <optional>
#include <string>
#include <vector>

#include "protocol/error.h"

namespace modlock::messages {

// [] where there is nothing, never null.
Json::Value encode_strings(const std::vector<std::string>& strings);

template <typename Item>
Json::Value encode_list(const std::vector<Item>& items) {
  Json::Value out(Json::arrayValue);
  for (const Item& item : items) {
    out.append(encode(item));
  }
  return out;
}

// Optional members are left out where they are absent or empty. Names are literals.
void set_if(Json::Value& object, const char* name, const std::string& text);
void set_if(Json::Value& object, const char* name, const std::optional<std::string>& text);

// `path`, and `range` where there is one, as members of the object itself.
void set_location(Json::Value& object, const Location& location);

}  // namespace modlock::messages
