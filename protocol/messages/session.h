#pragma once

#include <string>

#include "protocol/messages/fields.h"

namespace modlock::messages {

// Messages between host and session about the session itself.

struct Nothing {};
template <typename Form>
void fields(Form&, In<Form, Nothing>) {}

// A result that is null.
struct Null {};
Json::Value schema_of(const Null*);

// An OpenRPC document.
struct AnyObject {};
Json::Value schema_of(const AnyObject*);

// A string or an integer, returned unchanged.
struct Token {};
Json::Value schema_of(const Token*);

struct RequestMeta {
  std::optional<Token> progress_token;
  std::optional<std::uint64_t> deadline_ms;
};
constexpr TypeName name_of(const RequestMeta*) {
  return {"RequestMeta", "Metadata of a request."};
}
template <typename Form>
void fields(Form& form, In<Form, RequestMeta> meta) {
  form.optional("progressToken", meta.progress_token,
                "enables `$/progress` with this token, a different one for each request");
  form.optional("deadlineMs", meta.deadline_ms, "past it the request is answered DEADLINE_EXCEEDED");
}

struct ResultMeta {
  std::vector<std::string> unknown_params;
};
constexpr TypeName name_of(const ResultMeta*) {
  return {"ResultMeta", "Metadata of a result."};
}
template <typename Form>
void fields(Form& form, In<Form, ResultMeta> meta) {
  form.optional("unknownParams", meta.unknown_params, "params that were ignored, nested ones with dots");
}

struct CancelParams {
  Token id;
};
template <typename Form>
void fields(Form& form, In<Form, CancelParams> params) {
  form.member("id", params.id, "of the request; one that is not in flight is ignored");
}

struct LogLevelParams {
  std::string level;
};
template <typename Form>
void fields(Form& form, In<Form, LogLevelParams> params) {
  form.member("level", params.level, "the least important that is logged", {"error", "warning", "info", "debug"});
}

struct LogMessage {
  std::string level;
  std::string message;
};
template <typename Form>
void fields(Form& form, In<Form, LogMessage> message) {
  form.member("level", message.level, "how important", {"error", "warning", "info", "debug"});
  form.member("message", message.message, "one line");
}

struct ProgressValue {
  std::string kind;
  std::string title = {};
  std::string message = {};
  std::optional<std::size_t> done = {};
  std::size_t total = 0;
};
constexpr TypeName name_of(const ProgressValue*) {
  return {"ProgressValue", "Begin, any number of reports, end."};
}
template <typename Form>
void fields(Form& form, In<Form, ProgressValue> value) {
  form.member("kind", value.kind, "which", {"begin", "report", "end"});
  form.optional("title", value.title, "of begin: the method");
  form.optional("message", value.message, "of report: what is being done");
  form.optional("done", value.done, "of report: how much of it");
  form.optional("total", value.total, "of report: the total, if it is known");
}

struct ProgressParams {
  Token token;
  ProgressValue value;
};
template <typename Form>
void fields(Form& form, In<Form, ProgressParams> params) {
  form.member("token", params.token, "that of the request");
  form.member("value", params.value, "how far it is");
}

}  // namespace modlock::messages
