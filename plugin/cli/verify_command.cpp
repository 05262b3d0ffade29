#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>

#include "backends/base/text.h"
#include "plugin/cli/over_roots.h"
#include "plugin/install/verdict.h"
#include "plugin/lock/locked_text.h"
#include "plugin/resolve/module_node.h"

namespace modlock::cli {
namespace {

// Returns whether the manifest entry of a call is wrong, rather than the module.
bool is_misled(const messages::Verdict& verdict) {
  const std::string expected = verdict.expected;
  return verdict.subject.starts_with("module.") && !expected.empty() && !expected.starts_with("h1:");
}

// Adds what differs from the lock file: the module, its entry in the manifest, or its source.
void print_altered(const messages::Verdict& verdict, RootOutput& output) {
  const std::string& subject = verdict.subject;
  const bool is_entry = verdict.kind == VerdictKind::tampered && is_misled(verdict);
  const bool is_source = verdict.kind == VerdictKind::moved;
  Hint text = fmt::format("{}: {}\n\n  {}", output.heading("Error"),
                          is_entry    ? "a client would read a directory other than the locked module"
                          : is_source ? "a locked module was replaced at its source"
                                      : "module checksum verification failed",
                          subject);
  text += is_entry ? fmt::format(": {}.\n  The file may have been tampered with.\n", verdict.detail)
          : is_source
              ? fmt::format(": {}.\n  A release should never change; it may have been tampered with.\n", verdict.detail)
              : fmt::format(
                    " has a checksum that does not match the lock file.\n"
                    "  It may have been modified or tampered with: {}.\n",
                    verdict.detail);
  for (const std::string& path : is_entry || is_source ? std::vector<std::string>() : verdict.paths) {
    text += fmt::format("    {}\n", path);
  }
  text += is_entry || is_source || verdict.more_paths == 0 ? "" : fmt::format("    and {} more\n", verdict.more_paths);
  text += fmt::format("\n  expected: {}\n", verdict.expected);
  text += verdict.actual.empty() ? "\n" : fmt::format("  got:      {}\n\n", verdict.actual);
  text += is_entry    ? "  To recreate modules.json, run:\n    " + tofu_modlock("install")
          : is_source ? "  The locked version is kept. To lock the current content after a review, run:\n    " +
                            tofu_modlock("upgrade", "--target", subject)
          : verdict.is_lock_wrong ? "  The lock file is wrong: restore this entry from version control.\n"
                                    "  To lock what the source has instead, after a review, run:\n    " +
                                        tofu_modlock("upgrade", "--target", subject)
                                  : "  To restore the locked package, run:\n    " + tofu_modlock("install");
  output.err(output.hint(text + "\n"));
}

// Returns the detail, or if it is long the reason in few words. print_detail() prints it then.
std::string short_reason(const messages::Verdict& verdict) {
  constexpr std::size_t kLong = 60;
  const std::string detail = verdict.detail;
  if (detail.size() <= kLong || exit_code(verdict.kind) == 0) {
    return detail;
  }
  return std::string(traits(verdict.kind).reason);
}

bool has_detail(const messages::Verdict& verdict) {
  return verdict.kind == VerdictKind::tampered || verdict.kind == VerdictKind::moved ||
         verdict.kind == VerdictKind::denied || short_reason(verdict) != verdict.detail;
}

// Returns whether `install` needs a hash that the entry lacks.
bool needs_lock(const messages::Verdict& verdict) {
  return traits(verdict.kind).needs_install &&
         (verdict.kind == VerdictKind::not_locked || verdict.other == VerdictKind::not_locked);
}

Hint hint_for(const messages::Verdict& verdict) {
  return verdict.kind == VerdictKind::denied ? "run " + reselect_command(verdict.source, verdict.subject)
         : verdict.is_unlockable             ? "see the warning"
         : !verdict.replaced_by.empty()      ? "remove the replacement, then run " + tofu_modlock("install")
         : needs_lock(verdict)               ? traits(VerdictKind::not_locked).hint
                                             : traits(verdict.kind).hint;
}

void print_detail(const messages::Verdict& verdict, RootOutput& output) {
  output.err("\n");
  if (verdict.kind == VerdictKind::tampered || verdict.kind == VerdictKind::moved) {
    print_altered(verdict, output);
  } else {
    output.err(fmt::format("{}: {}\n", verdict.subject, verdict.detail));
    output.err(verdict.kind == VerdictKind::denied ? output.hint("  " + hint_for(verdict) + "\n") : "");
  }
}

// `unit`: the directory of a unit of Terragrunt; empty: a root module.
void print_verdicts(const messages::LockVerifyResult& result, const std::string& unit, const CommonFlags& flags,
                    RootOutput& output) {
  const std::vector<messages::Verdict>& verdicts = result.verdicts;
  std::vector<std::vector<Cell>> rows;
  for (const messages::Verdict& verdict : verdicts) {
    rows.push_back({{std::string(verdict_text(verdict.kind)), verdict_color(verdict.kind)},
                    {verdict.subject},
                    {locked_version(verdict)},
                    {flags.verbose ? verdict.source : ""},
                    {short_reason(verdict)}});
  }
  output.table(rows, Fit::wrap);
  bool has_details = false;
  for (const messages::Verdict& verdict : verdicts) {
    if (unit.empty() && has_detail(verdict)) {
      print_detail(verdict, output);
      has_details = true;
    }
  }
  if (!unit.empty()) {
    print_wrong(verdicts, unit, flags.print);
  }
  output.out((has_details ? "\n" : "") + verdict_sum(verdicts) + checked_for_text(result.checked_for) + "\n");
}

// A client installs providers, and tofu-modlock modules.
NextSteps next_steps(const std::vector<messages::Verdict>& verdicts, const std::string& client) {
  NextSteps next;
  for (const messages::Verdict& verdict : verdicts) {
    const bool is_module = verdict.subject.starts_with("module.");
    // After a replacement, `install` copies the directory again, unless only the flag named it.
    const bool is_replaced = std::ranges::any_of(verdicts, [&](const messages::Verdict& other) {
      return !other.replaced_by.empty() && is_below(verdict.subject, other.subject);
    });
    if (verdict.is_unlockable || is_replaced) {
      continue;
    }
    if (traits(verdict.kind).needs_install) {
      next.lock = next.lock || needs_lock(verdict);
      next.install = is_module ? "install" : next.install;
      next.init = is_module ? next.init : client;
    }
  }
  return next;
}

using AskedVerdicts = RootAnswer<messages::LockVerifyResult>;

AskedVerdicts ask_verdicts(const CommandLine& line, const Host& host, const std::string& root) {
  messages::LockVerifyParams params = line.verify;
  params.root = host.root_params(root, line.common);
  params.include = line.common.include;
  return host.verify(params);
}

}  // namespace

RootOutcome verify_root(const CommonFlags& flags, const Host& host, RootOutput& output, const AskedVerdicts& asked) {
  const auto& [result, details] = asked;
  if (!result) {
    return failed(result.error(), flags, output, details.error_data);
  }
  const std::string& root = output.root();
  if (!flags.json) {
    print_verdicts(*result, result->is_of_terragrunt ? root : "", flags, output);
    output.add(details.diagnostics);
  }
  RootOutcome outcome{.exit_code = exit_code(result->verdicts, details.diagnostics),
                      .json = messages::encode(*result),
                      .next = next_steps(result->verdicts, client_name(host, root))};
  describe_verdicts(result->verdicts, details.diagnostics, outcome);
  for (const messages::Verdict& verdict : result->verdicts) {
    outcome.sources.insert(verdict.source);
  }
  outcome.sources.erase("");  // of a provider
  if (result->is_of_terragrunt) {
    outcome.next = {};
    outcome.hint = outcome.exit_code == 0 ? "" : "run: terragrunt init";
  }
  return outcome;
}

std::string locked_version(const messages::Verdict& verdict) {
  return locked_text(
      {.key = verdict.subject, .version = verdict.version, .source = verdict.source, .hashes = {verdict.origin}});
}

void describe_verdicts(const std::vector<messages::Verdict>& verdicts, const Diagnostics& diagnostics,
                       RootOutcome& outcome) {
  const auto worst =
      std::ranges::max_element(verdicts, [](const auto& left, const auto& right) { return left.kind < right.kind; });
  if (outcome.exit_code != 0 && worst != verdicts.end() && outcome.exit_code == exit_code(worst->kind)) {
    outcome.result = to_string(worst->kind);
    outcome.hint = hint_for(*worst);
  } else {
    describe_worst(diagnostics, outcome);
  }
}

Color verdict_color(VerdictKind kind) {
  const int code = exit_code(kind);
  return code == 0 ? Color::green : code == exit_code(VerdictKind::missing) ? Color::yellow : Color::red;
}

std::string_view verdict_text(VerdictKind kind) {
  return kind == VerdictKind::held ? "verified" : to_string(kind);
}

std::string verdict_sum(const std::vector<messages::Verdict>& verdicts) {
  std::map<VerdictKind, std::size_t, std::greater<>> counts;  // the worst first
  for (const messages::Verdict& verdict : verdicts) {
    ++counts[verdict.kind];
  }
  const std::size_t newer = counts[VerdictKind::update_available];
  std::string text = fmt::format("{} verified", counts[VerdictKind::held] + newer);
  if (newer != 0) {
    text += fmt::format(" ({} available)", counted(newer, "update"));
  }
  for (const auto& [kind, count] : counts) {
    if (exit_code(kind) != 0) {
      text += fmt::format(", {} {}", count, kind == VerdictKind::not_locked ? "not locked" : to_string(kind));
    }
  }
  return text;
}

Result<int> run_verify(const CommandLine& line, const Host& host) {
  return run_for_roots(
      line.common, host, [&](const std::string& root) { return ask_verdicts(line, host, root); },
      [&](RootOutput& output, const AskedVerdicts& asked) { return verify_root(line.common, host, output, asked); });
}

}  // namespace modlock::cli
