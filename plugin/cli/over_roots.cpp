#include "plugin/cli/over_roots.h"

#include <fmt/format.h>

#include <utility>

#include "backends/parallel.h"
#include "protocol/error_json.h"
#include "protocol/json_text.h"

namespace modlock::cli {

RootOutcome failed(const Error& error, const CommonFlags& flags, const std::string& root,
                   const Json::Value& error_data) {
  RootOutcome outcome{.exit_code = exit_code(error), .json = {}};
  if (flags.json) {
    outcome.json.tree()["error"] = to_json(error, error_data);
  } else {
    SourceExcerpts excerpts(root);
    print_err(render(error, "Error", &excerpts));
  }
  return outcome;
}

namespace {

// What is printed of several roots.
Json::Value results_of(std::vector<Answer>& answers) {
  Json::Value several;
  Json::Value& results = several["results"] = Json::arrayValue;
  for (Answer& answer : answers) {
    results.append(std::move(answer.tree()));
  }
  return several;
}

}  // namespace

int failed_everywhere(const Error& error, const CommonFlags& flags) {
  const RootOutcome outcome = failed(error, flags);
  if (flags.json) {
    print_raw(indent_json(outcome.json.text()));
  }
  return outcome.exit_code;
}

Asked ask(const Host& host, const std::string& method, const Json::Value& params) {
  Told told;
  auto result = host.ask(method, params, &told);
  return {std::move(result), std::move(told)};
}

int over_roots(const CommonFlags& flags, const Host& host,
               const std::function<RootOutcome(const std::string& root)>& work) {
  const auto roots = find_roots(flags, host);
  return roots ? over_roots(*roots, flags, work) : failed_everywhere(roots.error(), flags);
}

int over_roots(const CommonFlags& flags, const Host& host, const std::function<Asked(const std::string& root)>& ask,
               const std::function<RootOutcome(const std::string& root, Asked asked)>& tell) {
  const auto roots = find_roots(flags, host);
  if (!roots) {
    return failed_everywhere(roots.error(), flags);
  }
  std::vector<Asked> asked = ask_roots(*roots, flags, host, ask);
  auto next = asked.begin();
  return over_roots(*roots, flags, [&](const std::string& root) { return tell(root, std::move(*next++)); });
}

std::vector<Asked> ask_roots(const std::vector<std::string>& roots, const CommonFlags& flags, const Host& host,
                             const std::function<Asked(const std::string& root)>& ask) {
  std::vector<Asked> asked(roots.size(), Asked{.result = Answer()});
  host.count_roots(roots.size());
  parallel_for(roots.size(), flags.jobs, [&](std::size_t i) {
    asked[i] = ask(roots[i]);
    if (roots.size() > 1 && asked[i].result) {
      asked[i].result->tree();  // as several are printed
    }
    host.root_done(roots[i]);
  });
  return asked;
}

int over_roots(const std::vector<std::string>& roots, const CommonFlags& flags,
               const std::function<RootOutcome(const std::string& root)>& work) {
  int worst = 0;
  std::vector<Answer> answers;
  for (const std::string& root : roots) {
    if (roots.size() > 1 && !flags.json) {
      print_out(fmt::format("{}{}:\n", worst == 0 && root == roots.front() ? "" : "\n", root));
    }
    RootOutcome outcome = work(root);
    print_unlocked_root(root, outcome.exit_code, flags);
    worst = worse_exit_code(worst, outcome.exit_code);
    if (outcome.json.is_null()) {
      continue;
    }
    if (roots.size() > 1) {
      outcome.json.tree()["root"] = root;
    }
    answers.push_back(std::move(outcome.json));
  }
  if (flags.json && (roots.empty() || !answers.empty())) {
    // Kept: the process ends sooner than all of it would be freed.
    static auto& printed = *new Answer();
    printed = roots.size() == 1 ? std::move(answers[0]) : Answer(results_of(answers));
    print_raw(indent_json(printed.text()));
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
