#include "protocol/rpc/method_table.h"

#include <fmt/format.h>

#include <exception>

#include "protocol/base/system_reason.h"
#include "protocol/messages/fields.h"

namespace modlock {

void MethodTable::add(std::string name, Handler handler) {
  handlers_[std::move(name)] = std::move(handler);
}

bool MethodTable::has(std::string_view name) const {
  return handlers_.find(name) != handlers_.end();
}

std::vector<std::string> MethodTable::names() const {
  std::vector<std::string> names;
  for (const auto& [name, handler] : handlers_) {
    names.push_back(name);
  }
  return names;
}

Result<Json::Value> MethodTable::call(std::string_view name, const Json::Value& params, RequestContext& context) const {
  const auto found = handlers_.find(name);
  if (found == handlers_.end()) {
    return fail(Code::method_not_found, fmt::format("method \"{}\" not found", name),
                "see capabilities.methods in the result of initialize");
  }
  Result<Json::Value> result;
  try {
    result = found->second(params, context);
  } catch (const std::exception& caught) {
    return fail(unexpected_error(name, caught));
  } catch (...) {
    return fail(unexpected_error(name, std::runtime_error("an exception of unknown type")));
  }
  if (result && result->isObject() && !context.unknown_params.empty()) {
    (*result)["_meta"]["unknownParams"] = messages::encode(context.unknown_params);
  }
  return result;
}

}  // namespace modlock
