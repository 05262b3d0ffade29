#pragma once

#include <json/value.h>

namespace modlock::messages {

// Returns the whole protocol as an OpenRPC document, built from the `fields` of the messages. It is the result of
// `rpc.discover` and the content of docs/openrpc.json. The output is deterministic.
Json::Value openrpc_document();

// Returns the same types and the messages as definitions of one JSON Schema: "ConfigInspectParams" and
// "ConfigInspectResult" for `config/inspect`.
Json::Value json_schema_document();

}  // namespace modlock::messages
