#include <fmt/format.h>

#include "plugin/cli/over_roots.h"
#include "plugin/verify/verify.h"

namespace modlock::cli {
namespace {

VerdictKind parse_kind(const std::string& text) {
  for (const VerdictKind kind : {VerdictKind::held, VerdictKind::update_available, VerdictKind::not_locked,
                                 VerdictKind::missing, VerdictKind::vanished, VerdictKind::moved}) {
    if (text == to_string(kind)) {
      return kind;
    }
  }
  return VerdictKind::tampered;
}

void print_tampered(const Json::Value& verdict) {
  const std::string subject = verdict["subject"].asString();
  std::string text = fmt::format(
      "Error: module checksum verification failed\n\n"
      "  {} has a checksum that does not match the lock file.\n"
      "  It may have been modified or tampered with: {}.\n",
      subject, verdict["detail"].asString());
  for (const Json::Value& path : verdict["paths"]) {
    text += fmt::format("    {}\n", path.asString());
  }
  text += fmt::format("\n  expected: {}\n", verdict["expected"].asString());
  if (verdict.isMember("actual")) {
    text += fmt::format("  got:      {}\n", verdict["actual"].asString());
  }
  text += "\n";
  text += fmt::format(
      "  To put the locked package back, run:\n    tofu-modlock install\n"
      "  To lock the newest version instead, run:\n    tofu-modlock upgrade --target {}\n",
      subject);
  print_err(text);
}

void print_verdict(const Json::Value& verdict) {
  const std::string kind = verdict["verdict"].asString();
  const std::string detail = verdict["detail"].asString();
  if (kind == "tampered") {
    print_out(fmt::format("{}  tampered\n", verdict["subject"].asString()));
    print_tampered(verdict);
    return;
  }
  if (kind == "held") {
    print_out(fmt::format("{}  verified: checksum matches the lock file{}\n", verdict["subject"].asString(),
                          detail.empty() ? "" : " (" + detail + ")"));
    return;
  }
  print_out(fmt::format("{}  {}: {}\n", verdict["subject"].asString(), kind, detail));
}

RootOutcome verify_root(const CommandLine& line, const Host& host, const std::string& root) {
  Json::Value params = host.root_params(root, line.common);
  params["strict"] = line.strict;
  params["full"] = line.full;
  Told told;
  auto result = host.call("lock/verify", params, &told);
  if (!result) {
    return failed(result.error(), line.common, root);
  }
  int worst = 0;
  std::size_t held = 0;
  for (const Json::Value& verdict : (*result)["verdicts"]) {
    const VerdictKind kind = parse_kind(verdict["verdict"].asString());
    worst = worse_exit_code(worst, exit_code(kind));
    held += kind == VerdictKind::held ? 1 : 0;
    if (!line.common.json) {
      print_verdict(verdict);
    }
  }
  if (!line.common.json) {
    print_diagnostics(told.diagnostics, root);
    print_out(fmt::format("{} of {} modules verified.\n", held, (*result)["verdicts"].size()));
    if (worst == exit_code(VerdictKind::missing)) {
      print_err("To do: run tofu-modlock lock where something is not locked, then tofu-modlock install.\n");
    }
  }
  return {.exit_code = worst, .json = std::move(*result)};
}

}  // namespace

int run_verify(const CommandLine& line, const Host& host) {
  return over_roots(line.common, [&](const std::string& root) { return verify_root(line, host, root); });
}

}  // namespace modlock::cli
