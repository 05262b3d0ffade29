#include "protocol/messages/workspace_edit.h"

#include "protocol/error_json.h"
#include "protocol/messages/encode.h"

namespace modlock::messages {
namespace {

Json::Value encode(const RangeEdit& edit) {
  Json::Value out(Json::objectValue);
  out["start"] = static_cast<Json::UInt64>(edit.start);
  out["end"] = static_cast<Json::UInt64>(edit.end);
  out["oldText"] = edit.old_text;
  out["newText"] = edit.new_text;
  out["range"] = to_json(edit.range);
  return out;
}

Json::Value encode(const EditedDocument& document) {
  Json::Value out(Json::objectValue);
  out["path"] = document.path;
  out["op"] = document.operation;
  if (document.base_sha256) {
    out["base"]["sha256"] = *document.base_sha256;
  } else {
    out["base"] = Json::nullValue;
  }
  set_if(out, "newText", document.new_text);
  if (document.edits) {
    Json::Value& edits = out["edits"] = Json::arrayValue;
    for (const RangeEdit& edit : *document.edits) {
      edits.append(encode(edit));
    }
  }
  out["result"]["sha256"] = document.result_sha256;
  return out;
}

}  // namespace

Json::Value encode(const WorkspaceEdit& edit) {
  Json::Value out(Json::objectValue);
  Json::Value& documents = out["documents"] = Json::arrayValue;
  for (const EditedDocument& document : edit.documents) {
    documents.append(encode(document));
  }
  return out;
}

}  // namespace modlock::messages
