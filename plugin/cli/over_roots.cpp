#include "plugin/cli/over_roots.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "backends/base/parallel.h"
#include "plugin/config/config_files.h"
#include "protocol/base/json.h"
#include "protocol/messages/error_json.h"

namespace modlock::cli {

namespace fs = std::filesystem;

RootOutcome failed(const Error& error, const CommonFlags& flags, const std::string& root,
                   const Json::Value& error_data) {
  RootOutcome outcome{
      .exit_code = exit_code(error), .json = {}, .result = std::string(to_string(error.code)), .to_do = error.hint};
  if (flags.json) {
    outcome.json["error"] = to_json(error, error_data);
  } else {
    SourceExcerpts excerpts(root);
    print_err(render(error, "Error", &excerpts));
  }
  return outcome;
}

namespace {

// Returns the JSON for several roots.
Json::Value results_of(std::vector<Json::Value>& answers) {
  Json::Value several;
  Json::Value& results = several["results"] = Json::arrayValue;
  for (Json::Value& answer : answers) {
    results.append(std::move(answer));
  }
  return several;
}

}  // namespace

int failed_everywhere(const Error& error, const CommonFlags& flags) {
  const RootOutcome outcome = failed(error, flags);
  if (flags.json) {
    print_raw(write_json_pretty(outcome.json));
  }
  return outcome.exit_code;
}

int run_for_roots(const CommonFlags& flags, const Host& host,
                  const std::function<RootOutcome(const std::string& root)>& work) {
  const auto roots = find_roots(flags, host);
  if (!roots) {
    return failed_everywhere(roots.error(), flags);
  }
  return run_for_roots(*roots, flags, [&](const std::string& root) {
    const auto missing = flags.only_locks ? std::nullopt : find_missing_configuration(root);
    return missing ? failed(*missing, flags, root) : work(root);
  });
}

void ask_each(const std::vector<std::string>& roots, const CommonFlags& flags, const Host& host,
              const std::function<void(std::size_t i, std::optional<Error> missing)>& ask) {
  host.count_roots(roots.size());
  parallel_for(roots.size(), flags.jobs, [&](std::size_t i) {
    ask(i, find_missing_configuration(roots[i]));
    host.root_done(roots[i]);
  });
}

std::optional<Error> find_missing_configuration(const std::string& root) {
  std::error_code error;
  for (fs::directory_iterator entry(root, error); !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const bool is_directory = entry->symlink_status(error).type() == fs::file_type::directory;
    if (config_kind(entry->path().filename().string()) == ConfigKind::module && !is_directory) {
      return std::nullopt;
    }
  }
  if (error) {
    return std::nullopt;  // reading it reports why
  }
  return Error{.code = Code::config_parse,
               .message = fmt::format("{} has no configuration files", root),
               .hint = "name the directory of a root module, or use --recursive to search for root modules"};
}

void print_table(const std::vector<RootRow>& rows) {
  const auto failures = std::count_if(rows.begin(), rows.end(), [](const RootRow& row) { return row.exit_code != 0; });
  if (failures == 0) {
    print_err(fmt::format("{} root modules: all ok.\n", rows.size()));
    return;
  }
  const auto result_of = [](const RootRow& row) {
    return !row.result.empty() ? row.result : std::string(row.exit_code == 0 ? "ok" : "failed");
  };
  std::size_t root_width = std::string_view("ROOT").size();
  std::size_t result_width = std::string_view("RESULT").size();
  int worst = 0;
  for (const RootRow& row : rows) {
    root_width = std::max(root_width, shown_path(row.root).size());
    result_width = std::max(result_width, result_of(row).size());
    worst = worse_exit_code(worst, row.exit_code);
  }
  std::string text = fmt::format("\n{:<{}}  {:<{}}  TO DO\n", "ROOT", root_width, "RESULT", result_width);
  for (const RootRow& row : rows) {
    text += row.to_do.empty() ? fmt::format("{:<{}}  {}\n", shown_path(row.root), root_width, result_of(row))
                              : fmt::format("{:<{}}  {:<{}}  {}\n", shown_path(row.root), root_width, result_of(row),
                                            result_width, row.to_do);
  }
  print_err(text + fmt::format("{} root modules: {} ok, {} failed (exit code {}).\n", rows.size(),
                               rows.size() - static_cast<std::size_t>(failures), failures, worst));
}

int run_for_roots(const std::vector<std::string>& roots, const CommonFlags& flags,
                  const std::function<RootOutcome(const std::string& root)>& work) {
  int worst = 0;
  const bool are_several = roots.size() > 1;
  std::vector<Json::Value> answers;
  std::vector<RootRow> rows;
  for (const std::string& root : roots) {
    const NamedRoot named(are_several ? root : "");
    if (are_several && !flags.json) {
      print_out(fmt::format("{}{}:\n", rows.empty() ? "" : "\n", shown_path(root)));
    }
    RootOutcome outcome = work(root);
    print_unlocked_root(root, outcome.exit_code, flags);
    worst = worse_exit_code(worst, outcome.exit_code);
    rows.push_back({root, outcome.exit_code, std::move(outcome.result), std::move(outcome.to_do)});
    if (outcome.json.isNull() && !(are_several && flags.json)) {
      continue;
    }
    if (are_several) {
      outcome.json["root"] = root;
      outcome.json["exitCode"] = outcome.exit_code;
    }
    answers.push_back(std::move(outcome.json));
  }
  if (are_several && !flags.json) {
    print_table(rows);
  }
  if (flags.json && (roots.empty() || !answers.empty())) {
    print_raw(write_json_pretty(roots.size() == 1 ? answers[0] : results_of(answers)));
  }
  return worst;
}

void print_diagnostics(const Diagnostics& diagnostics, const std::string& root) {
  SourceExcerpts excerpts(root);
  for (const Diagnostic& diagnostic : diagnostics) {
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
    outcome.to_do = worst->what.hint;
  }
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
