#include "protocol/messages/lock_explain.h"

#include "protocol/error_json.h"
#include "protocol/messages/encode.h"

namespace modlock::messages {
namespace {

Json::Value encode(const Rejection& rejection) {
  Json::Value out(Json::objectValue);
  out["version"] = rejection.version;
  out["why"] = rejection.why;
  return out;
}

Json::Value encode(const ExplainedStep& step) {
  Json::Value out(Json::objectValue);
  out["constraint"] = step.constraint;
  set_if(out, "subject", step.subject);
  if (step.location) {
    out["location"] = to_json(*step.location);
  }
  out["kept"] = encode_strings(step.kept);
  Json::Value& rejected = out["rejected"] = Json::arrayValue;
  for (const Rejection& rejection : step.rejected) {
    rejected.append(encode(rejection));
  }
  return out;
}

Json::Value encode(const Selected& selected) {
  Json::Value out(Json::objectValue);
  set_if(out, "version", selected.version);
  set_if(out, "ref", selected.ref);
  set_if(out, "commit", selected.commit);
  set_if(out, "digest", selected.digest);
  out["hashes"] = encode_strings(selected.hashes);
  set_if(out, "firstSeen", selected.first_seen);
  out["reason"] = selected.reason;
  return out;
}

}  // namespace

Result<LockExplainParams> decode_lock_explain(const Json::Value& params, std::vector<std::string>& unknown) {
  ObjectReader in(params);
  LockExplainParams out;
  out.root = decode_root_params(in);
  out.lock = decode_lock(in);
  out.subject = in.required_string("subject");
  if (auto ok = in.finish(); !ok) {
    return fail(std::move(ok.error()));
  }
  unknown = in.unknown();
  return out;
}

Json::Value encode(const LockExplainResult& result) {
  Json::Value out(Json::objectValue);
  out["subject"] = result.subject;
  out["source"] = result.source;
  out["selected"] = encode(result.selected);
  Json::Value& chain = out["chain"] = Json::arrayValue;
  for (const ExplainedStep& step : result.chain) {
    chain.append(encode(step));
  }
  out["diagnostics"] = to_json(result.diagnostics);
  return out;
}

}  // namespace modlock::messages
