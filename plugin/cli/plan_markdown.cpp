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

std::string cell_of(const std::optional<messages::ChangeSide>& side) {
  return side ? cell(side_text(side)) : "";
}

}  // namespace

std::string plan_markdown(const messages::LockPlanResult& result) {
  if (result.edits.documents.empty()) {
    return "";
  }
  std::string text;
  if (!result.changes.empty()) {
    text += "| Subject | Change | From | To | Constraint |\n|---|---|---|---|---|\n";
  }
  for (const messages::Change& change : result.changes) {
    const std::string former = code(change.previous_subject);
    text += fmt::format("| {} | {}{} | {} | {} | {} |\n", code(change.subject), cell(change.action),
                        former.empty() ? "" : " (was " + former + ")", cell_of(change.from), cell_of(change.to),
                        code(change.constraints.value_or("")));
  }
  text += text.empty() ? "" : "\n";
  text += "Files:";
  for (const messages::EditedDocument& document : result.edits.documents) {
    text += " " + code(document.path);
  }
  text += "\n";
  for (const Diagnostic& diagnostic : result.diagnostics) {
    text += fmt::format("\n> **{}** {}\n", cell(to_string(diagnostic.what.code)), cell(diagnostic.what.message));
  }
  return text;
}

}  // namespace modlock::cli
