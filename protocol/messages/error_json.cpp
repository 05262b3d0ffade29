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

int rpc_code(Code code) {
  switch (code) {
    case Code::parse_error:
      return -32700;
    case Code::invalid_request:
    case Code::message_too_large:
    case Code::duplicate_id:
    case Code::shutting_down:
      return -32600;
    case Code::method_not_found:
      return -32601;
    case Code::invalid_params:
      return -32602;
    case Code::internal:
      return -32603;
    case Code::not_initialized:
      return -32002;
    case Code::request_cancelled:
      return -32800;
    case Code::content_modified:
      return -32801;
    default:
      return -32803;
  }
}

}  // namespace modlock
