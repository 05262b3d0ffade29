#pragma once

#include <json/value.h>

#include <algorithm>
#include <string_view>

namespace modlock {

// The member of an object as Go's decoder finds it: of that name, else of one that differs in case only. Null where
// there is none, or no object.
inline const Json::Value& folded_member(const Json::Value& object, std::string_view name) {
  if (!object.isObject()) {
    return Json::Value::nullSingleton();
  }
  if (const Json::Value* exact = object.find(name.data(), name.data() + name.size()); exact != nullptr) {
    return *exact;
  }
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  for (auto member = object.begin(); member != object.end(); ++member) {
    const std::string key = member.name();
    if (std::equal(key.begin(), key.end(), name.begin(), name.end(),
                   [&lower](char a, char b) { return lower(a) == lower(b); })) {
      return *member;
    }
  }
  return Json::Value::nullSingleton();
}

}  // namespace modlock
