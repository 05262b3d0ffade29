#include "protocol/answer.h"

#include "protocol/json.h"

namespace modlock {

void Answer::add_unknown_params(const std::vector<std::string>& names) {
  Json::Value list(Json::arrayValue);
  for (const std::string& name : names) {
    list.append(name);
  }
  if (JsonText* written = std::get_if<JsonText>(&content_)) {
    // Its name comes before all others in the order of their bytes.
    const bool is_empty = written->text == "{}";
    written->text.insert(1, "\"_meta\":{\"unknownParams\":" + write_json(list) + (is_empty ? "}" : "},"));
  } else if (Json::Value& tree = std::get<Json::Value>(content_); tree.isObject()) {
    tree["_meta"]["unknownParams"] = std::move(list);
  }
}

std::string Answer::text() const {
  const JsonText* written = std::get_if<JsonText>(&content_);
  return written != nullptr ? written->text : write_json(std::get<Json::Value>(content_));
}

Json::Value Answer::tree() && {
  const JsonText* written = std::get_if<JsonText>(&content_);
  return written != nullptr ? parse_json(written->text).value_or(Json::Value())
                            : std::move(std::get<Json::Value>(content_));
}

}  // namespace modlock
