#include "plugin/cli/sarif.h"

#include <array>
#include <filesystem>
#include <string_view>

#include "plugin/build_info.h"

namespace modlock::cli {
namespace {

namespace fs = std::filesystem;

struct Rule {
  std::string_view id;  // the verdict
  std::string_view level;
  std::string_view text;
};

constexpr std::array<Rule, 7> kRules = {
    {{"tampered", "error", "What is installed is not what the lock file says."},
     {"moved", "error", "A tag gives other content than when it was locked."},
     {"vanished", "error", "What is locked is gone from its source."},
     {"stale", "error", "Another version than the locked one is installed."},
     {"missing", "error", "What is locked is not installed."},
     {"not-locked", "error", "A module call has no lock entry that counts, or an entry has no call."},
     {"update-available", "note", "Something newer satisfies the configuration."}}};

std::string percent_encoded(std::string_view path) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  constexpr std::string_view kPlain = "-._~/";
  std::string out;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                          kPlain.find(c) != std::string_view::npos;
    if (is_plain) {
      out += c;
    } else {
      out += {'%', kDigits[byte >> 4U], kDigits[byte & 15U]};
    }
  }
  return out;
}

Json::Value message(const std::string& text) {
  Json::Value out(Json::objectValue);
  out["text"] = text;
  return out;
}

Json::Value region(const Json::Value& location) {
  Json::Value out(Json::objectValue);
  out["startLine"] = location["range"]["start"]["line"];
  out["endLine"] = location["range"]["end"]["line"];
  out["byteOffset"] = location["start"];
  out["byteLength"] = Json::Value::UInt64(location["end"].asUInt64() - location["start"].asUInt64());
  return out;
}

Json::Value place(const Json::Value& location, const std::string& root, const std::string& base) {
  Json::Value out(Json::objectValue);
  Json::Value& physical = out["physicalLocation"];
  const fs::path path = (fs::path(root) / location["path"].asString()).lexically_normal();
  const std::string relative = path.lexically_relative(base).generic_string();
  if (relative.empty() || relative.starts_with("..")) {
    physical["artifactLocation"]["uri"] = "file://" + percent_encoded(path.generic_string());
  } else {
    physical["artifactLocation"]["uri"] = percent_encoded(relative);
    physical["artifactLocation"]["uriBaseId"] = "%SRCROOT%";
  }
  if (location.isMember("range")) {
    physical["region"] = region(location);
  }
  return out;
}

std::string sentence(const Json::Value& verdict) {
  std::string text = verdict["subject"].asString() + " is " + verdict["verdict"].asString();
  if (const std::string detail = verdict["detail"].asString(); !detail.empty()) {
    text += ": " + detail;
  }
  for (const Json::Value& path : verdict["paths"]) {
    text += "\n- " + path.asString();
  }
  if (verdict.isMember("morePaths")) {
    text += "\n- and " + verdict["morePaths"].asString() + " more";
  }
  return text;
}

Json::Value to_result(const Json::Value& verdict, std::size_t rule, const std::string& root, const std::string& base) {
  Json::Value out(Json::objectValue);
  out["ruleId"] = std::string(kRules.at(rule).id);
  out["ruleIndex"] = Json::Value::UInt64(rule);
  out["level"] = std::string(kRules.at(rule).level);
  out["message"] = message(sentence(verdict));
  Json::Value where(Json::objectValue);
  if (verdict.isMember("location")) {
    where = place(verdict["location"], root, base);
  }
  Json::Value logical(Json::objectValue);
  logical["fullyQualifiedName"] = verdict["subject"];
  logical["kind"] = "module";
  where["logicalLocations"].append(std::move(logical));
  out["locations"].append(std::move(where));
  // What makes two findings the same one, wherever the block has moved to in its file.
  out["partialFingerprints"]["subject/v1"] = verdict["verdict"].asString() + " " + verdict["subject"].asString();
  for (const char* name : {"expected", "actual", "descends", "commitsBehind"}) {
    if (verdict.isMember(name)) {
      out["properties"][name] = verdict[name];
    }
  }
  return out;
}

Json::Value to_notification(const Json::Value& said, const std::string& root, const std::string& base) {
  const std::string severity = said.isMember("severity") ? said["severity"].asString() : "error";
  Json::Value out(Json::objectValue);
  out["level"] = severity == "info" ? "note" : severity;
  std::string text = said["message"].asString();
  if (said.isMember("hint")) {
    text += "\n" + said["hint"].asString();
  }
  out["message"] = message(text);
  out["descriptor"]["id"] = said["code"];
  if (said.isMember("location")) {
    out["locations"].append(place(said["location"], root, base));
  }
  return out;
}

Json::Value driver() {
  Json::Value out(Json::objectValue);
  out["name"] = "tofu-modlock";
  out["version"] = std::string(kVersion);
  for (const Rule& rule : kRules) {
    Json::Value item(Json::objectValue);
    item["id"] = std::string(rule.id);
    item["shortDescription"] = message(std::string(rule.text));
    item["defaultConfiguration"]["level"] = std::string(rule.level);
    out["rules"].append(std::move(item));
  }
  return out;
}

}  // namespace

Json::Value sarif_run(const Json::Value& result, const std::string& root, const std::string& base, int exit_code) {
  Json::Value run(Json::objectValue);
  run["tool"]["driver"] = driver();
  run["originalUriBaseIds"]["%SRCROOT%"]["uri"] = "file://" + percent_encoded(base) + (base.ends_with('/') ? "" : "/");
  Json::Value invocation(Json::objectValue);
  invocation["executionSuccessful"] = !result.isMember("error");
  invocation["exitCode"] = exit_code;
  if (result.isMember("error")) {
    Json::Value said = result["error"]["data"];
    said["message"] = result["error"]["message"];
    invocation["toolExecutionNotifications"].append(to_notification(said, root, base));
  }
  for (const Json::Value& diagnostic : result["diagnostics"]) {
    invocation["toolExecutionNotifications"].append(to_notification(diagnostic, root, base));
  }
  run["invocations"].append(std::move(invocation));
  run["results"] = Json::arrayValue;
  for (const Json::Value& verdict : result["verdicts"]) {
    for (std::size_t i = 0; i < kRules.size(); ++i) {
      if (verdict["verdict"].asString() == kRules.at(i).id) {
        run["results"].append(to_result(verdict, i, root, base));
      }
    }
  }
  return run;
}

Json::Value sarif_log(Json::Value runs) {
  Json::Value out(Json::objectValue);
  out["$schema"] = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
  out["version"] = "2.1.0";
  out["runs"] = std::move(runs);
  return out;
}

}  // namespace modlock::cli
