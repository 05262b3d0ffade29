#include <fmt/format.h>

#include <algorithm>

#include "plugin/cli/over_roots.h"
#include "plugin/cli/sarif.h"
#include "plugin/config/roots.h"
#include "plugin/verify/verdict.h"
#include "protocol/json.h"

namespace modlock::cli {
namespace {

VerdictKind kind_of(const Json::Value& verdict) {
  return parse_verdict_kind(verdict["verdict"].asString()).value_or(VerdictKind::tampered);
}

std::string both_sides(const Json::Value& verdict) {
  std::string text = fmt::format("\n  expected: {}\n", verdict["expected"].asString());
  if (verdict.isMember("actual")) {
    text += fmt::format("  got:      {}\n", verdict["actual"].asString());
  }
  return text + "\n";
}

// What the manifest says of a call, instead of what the module is.
bool is_misled(const Json::Value& verdict) {
  const std::string expected = verdict["expected"].asString();
  return verdict["subject"].asString().starts_with("module.") && !expected.empty() && !expected.starts_with("h1:");
}

void print_misled(const Json::Value& verdict) {
  print_err(
      fmt::format("{}: a client would read another directory than the locked module\n\n"
                  "  {}: {}.\n"
                  "  The file may have been tampered with.\n"
                  "{}"
                  "  To write modules.json anew, run:\n    tofu-modlock install\n",
                  heading("Error"), verdict["subject"].asString(), verdict["detail"].asString(), both_sides(verdict)));
}

void print_tampered(const Json::Value& verdict) {
  const std::string subject = verdict["subject"].asString();
  std::string text = fmt::format(
      "{}: module checksum verification failed\n\n"
      "  {} has a checksum that does not match the lock file.\n"
      "  It may have been modified or tampered with: {}.\n",
      heading("Error"), subject, verdict["detail"].asString());
  for (const Json::Value& path : verdict["paths"]) {
    text += fmt::format("    {}\n", path.asString());
  }
  if (verdict.isMember("morePaths")) {
    text += fmt::format("    and {} more\n", verdict["morePaths"].asUInt64());
  }
  text += both_sides(verdict);
  text += verdict["detail"].asString().find(kContradiction) == std::string::npos
              ? "  To put the locked package back, run:\n    tofu-modlock install\n"
              : "  The lock file is wrong: restore this entry from version control.\n";
  text += fmt::format("  To lock the newest version instead, run:\n    tofu-modlock upgrade --target {}\n", subject);
  print_err(text);
}

void print_moved(const Json::Value& verdict) {
  const std::string subject = verdict["subject"].asString();
  std::string text = fmt::format(
      "{}: a locked module was replaced at its source\n\n"
      "  {}: {}.\n"
      "  A release should never change; it may have been tampered with.\n",
      heading("Error"), subject, verdict["detail"].asString());
  text += both_sides(verdict);
  text += fmt::format(
      "  What is locked stays locked. To lock what is there now, once it has been reviewed, run:\n"
      "    tofu-modlock upgrade --target {}\n",
      subject);
  print_err(text);
}

void print_stale(const Json::Value& verdict) {
  print_err(fmt::format("{}{}: {}. Run tofu-modlock install.\n", root_prefix(), verdict["subject"].asString(),
                        verdict["detail"].asString()));
}

// "1.2.0  registry.opentofu.org/acme/vpc/aws  ", "commit 8f2c01ab34cd  git::https://git.example.com/vpc.git  ".
std::string locked_words(const Json::Value& verdict) {
  std::string text = verdict["version"].asString();
  const std::string origin = verdict["origin"].asString();
  if (text.empty() && !origin.empty()) {
    const std::string kind = origin.starts_with("git:")   ? "commit"
                             : origin.starts_with("oci:") ? "manifest"
                                                          : "archive";
    text = fmt::format("{} {}", kind, origin.substr(origin.rfind(':') + 1, 12));
  }
  const std::string source = verdict["source"].asString();
  return (text.empty() ? "" : text + "  ") + (source.empty() ? "" : source + "  ");
}

void print_verdict(const Json::Value& verdict, std::size_t width) {
  const VerdictKind kind = kind_of(verdict);
  const std::string detail = verdict["detail"].asString();
  std::string said = fmt::format("{}: {}", to_string(kind), detail);
  if (kind == VerdictKind::tampered) {
    said = "tampered";
  } else if (kind == VerdictKind::held) {
    said = locked_words(verdict) + (detail.empty()
                                        ? "verified: checksum matches the lock file"
                                        : fmt::format("verified: what a client loads is what is locked ({})", detail));
  }
  print_out(fmt::format("{:<{}}  {}\n", verdict["subject"].asString(), width, said));
  if (kind == VerdictKind::tampered) {
    is_misled(verdict) ? print_misled(verdict) : print_tampered(verdict);
  } else if (kind == VerdictKind::moved) {
    print_moved(verdict);
  } else if (kind == VerdictKind::stale) {
    print_stale(verdict);
  }
}

void print_verdicts(const Json::Value& verdicts) {
  std::size_t width = 0;
  std::size_t fine = 0;
  bool is_incomplete = false;
  for (const Json::Value& verdict : verdicts) {
    width = std::max(width, verdict["subject"].asString().size());
  }
  for (const Json::Value& verdict : verdicts) {
    print_verdict(verdict, width);
    const int code = exit_code(kind_of(verdict));
    fine += code == 0 ? 1 : 0;
    is_incomplete =
        is_incomplete || (code == exit_code(VerdictKind::missing) && kind_of(verdict) != VerdictKind::stale);
  }
  print_out(fmt::format("{} of {} modules verified.\n", fine, verdicts.size()));
  if (is_incomplete) {
    print_err(root_prefix() +
              "To do: run tofu-modlock lock where something is not locked, then tofu-modlock install.\n");
  }
}

int exit_code_of(const Json::Value& verdicts, const Diagnostics& diagnostics) {
  int worst = 0;
  for (const Json::Value& verdict : verdicts) {
    worst = worse_exit_code(worst, exit_code(kind_of(verdict)));
  }
  for (const Diagnostic& diagnostic : diagnostics) {
    worst = worse_exit_code(worst, diagnostic.severity == Severity::error ? exit_code(diagnostic.what) : 0);
  }
  return worst;
}

const char* to_do_for(VerdictKind kind) {
  switch (kind) {
    case VerdictKind::held:
    case VerdictKind::update_available:
      break;
    case VerdictKind::not_locked:
      return "run tofu-modlock lock, then tofu-modlock install";
    case VerdictKind::missing:
    case VerdictKind::stale:
      return "run tofu-modlock install";
    case VerdictKind::vanished:
      return "find out why the source no longer has what is locked";
    case VerdictKind::moved:
      return "review what the source gives now; tofu-modlock upgrade --target locks it";
    case VerdictKind::tampered:
      return "find out who changed it; tofu-modlock install puts the locked package back";
  }
  return "";
}

Asked ask_verdicts(const CommandLine& line, const Host& host, const std::string& root) {
  Json::Value params = host.root_params(root, line.common);
  params["online"] = line.online;
  params["strict"] = line.strict;
  params["full"] = line.full;
  return ask(host, "lock/verify", params);
}

RootOutcome verify_root(const CommonFlags& flags, const std::string& root, Asked asked) {
  auto& [result, told] = asked;
  if (!result) {
    return failed(result.error(), flags, root, told.error_data);
  }
  if (!flags.json) {
    print_verdicts(result->tree()["verdicts"]);
    print_diagnostics(told.diagnostics, root);
  }
  RootOutcome outcome{.exit_code = exit_code_of(result->tree()["verdicts"], told.diagnostics), .json = {}};
  VerdictKind worst = VerdictKind::held;
  for (const Json::Value& verdict : result->tree()["verdicts"]) {
    worst = std::max(worst, kind_of(verdict));
  }
  outcome.json = std::move(*result);
  if (outcome.exit_code != 0 && outcome.exit_code == exit_code(worst)) {
    outcome.result = to_string(worst);
    outcome.to_do = to_do_for(worst);
  } else {
    describe_worst(told.diagnostics, outcome);
  }
  return outcome;
}

int print_sarif(const CommandLine& line, const Host& host) {
  CommonFlags flags = line.common;
  flags.json = true;
  const auto roots = find_roots(flags, host);
  if (!roots) {
    return failed(roots.error(), line.common).exit_code;
  }
  int worst = 0;
  Json::Value runs(Json::arrayValue);
  std::vector<RootRow> rows;
  std::vector<Asked> asked =
      ask_roots(*roots, flags, host, [&](const std::string& root) { return ask_verdicts(line, host, root); });
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const std::string& root = (*roots)[i];
    RootOutcome outcome = verify_root(flags, root, std::move(asked[i]));
    runs.append(sarif_run(outcome.json.tree(), root, find_repository_root(root).string(), outcome.exit_code));
    print_unlocked_root(root, outcome.exit_code, flags);
    worst = worse_exit_code(worst, outcome.exit_code);
    rows.push_back({root, outcome.exit_code, std::move(outcome.result), std::move(outcome.to_do)});
  }
  if (rows.size() > 1) {
    print_table(rows);
  }
  print_raw(write_json_pretty(sarif_log(std::move(runs))));
  return worst;
}

}  // namespace

int run_verify(const CommandLine& line, const Host& host) {
  if (line.sarif) {
    return print_sarif(line, host);
  }
  return over_roots(
      line.common, host, [&](const std::string& root) { return ask_verdicts(line, host, root); },
      [&](const std::string& root, Asked asked) { return verify_root(line.common, root, std::move(asked)); });
}

}  // namespace modlock::cli
