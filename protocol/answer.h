#pragma once

#include <json/value.h>

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "protocol/json_text.h"

namespace modlock {

// The result of a method: a tree, or the text of an object where a tree of it would take long to build.
class Answer {
 public:
  Answer() = default;  // null
  Answer(Json::Value tree) : content_(std::move(tree)) {}
  Answer(JsonText text) : content_(std::move(text)) {}

  // Adds `_meta.unknownParams` to an object; what is none stays as it is.
  void add_unknown_params(const std::vector<std::string>& names);

  std::string text() const;  // compact JSON
  Json::Value tree() &&;

 private:
  std::variant<Json::Value, JsonText> content_;
};

}  // namespace modlock
