#include "protocol/messages/lock_verify.h"

#include "protocol/error_json.h"
#include "protocol/messages/encode.h"

namespace modlock::messages {

Result<LockVerifyParams> decode_lock_verify(const Json::Value& params, std::vector<std::string>& unknown) {
  ObjectReader in(params);
  LockVerifyParams out;
  out.root = decode_root_params(in);
  out.lock = decode_lock(in);
  out.online = in.boolean("online").value_or(false);
  out.full = in.boolean("full").value_or(false);
  out.strict = in.boolean("strict").value_or(false);
  out.include = decode_include(in);
  if (auto ok = in.finish(); !ok) {
    return fail(std::move(ok.error()));
  }
  unknown = in.unknown();
  return out;
}

Json::Value encode(const LockVerifyResult& result) {
  Json::Value out(Json::objectValue);
  out["ok"] = result.ok;
  Json::Value& verdicts = out["verdicts"] = Json::arrayValue;
  for (const Verdict& verdict : result.verdicts) {
    Json::Value item(Json::objectValue);
    item["subject"] = verdict.subject;
    item["verdict"] = verdict.verdict;
    set_if(item, "expected", verdict.expected);
    set_if(item, "actual", verdict.actual);
    item["detail"] = verdict.detail;
    if (!verdict.paths.empty()) {
      item["paths"] = encode_strings(verdict.paths);
    }
    if (verdict.more_paths != 0) {
      item["morePaths"] = Json::Value::UInt64(verdict.more_paths);
    }
    if (verdict.descends) {
      item["descends"] = *verdict.descends;
    }
    if (verdict.commits_behind) {
      item["commitsBehind"] = Json::Value::UInt64(*verdict.commits_behind);
    }
    if (verdict.location) {
      item["location"] = to_json(*verdict.location);
    }
    verdicts.append(std::move(item));
  }
  out["diagnostics"] = to_json(result.diagnostics);
  return out;
}

}  // namespace modlock::messages
