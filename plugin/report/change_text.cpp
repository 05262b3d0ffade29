#include "plugin/report/change_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "backends/address/source_text.h"
#include "backends/base/text.h"
#include "plugin/lock/locked_text.h"

namespace modlock {
namespace {

// Returns "commit 1a2b3c4d5e6f", "manifest 1a2b3c4d5e6f", or "" if there is neither.
std::string id_text(const std::optional<messages::ChangeSide>& side) {
  return side ? locked_text(std::nullopt, "", origin_of(side->commit, side->digest, side->checksum)) : "";
}

// A bar would end a cell of a table, also in a code span.
std::string cell(std::string_view text) {
  std::string out = code_span(text);
  replace_all(out, "|", "\\|");
  return out;
}

std::string cell_of(const std::optional<messages::ChangeSide>& side) {
  return side ? cell(side_text(side)) : "";
}

}  // namespace

std::string change_line(const messages::Change& change) {
  const ChangeText text = change_text(change);
  return change.subject + "  " + text.what + (text.note.empty() ? "" : "  " + text.note);
}

ChangeText change_text(const messages::Change& change) {
  using messages::Action;
  const Action action = change.action;
  ChangeText text;
  const auto add_note = [&](const std::string& note) { text.note += (text.note.empty() ? "" : "  ") + note; };
  if (action == Action::removed) {
    text.what = "removed (was " + side_text(change.from) + ")";
  } else if (action == Action::merged) {
    text.what = side_text(change.to);
    add_note("merged: " + change.reason);
  } else if (action == Action::moved) {
    const std::string from = id_text(change.from);
    text.what = side_text(change.to);
    add_note("moved" + (from.empty() ? "" : " from " + from + " to " + id_text(change.to)));
  } else if (action == Action::added || action == Action::restored || action == Action::adopted ||
             side_text(change.from) == side_text(change.to)) {
    text.what = side_text(change.to);
    if (action != Action::added && action != Action::renamed) {
      add_note(std::string(to_string(action)));
    }
  } else {
    text.what = side_text(change.from) + " -> " + side_text(change.to);
  }
  if (!change.previous_subject.empty()) {
    add_note("renamed from " + change.previous_subject);
  }
  if (change.constraints) {
    add_note(fmt::format("({})", *change.constraints));
  }
  return text;
}

std::string side_text(const std::optional<messages::ChangeSide>& side) {
  const std::string text =
      side ? locked_text(side->version, side->ref, origin_of(side->commit, side->digest, side->checksum)) : "";
  return text.empty() ? "its content" : text;
}

Error moved_error(const std::vector<messages::HeldMove>& moved) {
  Error error{.code = Code::hash_mismatch,
              .message = fmt::format("{} moved at the source; the locked content is kept",
                                     moved.size() == 1 ? "a tag was" : fmt::format("{} tags were", moved.size())),
              .subject = moved.front().subject};
  Hint::Words command = {"upgrade"};
  for (const messages::HeldMove& move : moved) {
    command.insert(command.end(), {"--target", move.subject});
    error.notes.push_back(fmt::format("{}: {} is locked, {} is offered", move.subject, move.locked, move.offered));
  }
  error.hint = "review what the tags point to now; to lock it, run: " + Hint::command(std::move(command));
  return error;
}

std::string code_span(std::string_view untrusted) {
  std::string blank(untrusted);
  std::ranges::replace_if(
      blank, [](char c) { return c >= 0 && c < ' '; }, ' ');
  const std::string text = escape_controls(blank);
  std::size_t run = 0;
  std::size_t longest = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(longest + 1, '`');
  const std::string_view space = longest == 0 ? "" : " ";
  return text.empty() ? "" : fmt::format("{0}{1}{2}{1}{0}", fence, space, text);
}

std::string plan_markdown(const messages::LockPlanResult& result) {
  if (result.edits.documents.empty()) {
    return "";
  }
  std::string text;
  if (!result.changes.empty()) {
    text += "| Subject | Change | From | To | Constraint |\n|---|---|---|---|---|\n";
  }
  for (const messages::Change& change : result.changes) {
    const std::string former = cell(change.previous_subject);
    text += fmt::format("| {} | {}{} | {} | {} | {} |\n", cell(change.subject), to_string(change.action),
                        former.empty() ? "" : " (was " + former + ")", cell_of(change.from), cell_of(change.to),
                        cell(change.constraints.value_or("")));
  }
  text += text.empty() ? "" : "\n";
  text += "Files:";
  for (const messages::EditedDocument& document : result.edits.documents) {
    text += " " + code_span(document.path);
  }
  text += "\n";
  for (const Diagnostic& diagnostic : result.diagnostics) {
    text += fmt::format("\n> **{}** {}\n", to_string(diagnostic.what.code), code_span(diagnostic.what.message));
  }
  return text;
}

}  // namespace modlock
