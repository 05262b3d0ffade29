#include "protocol/rpc/answer.h"

namespace modlock {
namespace {

Json::Value list_of(const std::vector<std::string>& names) {
  return Encode::to_value(names);
}

}  // namespace

bool Answer::is_null() const {
  const Json::Value* tree = std::get_if<Json::Value>(&content_);
  return tree != nullptr && tree->isNull();
}

void Answer::add_unknown_params(const std::vector<std::string>& names) {
  Json::Value* tree = std::get_if<Json::Value>(&content_);
  if (tree == nullptr) {
    unknown_params_ = names;
  } else if (tree->isObject()) {
    (*tree)["_meta"]["unknownParams"] = list_of(names);
  }
}

std::string Answer::text() const {
  if (const Json::Value* tree = std::get_if<Json::Value>(&content_)) {
    return write_json(*tree);
  }
  std::string text = std::get<1>(content_)->text();
  if (!unknown_params_.empty()) {
    // The name comes before all others in the order of their bytes.
    const bool is_empty = text == "{}";
    text.insert(1, "\"_meta\":{\"unknownParams\":" + write_json(list_of(unknown_params_)) + (is_empty ? "}" : "},"));
  }
  return text;
}

Json::Value& Answer::tree() {
  if (const auto* message = std::get_if<1>(&content_)) {
    Json::Value built = (*message)->tree();
    content_ = std::move(built);
    if (!unknown_params_.empty()) {
      add_unknown_params(unknown_params_);
    }
  }
  return std::get<Json::Value>(content_);
}

}  // namespace modlock
