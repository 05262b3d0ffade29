#pragma once

#include <json/value.h>

#include <string_view>

#include "backends/base/ascii.h"

namespace modlock {

// Finds a member of an object as Go's decoder does: by exact name, else ignoring case. Returns null if there is no such
// member or `object` is not an object.
inline const Json::Value& folded_member(const Json::Value& object, std::string_view name) {
  if (!object.isObject()) {
    return Json::Value::nullSingleton();
  }
  if (const Json::Value* exact = object.find(name.data(), name.data() + name.size()); exact != nullptr) {
    return *exact;
  }
  for (auto member = object.begin(); member != object.end(); ++member) {
    if (ascii::equals_ignoring_case(member.name(), name)) {
      return *member;
    }
  }
  return Json::Value::nullSingleton();
}

}  // namespace modlock
