#include "protocol/messages/error_json.h"

namespace modlock {

Json::Value json_of(const Code& code) {
  return Encode::to_value(to_string(code));
}

Json::Value to_json(const Error& error, const Json::Value& more_data) {
  Json::Value data = Encode::to_value(error);
  if (more_data.isObject()) {
    for (auto it = more_data.begin(); it != more_data.end(); ++it) {
      data[it.name()] = *it;
    }
  }
  Json::Value out(Json::objectValue);
  out["code"] = rpc_code(error.code);
  out["message"] = error.message;
  out["data"] = std::move(data);
  return out;
}

}  // namespace modlock
