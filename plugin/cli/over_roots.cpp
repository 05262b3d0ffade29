#include "plugin/cli/over_roots.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include "backends/base/parallel.h"
#include "backends/base/text.h"
#include "plugin/config/config_files.h"
#include "plugin/engine/client_program.h"
#include "plugin/engine/root_request.h"
#include "plugin/report/change_text.h"
#include "plugin/resolve/subject.h"
#include "plugin/terragrunt/unit_check.h"
#include "plugin/workspace/root_search.h"
#include "protocol/base/json.h"
#include "protocol/messages/error_json.h"

namespace modlock::cli {

namespace fs = std::filesystem;

namespace {

// What print_diagnostics() has printed about things that the roots of a command share.
std::set<std::string>& printed_for_roots() {
  static std::set<std::string> printed;
  return printed;
}

// Notes about a block of a shared settings file that does not apply to a root, and the number of these roots.
struct UnusedBlock {
  std::string text;
  std::size_t roots = 0;
};
std::map<std::string, UnusedBlock>& unused_blocks() {
  static std::map<std::string, UnusedBlock> blocks;
  return blocks;
}

}  // namespace

std::string checked_for_text(const std::optional<messages::CheckedFor>& checked) {
  return checked ? fmt::format(", checked for {} ({})", checked->client == "terraform" ? "Terraform" : "OpenTofu",
                               checked->from)
                 : "";
}

std::string client_name(const Host& host, const std::string& root) {
  messages::RootParams params;
  params.root = root;
  return command_of(client_of(params, host.engine()).tool);
}

RootOutcome failed(const Error& error, const CommonFlags& flags, const std::string& root,
                   const Json::Value& error_data) {
  RootOutcome outcome{
      .exit_code = exit_code(error), .json = {}, .result = std::string(to_string(error.code)), .hint = error.hint};
  if (error.code == Code::request_cancelled) {
    outcome.is_interrupted = true;
    outcome.state = error.reason == Reason::not_started ? error.message : flags.interrupted;
  }
  if (flags.json) {
    outcome.json["error"] = to_json(error, error_data);
  } else if (outcome.is_interrupted) {
    print_err(NamedRoot::exists() ? "" : "Interrupted.\n");
  } else {
    SourceExcerpts excerpts(root);
    print_err(render(error, "Error", &excerpts));
  }
  return outcome;
}

namespace {

std::optional<Error> find_missing(const std::string& root, const CommonFlags& flags) {
  const bool needs_none = flags.only_locks || (flags.knows_units && terragrunt::is_unit(root));
  return needs_none ? std::nullopt : find_missing_configuration(root);
}

// Returns "Next: run tofu-modlock install --recursive, then tofu init in each root module."; empty: there is no next
// step.
std::string next_text(const NextSteps& next, const std::vector<std::string>& roots, const CommonFlags& flags) {
  const bool are_several = roots.size() > 1;
  const std::string shown = roots.size() == 1 ? shown_path(roots.front()) : ".";
  const std::string place = shown == "." ? "" : shell_word(shown);
  std::string arguments = are_several && (flags.recursive || flags.directories.empty()) ? " --recursive" : "";
  if (!are_several && !place.empty()) {
    arguments += " " + place;
  }
  for (const std::string& directory : are_several ? flags.directories : std::vector<std::string>()) {
    arguments += " " + shell_word(directory);
  }
  std::string text;
  const auto add = [&](const std::string& command) { text += (text.empty() ? "Next: run " : ", then ") + command; };
  if (next.lock) {
    add("tofu-modlock lock" + arguments);
  }
  if (next.install) {
    add("tofu-modlock install" + arguments);
  }
  if (!next.init.empty()) {
    add(next.init + (place.empty() ? "" : " -chdir=" + place) + " init" + (are_several ? " in each root module" : ""));
  }
  return text.empty() ? "" : text + ".\n";
}

}  // namespace

void print_left_out() {
  const std::string text = left_out().text();
  print_err(text.empty() ? "" : text + "\n");
}

int failed_everywhere(const Error& error, const CommonFlags& flags) {
  const RootOutcome outcome = failed(error, flags);
  if (flags.json) {
    print_raw(write_json_pretty(outcome.json));
  }
  return outcome.exit_code;
}

void ask_each(const std::vector<std::string>& roots, const CommonFlags& flags, const Host& host,
              const std::function<void(std::size_t i, std::optional<Error> failure)>& ask) {
  const Context context = host.context();
  host.progress().count_roots(roots.size());
  parallel_for(roots.size(), flags.jobs, [&](std::size_t i) {
    ask(i, context.check()
               ? find_missing(roots[i], flags)
               : std::optional(
                     Error{.code = Code::request_cancelled, .message = "not started", .reason = Reason::not_started}));
    host.progress().root_done(roots[i]);
  });
}

std::optional<Error> find_missing_configuration(const std::string& root) {
  if (has_configuration(root)) {
    return std::nullopt;
  }
  return Error{.code = Code::config_parse,
               .message = fmt::format("{} has no configuration files", root),
               .hint = terragrunt::is_unit(root)
                           ? fmt::format("Terragrunt locks this unit; run in {}, after a change of the source too: "
                                         "terragrunt init -upgrade --source-update",
                                         shell_word(shown_path(root)))
                           : "name the directory of a root module with --chdir; most commands also have --recursive"};
}

std::optional<Error> find_missing_files(const std::string& root) {
  return has_lock(root) ? std::nullopt : find_missing_configuration(root);
}

void print_table(const std::vector<RootRow>& rows) {
  const std::string left = left_out().text().empty() ? "" : " " + left_out().text();
  const auto failures = std::count_if(rows.begin(), rows.end(), [](const RootRow& row) { return row.exit_code != 0; });
  if (failures == 0) {
    print_err(fmt::format("{} root modules: all ok.{}\n", rows.size(), left));
    return;
  }
  const auto result_of = [](const RootRow& row) {
    return !row.result.empty() ? row.result : std::string(row.exit_code == 0 ? "ok" : "failed");
  };
  int worst = 0;
  std::vector<std::vector<Cell>> cells = {{{"ROOT"}, {"RESULT"}, {"HINT"}}};
  for (const RootRow& row : rows) {
    cells.push_back(
        {{shown_path(row.root)}, {result_of(row), row.exit_code == 0 ? Color::green : Color::red}, {row.hint}});
    worst = worse_exit_code(worst, row.exit_code);
  }
  print_err("\n");
  print_table_err(cells, Fit::wrap);
  print_err(fmt::format("{} root modules: {} ok, {} failed (exit code {}).{}\n", rows.size(),
                        rows.size() - static_cast<std::size_t>(failures), failures, worst, left));
}

int run_for_roots(const std::vector<std::string>& roots, const CommonFlags& flags,
                  const std::function<RootOutcome(const std::string& root)>& work) {
  int worst = 0;
  printed_for_roots().clear();
  unused_blocks().clear();
  const bool are_several = roots.size() > 1;
  Json::Value answers;
  std::vector<RootRow> rows;
  std::vector<std::vector<Cell>> states;
  bool is_interrupted = false;
  NextSteps next;
  for (const std::string& root : roots) {
    const NamedRoot named(root, are_several);
    if (are_several && !flags.json) {
      print_out(fmt::format("{}{}{}:\n", rows.empty() ? "" : "\n", flags.comment,
                            flags.in_markdown ? code_span(shown_path(root)) : shown_path(root)));
    }
    RootOutcome outcome = work(root);
    print_unlocked_root(root, outcome.exit_code, flags);
    worst = worse_exit_code(worst, outcome.exit_code);
    is_interrupted = is_interrupted || outcome.is_interrupted;
    const std::string& state = outcome.state.empty() ? outcome.result : outcome.state;
    states.push_back({{shown_path(root)}, {state.empty() ? "ok" : state}});
    rows.push_back({root, outcome.exit_code, std::move(outcome.result), with_root(outcome.hint)});
    next.lock = next.lock || outcome.next.lock;
    next.install = next.install || outcome.next.install;
    next.init = next.init.empty() ? outcome.next.init : next.init;
    if (outcome.json.isNull() && !(are_several && flags.json)) {
      continue;
    }
    if (are_several) {
      outcome.json["root"] = root;
      outcome.json["exitCode"] = outcome.exit_code;
    }
    answers.append(std::move(outcome.json));
  }
  for (const auto& [place, block] : unused_blocks()) {
    print_err(flags.recursive && block.roots == roots.size() ? block.text : "");
  }
  if (is_interrupted && !flags.json) {
    const std::string state = states.front()[1].text;
    print_err(are_several || state == "interrupted" ? "Interrupted.\n" : fmt::format("Interrupted: {}.\n", state));
  }
  if (is_interrupted && are_several && !flags.json) {
    print_table_err(states, Fit::wrap);
  } else if (!flags.json) {
    are_several ? print_table(rows) : print_left_out();
    print_out(next_text(next, roots, flags));
  }
  if (flags.json && (roots.empty() || !answers.empty())) {
    Json::Value several;
    several["results"] = answers.isNull() ? Json::Value(Json::arrayValue) : answers;
    Json::Value& printed = roots.size() == 1 ? answers[0] : several;
    if (!left_out().called.empty()) {
      printed["notRoots"] = messages::encode(left_out().called);
    }
    print_raw(write_json_pretty(printed));
  }
  return worst;
}

bool NamedSubjects::drop(const Error& error, const std::string& root, std::vector<std::string>& wanted) {
  if (!flags_.recursive || error.reason != Reason::unknown_subject) {
    return false;
  }
  // The subject may have a kind and a host that the name lacks.
  const auto name = std::find_if(wanted.begin(), wanted.end(), [&](const std::string& each) {
    const std::string bare = each.starts_with("provider.") ? each.substr(each.find('.') + 1) : each;
    return error.subject == each || error.subject.ends_with("." + bare) || error.subject.ends_with("/" + bare);
  });
  if (name == wanted.end()) {
    return false;
  }
  const std::lock_guard guard(mutex_);
  lacking_[root].emplace(*name, error);
  wanted.erase(name);
  return !wanted.empty();
}

std::optional<RootOutcome> NamedSubjects::skipped(const std::string& root) const {
  const auto lacking = lacking_.find(root);
  if (lacking == lacking_.end()) {
    return std::nullopt;
  }
  for (const auto& [name, error] : lacking->second) {
    if (found_.count(name) == 0) {
      return failed(error, flags_, root);
    }
  }
  if (!std::all_of(names_.begin(), names_.end(), [&](const auto& name) { return lacking->second.count(name) != 0; })) {
    return std::nullopt;
  }
  if (!flags_.json) {
    print_out(fmt::format("No module call or provider matches {}.\n", fmt::join(names_, " or ")));
  }
  return RootOutcome{.exit_code = 0, .json = Json::Value(Json::objectValue)};
}

namespace {

// Returns the place and the message of something that roots share, as settings above them.
std::string shared_place(const Error& what, const std::string& root) {
  const std::string place = what.location ? to_string(*what.location) : "";
  return (fs::path(root) / place).lexically_normal().string() + what.message;
}

// Returns whether a warning or note was printed: by an earlier call of the engine for the root, or about a file that
// roots share.
bool is_repeated(const Diagnostic& diagnostic, const std::string& root) {
  return diagnostic.severity != Severity::error && NamedRoot::exists() &&
         !printed_for_roots().insert(shared_place(diagnostic.what, root)).second;
}

}  // namespace

void print_diagnostics(const Diagnostics& diagnostics, const std::string& root) {
  SourceExcerpts excerpts(root);
  for (const Diagnostic& diagnostic : diagnostics) {
    if (diagnostic.severity == Severity::info && diagnostic.what.code == Code::config_parse) {
      UnusedBlock& block = unused_blocks()[shared_place(diagnostic.what, root)];
      block.text = block.roots++ == 0 ? with_settings_paths(render(diagnostic.what, "Info", &excerpts)) : block.text;
      continue;
    }
    if (is_repeated(diagnostic, root)) {
      continue;
    }
    const std::string_view heading = diagnostic.severity == Severity::error     ? "Error"
                                     : diagnostic.severity == Severity::warning ? "Warning"
                                                                                : "Info";
    print_err(render(diagnostic.what, heading, &excerpts));
  }
}

void describe_worst(const Diagnostics& diagnostics, RootOutcome& outcome) {
  const auto worst = std::find_if(diagnostics.begin(), diagnostics.end(),
                                  [](const Diagnostic& diagnostic) { return diagnostic.severity == Severity::error; });
  if (worst != diagnostics.end()) {
    outcome.result = to_string(worst->what.code);
    outcome.hint = worst->what.hint;
  }
}

RootOutcome with_restored(RootOutcome outcome, const Diagnostics& diagnostics) {
  outcome.exit_code = verify_exit_code({}, diagnostics);
  describe_worst(diagnostics, outcome);
  return outcome;
}

int exit_code_of_diagnostics(const Diagnostics& diagnostics) {
  int worst = 0;
  for (const Diagnostic& diagnostic : diagnostics) {
    if (diagnostic.severity == Severity::error) {
      const bool conflict = diagnostic.what.code == Code::constraint_conflict;
      worst = worse_exit_code(worst, exit_code(conflict ? Code::constraint_conflict : Code::config_parse));
    }
  }
  return worst;
}

}  // namespace modlock::cli
