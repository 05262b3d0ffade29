#include "protocol/messages/lock_plan.h"

#include "protocol/error_json.h"
#include "protocol/messages/encode.h"

namespace modlock::messages {
namespace {

Json::Value encode(const ChangeSide& side) {
  Json::Value out(Json::objectValue);
  set_if(out, "version", side.version);
  set_if(out, "ref", side.ref);
  set_if(out, "commit", side.commit);
  set_if(out, "digest", side.digest);
  return out;
}

Json::Value encode(const LockedModule& module) {
  Json::Value out(Json::objectValue);
  out["key"] = module.key;
  out["source"] = module.source;
  set_if(out, "version", module.version);
  set_if(out, "ref", module.ref);
  set_if(out, "commit", module.commit);
  set_if(out, "digest", module.digest);
  set_if(out, "constraints", module.constraints);
  out["hashes"] = encode_strings(module.hashes);
  return out;
}

Json::Value encode(const LockedProvider& provider) {
  Json::Value out(Json::objectValue);
  out["address"] = provider.address;
  out["version"] = provider.version;
  set_if(out, "constraints", provider.constraints);
  out["hashes"] = encode_strings(provider.hashes);
  out["signature"]["status"] = provider.signature.status;
  set_if(out["signature"], "keyId", provider.signature.key_id);
  return out;
}

}  // namespace

LockParams decode_lock(ObjectReader& in) {
  LockParams params;
  if (auto lock = in.object("lock")) {
    params.path = lock->string("path");
    params.text = lock->string("text");
  }
  return params;
}

Include decode_include(ObjectReader& in) {
  const auto kinds = in.strings("include");
  if (!kinds) {
    return {};
  }
  Include include{.modules = false, .providers = false};
  for (const std::string& kind : *kinds) {
    include.modules = include.modules || kind == "modules";
    include.providers = include.providers || kind == "providers";
    if (kind != "modules" && kind != "providers") {
      in.reject("include", "expected \"modules\" or \"providers\"");
    }
  }
  return include;
}

Result<LockPlanParams> decode_lock_plan(const Json::Value& params, std::vector<std::string>& unknown) {
  ObjectReader in(params);
  LockPlanParams out;
  out.root = decode_root_params(in);
  out.lock = decode_lock(in);
  out.mode = in.one_of("mode", {"missing", "upgrade", "frozen"}).value_or("missing");
  out.targets = in.strings("targets").value_or(std::vector<std::string>{});
  out.include = decode_include(in);
  out.platforms = in.strings("platforms").value_or(std::vector<std::string>{});
  out.hashes = in.one_of("hashes", {"superset", "init", "providers-lock"}).value_or("superset");
  if (auto policy = in.object("policy")) {
    out.resolution = policy->one_of("resolution", {"auto", "unified", "per-call"});
    out.allow = policy->strings("allow").value_or(std::vector<std::string>{});
    out.minimum_release_age = policy->string("minimumReleaseAge");
    out.adopt = policy->boolean("adopt").value_or(true);
    out.deny = policy->strings("deny").value_or(std::vector<std::string>{});
  }
  if (auto ok = in.finish(); !ok) {
    return fail(std::move(ok.error()));
  }
  unknown = in.unknown();
  return out;
}

Json::Value encode(const Change& change) {
  Json::Value out(Json::objectValue);
  out["subject"] = change.subject;
  out["action"] = change.action;
  if (change.from) {
    out["from"] = encode(*change.from);
  }
  if (change.to) {
    out["to"] = encode(*change.to);
  }
  set_if(out, "constraints", change.constraints);
  out["reason"] = change.reason;
  return out;
}

Json::Value encode(const LockPlanResult& result) {
  Json::Value out(Json::objectValue);
  out["edits"] = encode(result.edits);
  out["changes"] = encode_list(result.changes);
  Json::Value& modules = out["modules"] = Json::arrayValue;
  for (const LockedModule& module : result.modules) {
    modules.append(encode(module));
  }
  Json::Value& providers = out["providers"] = Json::arrayValue;
  for (const LockedProvider& provider : result.providers) {
    providers.append(encode(provider));
  }
  out["diagnostics"] = to_json(result.diagnostics);
  out["stats"] = encode(result.stats);
  return out;
}

}  // namespace modlock::messages
