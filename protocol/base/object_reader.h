#pragma once

#include <json/value.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/base/result.h"

namespace modlock {

// Reads the members of one JSON object by name and type, and records its path:
//
//   ObjectReader in(params);
//   const std::string root = in.required_string("root");
//   const auto mode = in.one_of("mode", names_of(kNone));
//   if (auto ok = in.finish(); !ok) return fail(ok.error());
//   context.unknown_params = in.unknown();
//
// A null member counts as absent. A member of the wrong type is read as absent and its error is kept (the first one
// wins), so decoding needs no check per member; `finish` returns the error. A null value reads as an object without
// members; any other value that is not an object is an error. The value outlives the reader. Readers of nested objects
// share the error and the unknown names with their parent. Not thread-safe.
class ObjectReader {
 public:
  explicit ObjectReader(const Json::Value& value, std::string path = "params");

  std::string required_string(std::string_view name);
  std::optional<std::string> string(std::string_view name);
  // A string that is one of `choices`.
  std::optional<std::string> one_of(std::string_view name, std::span<const std::string_view> choices);
  std::optional<bool> boolean(std::string_view name);
  // Only integers (1.0 is one) within the range of the type; `unsigned_integer` rejects negative ones.
  std::optional<std::int64_t> integer(std::string_view name);
  std::optional<std::uint64_t> unsigned_integer(std::string_view name);
  std::optional<std::vector<std::string>> strings(std::string_view name);
  std::optional<std::map<std::string, std::string>> string_map(std::string_view name);
  std::optional<ObjectReader> object(std::string_view name);
  // The items of an array of objects; empty if the member is absent.
  std::vector<ObjectReader> objects(std::string_view name);
  // Any value; null if the member is absent. All members below it count as known.
  const Json::Value* value(std::string_view name);

  // Reports a member that is absent: "decode: expected an array at params.updates, found nothing".
  void require(std::string_view name, std::string_view what);

  // Reports a value that has the right type but cannot be used: "decode: <what> at params.lock.path".
  void reject(std::string_view name, std::string_view what);

  // The path of a member: "params.lock.path".
  std::string path(std::string_view name) const;

  // Returns INVALID_PARAMS for the first invalid member: "decode: expected a string at params.lock.path, found a
  // number".
  Result<void> finish() const;

  // Returns the members that were not read, here and in every nested object that was read, relative to the outermost
  // object ("lock.pathh", "updates[1].colour"), sorted. "_meta" of the outermost object belongs to the protocol and is
  // known.
  std::vector<std::string> unknown() const;

 private:
  struct State;
  ObjectReader(std::shared_ptr<State> state, const Json::Value& value, std::string path);
  const Json::Value* find(std::string_view name);
  // Returns null for a value of another type, too, and keeps the error.
  const Json::Value* find(std::string_view name, std::string_view what, bool (Json::Value::*is_right)() const);
  void expected(std::string_view what, const std::string& where, const Json::Value* found);

  std::shared_ptr<State> state_;
  std::size_t object_ = 0;  // index of this object in the state
};

}  // namespace modlock
