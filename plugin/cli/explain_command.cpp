#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "backends/base/text.h"
#include "plugin/cli/over_roots.h"
#include "plugin/client/client_configuration.h"
#include "plugin/client/credential_report.h"
#include "plugin/engine/client_program.h"
#include "plugin/lock/locked_text.h"
#include "plugin/settings/release_pattern.h"
#include "protocol/base/json.h"

namespace modlock::cli {
namespace {

constexpr std::size_t kListedVersions = 6;  // versions in one line

// Versions that are rejected for the same reason share a line.
std::string rejected_lines(const std::vector<messages::Rejection>& rejected) {
  std::vector<std::pair<std::string, std::vector<std::string>>> by_reason;
  for (const messages::Rejection& one : rejected) {
    auto at = std::ranges::find_if(by_reason, [&](const auto& entry) { return entry.first == one.why; });
    if (at == by_reason.end()) {
      at = by_reason.insert(at, {one.why, {}});
    }
    at->second.push_back(one.version);
  }
  std::string text;
  for (const auto& [why, versions] : by_reason) {
    text += fmt::format("    rejects {}: {}\n", some_of(versions, kListedVersions), why);
  }
  return text;
}

std::string step_text(const messages::ExplainedStep& step) {
  std::string text = "\n  " + step.constraint;
  if (!step.subject.empty()) {
    text += "  " + step.subject;
  }
  if (step.location) {
    text += "  at " + to_string(*step.location);
  }
  return text + "\n    keeps " + (step.kept.empty() ? "nothing" : some_of(step.kept, kListedVersions)) + "\n" +
         rejected_lines(step.rejected);
}

std::string explanation_text(const messages::LockExplainResult& result) {
  const messages::Selected& selected = result.selected;
  const std::string version = locked_text(
      {.key = result.subject, .version = selected.version, .source = result.source, .hashes = selected.hashes});
  std::string text = result.subject + (version.empty() ? "" : "  " + version) + "\n";
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) {
      text += fmt::format("  {:<12}{}\n", name, value);
    }
  };
  add("source", result.source);
  add("answered by", selected.answered_by);
  add("found as", selected.ref);
  add("commit", selected.commit);
  add("digest", selected.digest);
  add("first seen", selected.first_seen);
  add("claimed", selected.claimed);
  for (const std::string& signer : selected.signers) {
    add("signed by", signer);
  }
  add("because", selected.reason);
  for (const messages::ExplainedStep& step : result.chain) {
    text += step_text(step);
  }
  return text;
}

void print_report(const CredentialReport& report, const Printer& print) {
  print.out(fmt::format("{}{}{}\n", report.host, report.repository.empty() ? "" : "/", report.repository));
  for (const CredentialSearch& search : report.uses) {
    const std::string used = search.use == "git" ? "git reads ~/.netrc and queries its own credential helpers"
                             : search.used       ? "uses " + *search.used
                                                 : "no credential";
    print.out(fmt::format("\n{}: {}\n", search.use, used));
    int number = 0;
    for (const CredentialLocation& place : search.places) {
      print.out(fmt::format("  {}. {}: {}\n", ++number, place.place, place.outcome));
    }
  }
}

// explain --credentials: for the client from the options, the environment or PATH.
Result<int> explain_credentials_of(const CommandLine& line, const Host& host) {
  const CommonFlags& flags = line.common;
  const ProcessEnvironment environment = current_environment();
  const ClientConfiguration configuration = read_client_configuration(
      find_client(host.engine().options()).tool, environment, host.engine().user_settings().credential_programs);
  Context context = host.context();
  const std::string root = std::filesystem::absolute(flags.directories.empty() ? "." : flags.directories.front());
  const auto data = host.engine().data_directory(host.root_params(root, flags));
  context.clone_directory = data ? *data / "modules/m" : "";
  MODLOCK_TRY(const auto report, explain_credentials(line.credentials, {}, configuration, environment, context));
  if (flags.json) {
    flags.print.raw(write_json_pretty(messages::encode(report)));
    return 0;
  }
  for (const Diagnostic& warning : configuration.warnings) {
    flags.print.err(render(warning.what, "Warning"));
  }
  print_report(report, flags.print);
  return 0;
}

using Answers = std::vector<RootAnswer<messages::LockFindResult>>;

// Returns the JSON of a root.
RootOutcome json_of(const RootAnswer<messages::LockFindResult>& answer, const CommonFlags& flags, RootOutput& output) {
  return answer.result ? RootOutcome{.exit_code = 0, .json = messages::encode(*answer.result)}
                       : failed(answer.result.error(), flags, output, answer.details.error_data);
}

void add_rows(const messages::LockFindResult& result, const std::string& root, std::vector<std::vector<Cell>>& rows) {
  for (const messages::FoundRelease& found : result.found) {
    const auto source = parse_identity(found.source);
    rows.push_back({{shown_path(root)},
                    {found.subject},
                    {locked_text(found.version, source ? source->named_reference() : std::string(), found.origin)},
                    {found.source}});
  }
}

// Prints one table for all roots. Returns the worst exit code of roots that cannot be read.
int print_found(const CommandLine& line, const std::vector<std::string>& roots, const Answers& answers) {
  const Printer& print = line.common.print;
  std::vector<std::vector<Cell>> rows = {{{"ROOT"}, {"SUBJECT"}, {"LOCKED"}, {"SOURCE"}}};
  std::vector<std::string> without_lock;
  std::size_t finding = 0;
  std::size_t unread = 0;
  int worst = 0;
  auto outputs = outputs_of(roots);
  for (std::size_t i = 0; i < roots.size(); ++i) {
    const auto& result = answers[i].result;
    if (!result) {
      worst = worse_exit_code(worst, failed(result.error(), line.common, outputs[i]).exit_code);
      ++unread;
      continue;
    }
    finding += result->found.empty() ? 0U : 1U;
    if (!result->is_locked) {
      without_lock.push_back(shown_path(roots[i]));
    }
    add_rows(*result, roots[i], rows);
  }
  print_diagnostics(outputs, line.common);
  if (rows.size() > 1) {
    print.raw(table_text(rows, Fit::cut_middle, table_style()));
  }
  const std::size_t read = roots.size() - unread - without_lock.size();
  if (finding == 0 && unread == 0) {
    print.out(fmt::format("No root module locks {} ({} searched).\n", line.find, counted(read, "lock file")));
  } else if (finding != 0) {
    print.out(fmt::format("{} of {} lock{} {}.\n", finding, counted(roots.size(), "root module"),
                          finding == 1 ? "s" : "", line.find));
  }
  if (!without_lock.empty()) {
    print.err(fmt::format("No lock file, so nothing was searched: {}\n", fmt::join(without_lock, ", ")));
  }
  if (unread != 0) {
    print.err(fmt::format("{} of {} root modules could not be read, so they may lock it too.\n", unread, roots.size()));
  }
  return worst;
}

Result<int> find_release(const CommandLine& line, const Host& host) {
  CommonFlags flags = line.common;
  flags.only_locks = true;
  MODLOCK_TRY(ReleasePattern::parse(line.find));
  MODLOCK_TRY(const auto roots, find_roots(flags, host));
  const Answers answers = call_for_roots(roots.paths, flags, host, [&](const std::string& root) {
    return host.call(&Engine::find,
                     messages::LockFindParams{.root = host.root_params(root, flags), .lock = {}, .release = line.find});
  });
  if (!flags.json) {
    return print_found(line, roots.paths, answers);
  }
  auto next = answers.begin();
  return run_for_roots(roots, flags, [&](RootOutput& output) { return json_of(*next++, flags, output); });
}

}  // namespace

Result<int> run_explain(const CommandLine& line, const Host& host) {
  if (!line.find.empty() || !line.credentials.empty()) {
    return line.find.empty() ? explain_credentials_of(line, host) : find_release(line, host);
  }
  if (line.subject.empty()) {
    return fail(Code::invalid_params, "the subject is missing: a module call or a provider",
                "name one that `" + tofu_modlock("tree") + "` lists");
  }
  const auto ask = [&](const std::string& root) {
    return host.call(
        &Engine::explain,
        messages::LockExplainParams{.root = host.root_params(root, line.common), .lock = {}, .subject = line.subject});
  };
  return run_for_roots(line.common, host, ask, [&](RootOutput& output, const auto& asked) {
    if (!line.common.json) {
      output.add(asked.details.diagnostics);
      output.out(explanation_text(*asked.result));
    }
    return RootOutcome{.exit_code = 0, .json = messages::encode(*asked.result)};
  });
}

}  // namespace modlock::cli
