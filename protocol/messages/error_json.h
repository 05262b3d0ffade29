#pragma once

#include <json/value.h>

#include "protocol/base/error.h"
#include "protocol/messages/fields.h"

namespace modlock {

// The JSON forms of locations, diagnostics and errors.

constexpr TypeName name_of(const Position*) {
  return {"Position", "A point in a text of a file."};
}
template <typename Form>
void fields(Form& form, In<Form, Position> position) {
  form.member("line", position.line, "from 1");
  form.member("column", position.column, "from 1, in grapheme clusters, as HCL counts");
  form.member("byte", position.byte, "from 0");
}

constexpr TypeName name_of(const Range*) {
  return {"Range", "A part of a text."};
}
template <typename Form>
void fields(Form& form, In<Form, Range> range) {
  form.member("start", range.start, "its first point");
  form.member("end", range.end, "the point behind it");
}

constexpr TypeName name_of(const Location*) {
  return {"Location", "A file, or a part of one."};
}
template <typename Form>
void fields(Form& form, In<Form, Location> location) {
  using Offset = std::optional<std::uint32_t>;
  form.member("path", location.path, "relative to the root, with `/`; may start with `../`");
  form.optional("start", location.range ? Offset(location.range->start.byte) : Offset(), "byte offset, from 0");
  form.optional("end", location.range ? Offset(location.range->end.byte) : Offset(),
                "byte offset of the following text");
  form.optional("range", location.range, "the same as points; absent: the whole file");
}

constexpr TypeName name_of(const Related*) {
  return {"Related", "A second place that an error is about."};
}
template <typename Form>
void fields(Form& form, In<Form, Related> related) {
  form.member("message", related.message, "its relation to the problem");
  form.member("location", related.location, "where");
}

// A code is a string of a separate type, which lists the meaning of each code.
Json::Value json_of(const Code& code);
Json::Value schema_of(const Code*);

// The fields that errors and diagnostics share.
template <typename Form>
void context_fields(Form& form, const Error& error) {
  form.optional("subject", error.subject, "the subject: `module.vpc.nested`, `provider.HOST/NAMESPACE/TYPE`");
  form.optional("location", error.location, "its location");
  form.optional("related", error.related, "other places");
  form.optional("hint", error.hint.text(), "what to do now");
}

constexpr TypeName name_of(const Diagnostic*) {
  return {"Diagnostic", "A report next to a result. An error here concerns only a part of the request."};
}
template <typename Form>
void fields(Form& form, In<Form, Diagnostic> diagnostic) {
  form.member("severity", to_string(diagnostic.severity), "how bad it is", {"error", "warning", "info"});
  form.member("code", diagnostic.what.code, "the kind of problem; its meaning never changes");
  form.member("message", diagnostic.what.message, "one sentence for people; may change");
  context_fields(form, diagnostic.what);
  form.optional("notes", diagnostic.what.notes, "what was being done, innermost first");
}

// `error.data` of a response.
constexpr TypeName name_of(const Error*) {
  return {"ErrorData", "The data of an error in addition to its number and message."};
}
template <typename Form>
void fields(Form& form, In<Form, Error> error) {
  using Milliseconds = std::optional<std::int64_t>;
  form.member("code", error.code, "what went wrong; its meaning never changes");
  form.member("retryable", is_retryable(error.code),
              "the same request may succeed later without anybody changing anything");
  form.optional("retryAfterMs", error.retry_after ? Milliseconds(error.retry_after->count()) : Milliseconds(),
                "how long to wait before");
  form.member("notes", error.notes, "what was being done, innermost first");
  context_fields(form, error);
}

// The error object of a response: {code, message, data{code, retryable, retryAfterMs?, subject?, location?, related?,
// notes, hint?}}. The members of `more_data`, an object or null, are added to `data`.
Json::Value to_json(const Error& error, const Json::Value& more_data = {});

}  // namespace modlock
