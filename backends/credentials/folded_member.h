#pragma once

#include <json/value.h>

#include <string_view>

#include "backends/base/ascii.h"

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
  for (auto member = object.begin(); member != object.end(); ++member) {
    if (ascii::equals_ignoring_case(member.name(), name)) {
      return *member;
    }
  }
  return Json::Value::nullSingleton();
}

}  // namespace modlock
