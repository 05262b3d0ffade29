#include "protocol/base/object_reader.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <deque>
#include <set>

namespace modlock {
namespace {

std::string_view kind_of(const Json::Value* value) {
  // In the order of Json::ValueType.
  constexpr std::array<std::string_view, 8> kKinds = {"null",     "a number",  "a number", "a number",
                                                      "a string", "a boolean", "an array", "an object"};
  return value == nullptr ? "nothing" : kKinds.at(value->type());
}

Error decode_error(std::string message) {
  return {.code = Code::invalid_params,
          .message = std::move(message),
          .hint = "docs/protocol.md describes the params of every method",
          .reason = Reason::params};
}

}  // namespace

struct ObjectReader::State {
  struct Object {
    const Json::Value* value;  // null: no members
    std::string path;
    std::set<std::string, std::less<>> known;
  };
  std::deque<Object> objects;
  std::optional<Error> error;
};

ObjectReader::ObjectReader(const Json::Value& value, std::string path)
    : ObjectReader(std::make_shared<State>(), value, std::move(path)) {
  state_->objects.front().known.insert("_meta");
}

ObjectReader::ObjectReader(std::shared_ptr<State> state, const Json::Value& value, std::string path)
    : state_(std::move(state)), object_(state_->objects.size()) {
  state_->objects.push_back({value.isObject() ? &value : nullptr, std::move(path), {}});
  if (!value.isObject() && !value.isNull()) {
    expected("an object", state_->objects[object_].path, &value);
  }
}

std::string ObjectReader::path(std::string_view name) const {
  return fmt::format("{}.{}", state_->objects[object_].path, name);
}

const Json::Value* ObjectReader::find(std::string_view name) {
  State::Object& object = state_->objects[object_];
  object.known.emplace(name);
  const Json::Value* found =
      object.value == nullptr ? nullptr : object.value->find(name.data(), name.data() + name.size());
  return found == nullptr || found->isNull() ? nullptr : found;
}

const Json::Value* ObjectReader::find(std::string_view name, std::string_view what,
                                      bool (Json::Value::*is_right)() const) {
  const Json::Value* found = find(name);
  if (found == nullptr || (found->*is_right)()) {
    return found;
  }
  expected(what, path(name), found);
  return nullptr;
}

void ObjectReader::expected(std::string_view what, const std::string& where, const Json::Value* found) {
  if (!state_->error) {
    state_->error = decode_error(fmt::format("decode: expected {} at {}, found {}", what, where, kind_of(found)));
  }
}

void ObjectReader::require(std::string_view name, std::string_view what) {
  if (find(name) == nullptr) {
    expected(what, path(name), nullptr);
  }
}

void ObjectReader::reject(std::string_view name, std::string_view what) {
  if (!state_->error) {
    state_->error = decode_error(fmt::format("decode: {} at {}", what, path(name)));
  }
}

std::string ObjectReader::required_string(std::string_view name) {
  require(name, "a string");
  return string(name).value_or("");
}

std::optional<std::string> ObjectReader::string(std::string_view name) {
  const Json::Value* found = find(name, "a string", &Json::Value::isString);
  return found == nullptr ? std::nullopt : std::optional<std::string>(found->asString());
}

std::optional<std::string> ObjectReader::one_of(std::string_view name, std::span<const std::string_view> choices) {
  std::optional<std::string> text = string(name);
  if (text && std::ranges::find(choices, *text) == choices.end()) {
    if (!state_->error) {
      state_->error = decode_error(fmt::format("decode: expected one of \"{}\" at {}, found \"{}\"",
                                               fmt::join(choices, "\", \""), path(name), *text));
    }
    return std::nullopt;
  }
  return text;
}

std::optional<bool> ObjectReader::boolean(std::string_view name) {
  const Json::Value* found = find(name, "a boolean", &Json::Value::isBool);
  return found == nullptr ? std::nullopt : std::optional<bool>(found->asBool());
}

std::optional<std::int64_t> ObjectReader::integer(std::string_view name) {
  const Json::Value* found = find(name, "an integer", &Json::Value::isInt64);
  return found == nullptr ? std::nullopt : std::optional<std::int64_t>(found->asInt64());
}

std::optional<std::uint64_t> ObjectReader::unsigned_integer(std::string_view name) {
  const Json::Value* found = find(name, "a non-negative integer", &Json::Value::isUInt64);
  return found == nullptr ? std::nullopt : std::optional<std::uint64_t>(found->asUInt64());
}

std::optional<std::vector<std::string>> ObjectReader::strings(std::string_view name) {
  const Json::Value* found = find(name, "an array of strings", &Json::Value::isArray);
  if (found == nullptr) {
    return std::nullopt;
  }
  std::vector<std::string> items;
  for (Json::ArrayIndex i = 0; i < found->size(); ++i) {
    const Json::Value& item = (*found)[i];
    if (!item.isString()) {
      expected("a string", fmt::format("{}[{}]", path(name), i), &item);
      return std::nullopt;
    }
    items.push_back(item.asString());
  }
  return items;
}

std::optional<std::map<std::string, std::string>> ObjectReader::string_map(std::string_view name) {
  const Json::Value* found = find(name, "an object of strings", &Json::Value::isObject);
  if (found == nullptr) {
    return std::nullopt;
  }
  std::map<std::string, std::string> members;
  for (auto it = found->begin(); it != found->end(); ++it) {
    if (!it->isString()) {
      expected("a string", fmt::format("{}.{}", path(name), it.name()), &*it);
      return std::nullopt;
    }
    members.emplace(it.name(), it->asString());
  }
  return members;
}

std::optional<ObjectReader> ObjectReader::object(std::string_view name) {
  const Json::Value* found = find(name);
  return found == nullptr ? std::nullopt : std::optional(ObjectReader(state_, *found, path(name)));
}

std::vector<ObjectReader> ObjectReader::objects(std::string_view name) {
  const Json::Value* found = find(name, "an array of objects", &Json::Value::isArray);
  std::vector<ObjectReader> items;
  for (Json::ArrayIndex i = 0; found != nullptr && i < found->size(); ++i) {
    const std::string where = fmt::format("{}[{}]", path(name), i);
    const Json::Value& item = (*found)[i];
    if (item.isNull()) {  // null means an absent member, but is not an item
      expected("an object", where, &item);
    }
    items.push_back(ObjectReader(state_, item, where));
  }
  return items;
}

const Json::Value* ObjectReader::value(std::string_view name) {
  return find(name);
}

Result<void> ObjectReader::finish() const {
  if (state_->error) {
    return fail(*state_->error);
  }
  return {};
}

std::vector<std::string> ObjectReader::unknown() const {
  std::vector<std::string> names;
  const std::size_t prefix = state_->objects.front().path.size() + 1;
  for (const State::Object& object : state_->objects) {
    if (object.value == nullptr) {
      continue;
    }
    for (auto it = object.value->begin(); it != object.value->end(); ++it) {
      if (object.known.find(it.name()) == object.known.end()) {
        names.push_back(fmt::format("{}.{}", object.path, it.name()).substr(prefix));
      }
    }
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace modlock
