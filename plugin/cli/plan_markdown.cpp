#include <fmt/format.h>

#include "plugin/cli/plan_result.h"

namespace modlock::cli {
namespace {

// What stands in a cell: a bar would end it.
std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    out += c == '|' ? "\\|" : c == '\n' || c == '\r' ? " " : std::string(1, c);
  }
  return out;
}

std::string code(const std::string& text) {
  return text.empty() ? "" : fmt::format("`{}`", cell(text));
}

std::string side(const Json::Value& change, const char* name) {
  return change.isMember(name) ? cell(side_text(change[name])) : "";
}

}  // namespace

std::string plan_markdown(const Json::Value& result) {
  if (result["edits"]["documents"].empty()) {
    return "";
  }
  std::string text;
  if (!result["changes"].empty()) {
    text += "| Subject | Change | From | To | Constraint |\n|---|---|---|---|---|\n";
  }
  for (const Json::Value& change : result["changes"]) {
    const std::string former = code(change["previousSubject"].asString());
    text += fmt::format("| {} | {}{} | {} | {} | {} |\n", code(change["subject"].asString()),
                        cell(change["action"].asString()), former.empty() ? "" : " (was " + former + ")",
                        side(change, "from"), side(change, "to"), code(change["constraints"].asString()));
  }
  text += text.empty() ? "" : "\n";
  text += "Files:";
  for (const Json::Value& document : result["edits"]["documents"]) {
    text += " " + code(document["path"].asString());
  }
  text += "\n";
  for (const Json::Value& diagnostic : result["diagnostics"]) {
    text += fmt::format("\n> **{}** {}\n", cell(diagnostic["code"].asString()), cell(diagnostic["message"].asString()));
  }
  return text;
}

}  // namespace modlock::cli
