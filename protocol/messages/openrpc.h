#pragma once

#include <json/value.h>

namespace modlock::messages {

// The whole protocol as an OpenRPC document, made of the `fields` of the messages: what `rpc.discover` answers and
// docs/openrpc.json holds. The same bytes every time.
Json::Value openrpc_document();

// The same types and, as "<method>.params" and "<method>.result", messages as definitions of one JSON Schema.
Json::Value json_schema_document();

}  // namespace modlock::messages
