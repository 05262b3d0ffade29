#include "protocol/error_json.h"

#include <string>

namespace modlock {
namespace {

Json::Value position_to_json(const Position& position) {
  Json::Value out(Json::objectValue);
  out["line"] = Json::Value::UInt64(position.line);
  out["column"] = Json::Value::UInt64(position.column);
  out["byte"] = Json::Value::UInt64(position.byte);
  return out;
}

Json::Value text_to_json(std::string_view text) {
  return {text.data(), text.data() + text.size()};
}

// What an error and a diagnostic share.
void add_context(Json::Value& out, const Error& error) {
  if (!error.subject.empty()) {
    out["subject"] = error.subject;
  }
  if (error.location) {
    out["location"] = to_json(*error.location);
  }
  for (const Related& related : error.related) {
    Json::Value item(Json::objectValue);
    item["message"] = related.message;
    item["location"] = to_json(related.location);
    out["related"].append(std::move(item));
  }
  if (!error.hint.empty()) {
    out["hint"] = error.hint;
  }
}

Json::Value notes_to_json(const Error& error) {
  Json::Value notes(Json::arrayValue);
  for (const std::string& note : error.notes) {
    notes.append(note);
  }
  return notes;
}

}  // namespace

Json::Value to_json(const Range& range) {
  Json::Value out(Json::objectValue);
  out["start"] = position_to_json(range.start);
  out["end"] = position_to_json(range.end);
  return out;
}

Json::Value to_json(const Location& location) {
  Json::Value out(Json::objectValue);
  out["path"] = location.path;
  if (location.range) {
    out["start"] = Json::Value::UInt64(location.range->start.byte);
    out["end"] = Json::Value::UInt64(location.range->end.byte);
    out["range"] = to_json(*location.range);
  }
  return out;
}

Json::Value to_json(const Diagnostic& diagnostic) {
  Json::Value out(Json::objectValue);
  out["severity"] = text_to_json(to_string(diagnostic.severity));
  out["code"] = text_to_json(to_string(diagnostic.what.code));
  out["message"] = diagnostic.what.message;
  add_context(out, diagnostic.what);
  if (!diagnostic.what.notes.empty()) {
    out["notes"] = notes_to_json(diagnostic.what);
  }
  return out;
}

Json::Value to_json(const Diagnostics& diagnostics) {
  Json::Value out(Json::arrayValue);
  for (const Diagnostic& diagnostic : diagnostics) {
    out.append(to_json(diagnostic));
  }
  return out;
}

Json::Value to_json(const Error& error, const Json::Value& more_data) {
  Json::Value data(Json::objectValue);
  data["code"] = text_to_json(to_string(error.code));
  data["retryable"] = is_retryable(error.code);
  if (error.retry_after) {
    data["retryAfterMs"] = Json::Value::Int64(error.retry_after->count());
  }
  data["notes"] = notes_to_json(error);
  add_context(data, error);
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
