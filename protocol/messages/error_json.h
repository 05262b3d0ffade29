#pragma once

#include <json/value.h>

#include "protocol/base/error.h"

namespace modlock {

// {start, end} of {line, column, byte}.
Json::Value to_json(const Range& range);

// {path, start?, end?, range?}; start and end are the byte offsets of the range.
Json::Value to_json(const Location& location);

// {severity, code, message, subject?, location?, related?, notes?, hint?}, as `diagnostics[]` of a result has it.
Json::Value to_json(const Diagnostic& diagnostic);
Json::Value to_json(const Diagnostics& diagnostics);

// The error object of a response: {code, message, data{code, retryable, retryAfterMs?, subject?, location?, related?,
// notes, hint?}}. The members of `more_data`, an object or null, are added to `data`.
Json::Value to_json(const Error& error, const Json::Value& more_data = {});

// The numeric code of JSON-RPC for a code of ours: -32700, -32600 (all that is wrong with a message or its moment),
// -32601, -32602, -32603, -32002, -32800, -32801, and -32803 for the rest.
int rpc_code(Code code);

}  // namespace modlock
