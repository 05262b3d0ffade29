#include "plugin/cli/over_roots.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include "backends/base/parallel.h"
#include "backends/base/text.h"
#include "plugin/config/config_files.h"
#include "plugin/config/roots.h"
#include "plugin/engine/client_program.h"
#include "plugin/engine/open_root.h"
#include "plugin/report/change_text.h"
#include "plugin/resolve/subject.h"
#include "plugin/settings/settings.h"
#include "plugin/terragrunt/unit_check.h"
#include "plugin/workspace/block_placement.h"
#include "plugin/workspace/root_search.h"
#include "protocol/base/json.h"
#include "protocol/messages/error_json.h"

namespace modlock::cli {

namespace fs = std::filesystem;

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

RootOutcome failed(const Error& error, const CommonFlags& flags, RootOutput& output, const Json::Value& error_data) {
  RootOutcome outcome{
      .exit_code = exit_code(error), .json = {}, .result = std::string(to_string(error.code)), .hint = error.hint};
  if (error.code == Code::request_cancelled) {
    outcome.is_interrupted = true;
    outcome.state = error.reason == Reason::not_started ? error.message : flags.interrupted;
  }
  if (flags.json) {
    outcome.json["error"] = to_json(error, error_data);
  }
  if ((!flags.json || flags.sarif) && !outcome.is_interrupted) {
    output.add({{Severity::error, error}});
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
  if (!next.install.empty()) {
    add("tofu-modlock " + next.install + arguments);
  }
  if (!next.init.empty()) {
    add(next.init + (place.empty() ? "" : " -chdir=" + place) + " init" + (are_several ? " in each root module" : ""));
  }
  return text.empty() ? "" : text + ".\n";
}

// Returns what the first inline module blocks of a repository mean, and the command that moves them; otherwise empty.
std::string placement_text(const NextSteps& next, const CommonFlags& flags) {
  if (next.placed_inline.empty()) {
    return {};
  }
  const fs::path top = find_repository_root(next.placed_inline.front());
  Hint::Words lock = place_of(next.placed_inline, flags);
  lock.insert(lock.begin(), "lock");
  return may_have_inline_blocks(top, next.placed_inline)
             ? ""
             : fmt::format(
                   "The module locks are inline: for repositories in which everyone runs the wrapper, the hooks or "
                   "ci,\n"
                   "because a bare client drops the locks when it changes providers. If someone runs it, use the\n"
                   "sidecar, one more file to commit:\n  echo '{}' >> {} && {}\n",
                   kUseSidecar, shell_word(shown_path((top / kSettingsFileName).string())), command_text(lock));
}

std::string result_of(const RootOutcome& row) {
  return !row.result.empty() ? row.result : row.exit_code == 0 ? "ok" : "failed";
}

std::string state_of(const RootOutcome& row) {
  return !row.state.empty() ? row.state : row.result.empty() ? "ok" : row.result;
}

}  // namespace

void print_left_out(const Roots& roots, const CommonFlags& flags) {
  const std::string text = roots.left_out();
  flags.print.err(text.empty() ? "" : text + "\n");
}

int failed_everywhere(const Error& error, const CommonFlags& flags, const std::string& root,
                      const Json::Value& error_data) {
  RootOutput output(root);
  const RootOutcome outcome = failed(error, flags, output, error_data);
  if (flags.json && !flags.sarif) {
    flags.print.raw(write_json_pretty(outcome.json));
  } else if (outcome.is_interrupted) {
    flags.print.err("Interrupted.\n");
  }
  print_diagnostics({output}, flags);
  return outcome.exit_code;
}

std::vector<RootOutput> outputs_of(const std::vector<std::string>& roots) {
  return mapped(roots, [&](const std::string& root) { return RootOutput(root, roots.size() > 1); });
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

Error found_directory(const std::string& command, const std::string& path) {
  return {.code = Code::invalid_params,
          .message = fmt::format("expected a module call or a provider, found the directory \"{}\"", path),
          .hint = "run: " + (path == "." ? tofu_modlock(command) : tofu_modlock(command, "--chdir", path))};
}

std::optional<Error> find_missing_configuration(const std::string& root) {
  if (has_configuration(root)) {
    return std::nullopt;
  }
  const bool is_unit = terragrunt::is_unit(root);
  return Error{.code = Code::config_parse,
               .message = root + (is_unit ? " is a unit, which Terragrunt locks" : " has no configuration files"),
               .hint = is_unit
                           ? fmt::format("change the source in its files, then run in {}: terragrunt init -upgrade "
                                         "--source-update",
                                         shell_word(shown_path(root)))
                           : "name the directory of a root module with --chdir; most commands also have --recursive"};
}

std::optional<Error> find_missing_files(const std::string& root) {
  return has_lock(root) ? std::nullopt : find_missing_configuration(root);
}

void print_rows(const std::vector<RootOutcome>& rows, const CommonFlags& flags) {
  constexpr std::size_t kMostRows = 3;  // that are alike
  std::vector<std::vector<Cell>> cells = {{{"ROOT"}, {"RESULT"}, {"HINT"}}};
  for (const RootOutcome& row : rows) {
    std::vector<std::string> alike;
    for (const RootOutcome& other : rows) {
      if (other.exit_code == row.exit_code && other.result == row.result && other.hint == row.hint) {
        alike.push_back(other.root);
      }
    }
    const bool is_list = alike.size() > kMostRows;
    if (is_list && alike.front() != row.root) {
      continue;
    }
    const std::string hint = row.hint.empty()            ? ""
                             : alike.front() == row.root ? hint_text(row.hint, place_of(alike, flags))
                                                         : "as for " + shown_path(alike.front());
    cells.push_back({{is_list ? list_of(alike, rows.size()) : shown_path(row.root)},
                     {result_of(row), row.exit_code == 0 ? Color::green : Color::red},
                     {hint}});
  }
  flags.print.err("\n");
  flags.print.table_err(cells, Fit::wrap);
}

void print_table(const std::vector<RootOutcome>& rows, const CommonFlags& flags, const std::string& left_out,
                 std::size_t sources) {
  std::map<std::string, std::size_t> counts;
  std::size_t failures = 0;
  int worst = 0;
  for (const RootOutcome& row : rows) {
    ++counts[result_of(row)];
    failures += row.exit_code == 0 ? 0U : 1U;
    worst = worse_exit_code(worst, row.exit_code);
  }
  std::string text = counts.size() > 1 ? "" : "all " + (rows.empty() ? "ok" : counts.begin()->first);
  for (const auto& [result, count] : counts) {
    text += counts.size() == 1 ? "" : fmt::format("{}{} {}", text.empty() ? "" : ", ", count, result);
  }
  if (failures != 0) {
    print_rows(rows, flags);
    text = fmt::format("{} ok, {} failed (exit code {})", rows.size() - failures, failures, worst);
    sources = 0;  // some are not known
  }
  flags.print.err(fmt::format("{} root modules{}: {}.{}{}\n", rows.size(),
                              sources == 0 ? "" : ", " + counted(sources, "source"), text, left_out.empty() ? "" : " ",
                              left_out));
}

int run_for_roots(const Roots& roots, const CommonFlags& flags,
                  const std::function<RootOutcome(RootOutput& output)>& work) {
  int worst = 0;
  const bool are_several = roots.paths.size() > 1;
  auto outputs = outputs_of(roots.paths);
  Json::Value answers;
  std::vector<RootOutcome> rows;
  bool is_interrupted = false;
  NextSteps next;
  std::set<std::string> sources;
  for (RootOutput& output : outputs) {
    RootOutcome outcome = work(output);
    outcome.root = output.root();
    worst = worse_exit_code(worst, outcome.exit_code);
    is_interrupted = is_interrupted || outcome.is_interrupted;
    for (const std::string& source : outcome.sources) {
      sources.insert(source.substr(0, source.find('?')));  // without its tag
    }
    next.lock = next.lock || outcome.next.lock;
    next.install = std::max(next.install, outcome.next.install);
    next.init = next.init.empty() ? outcome.next.init : next.init;
    next.placed_inline.insert(next.placed_inline.end(), outcome.next.placed_inline.begin(),
                              outcome.next.placed_inline.end());
    const bool is_printed = !outcome.json.isNull() || (are_several && flags.json);
    if (is_printed && are_several && !flags.sarif) {
      outcome.json["root"] = outcome.root;
      outcome.json["exitCode"] = outcome.exit_code;
    }
    if (is_printed) {
      answers.append(std::move(outcome.json));
    }
    rows.push_back(std::move(outcome));
  }
  print_outputs(outputs, flags);
  for (const RootOutcome& row : rows) {
    print_unlocked_root(row.root, row.exit_code, flags, are_several);
  }
  if (is_interrupted && !flags.json) {
    const std::string state = state_of(rows.front());
    flags.print.err(are_several || state == "interrupted" ? "Interrupted.\n"
                                                          : fmt::format("Interrupted: {}.\n", state));
  }
  if (is_interrupted && are_several && !flags.json) {
    const auto cells = [](const RootOutcome& row) {
      return std::vector<Cell>{{shown_path(row.root)}, {state_of(row)}};
    };
    flags.print.table_err(mapped(rows, cells), Fit::wrap);
  } else if (!flags.json || flags.sarif) {
    are_several ? print_table(rows, flags, roots.left_out(), sources.size()) : print_left_out(roots, flags);
    flags.print.out(flags.sarif ? "" : placement_text(next, flags) + next_text(next, roots.paths, flags));
  }
  if (flags.sarif) {
    flags.print.raw(write_json_pretty(sarif_log(std::move(answers), roots.left_out())));
  } else if (flags.json && (roots.paths.empty() || !answers.empty())) {
    Json::Value several;
    several["results"] = answers.isNull() ? Json::Value(Json::arrayValue) : answers;
    Json::Value& printed = roots.paths.size() == 1 ? answers[0] : several;
    if (!roots.called.empty()) {
      printed["notRoots"] = messages::encode(roots.called);
    }
    flags.print.raw(write_json_pretty(printed));
  }
  return worst;
}

bool NamedSubjects::drop(const Error& error, const std::string& root, std::vector<std::string>& wanted) {
  if (!flags_.recursive || error.reason != Reason::unknown_subject) {
    return false;
  }
  // The subject may have a kind and a host that the name lacks.
  const auto name = std::ranges::find_if(wanted, [&](const std::string& each) {
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

std::optional<RootOutcome> NamedSubjects::skipped(RootOutput& output) const {
  const auto* const lacking = find_in(lacking_, output.root());
  if (lacking == nullptr) {
    return std::nullopt;
  }
  for (const auto& [name, error] : *lacking) {
    if (!found_.contains(name)) {
      return failed(error, flags_, output);
    }
  }
  if (!std::ranges::all_of(names_, [&](const auto& name) { return lacking->contains(name); })) {
    return std::nullopt;
  }
  if (!flags_.json) {
    output.out(fmt::format("No module call or provider matches {}.\n", fmt::join(names_, " or ")));
  }
  return RootOutcome{.exit_code = 0, .json = Json::Value(Json::objectValue)};
}

void describe_worst(const Diagnostics& diagnostics, RootOutcome& outcome) {
  if (const auto* const worst = find_by(diagnostics, Severity::error, &Diagnostic::severity)) {
    outcome.result = to_string(worst->what.code);
    outcome.hint = worst->what.hint;
  }
}

RootOutcome with_restored(RootOutcome outcome, const Diagnostics& diagnostics) {
  outcome.exit_code = exit_code({}, diagnostics);
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
