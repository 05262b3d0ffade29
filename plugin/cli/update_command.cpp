#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "backends/address/version.h"
#include "backends/base/ascii.h"
#include "backends/base/text.h"
#include "plugin/cli/plan_result.h"
#include "plugin/config/roots.h"
#include "plugin/lock/locked_text.h"
#include "plugin/report/change_text.h"
#include "plugin/resolve/plan.h"
#include "plugin/workspace/affected_roots.h"
#include "plugin/workspace/root_search.h"
#include "protocol/base/result.h"

namespace modlock::cli {
namespace {

namespace fs = std::filesystem;

// Returns "2.0.0" of a tag like "net/v2.0.0" or "net-2.0.0"; nullopt: it has no version after a separator.
std::optional<std::string> version_in_tag(std::string_view tag, const char* separators) {
  for (std::size_t at = tag.find_first_of(separators); at < tag.size(); at = tag.find_first_of(separators, at + 1)) {
    if (const auto version = Version::parse(tag.substr(at + 1))) {
      return version->to_string();
    }
  }
  return std::nullopt;
}

// "module.vpc=1.2.0" requests a version, "module.vpc=~> 1.2" a constraint, "module.vpc" the newest version: neither is
// set.
Result<messages::Update> parse_update(const std::string& text) {
  const std::size_t equals = std::min(text.find('='), text.size());
  if (equals == 0 || equals + 1 == text.size()) {
    return fail(Code::invalid_params, fmt::format("expected SUBJECT or SUBJECT=VERSION, found \"{}\"", text),
                "write it as module.vpc or module.vpc=1.2.0");
  }
  messages::Update update;
  update.subject = text.substr(0, equals);
  if (equals == text.size()) {
    if (const auto version = version_in_tag(text, "@")) {
      return fail(Code::invalid_params, fmt::format("expected SUBJECT or SUBJECT=VERSION, found \"{}\"", text),
                  fmt::format("write it as {}={}", text.substr(0, text.rfind('@')), *version));
    }
    return update;
  }
  const std::string value = text.substr(equals + 1);
  const bool is_tag = ascii::is_alpha(value.front()) && !Version::parse(value);
  if (is_tag && tag_prefix_of(value)) {
    update.new_version = value;
    return update;
  }
  const auto version = is_tag ? version_in_tag(value, "/-_@") : std::nullopt;
  if (version) {
    return fail(Code::invalid_params, fmt::format("expected a version or a constraint, found \"{}\"", value),
                fmt::format("write it as {}={}", update.subject, *version));
  }
  if (is_tag) {
    return fail(
        Code::invalid_params, fmt::format("expected a version or a constraint, found \"{}\"", value),
        fmt::format("to lock a tag or branch that is not a version, name it in the source of {} (?ref={}) and run: ",
                    update.subject, value) +
            tofu_modlock("lock"));
  }
  (Version::parse(value) ? update.new_version : update.new_constraint) = value;
  return update;
}

// The name of a call starts with a letter or "_". It may be "v2", which is therefore no version.
bool is_version_or_constraint(const std::string& text) {
  constexpr std::string_view kOperators = "=!<>~^";
  const bool is_name = text.empty() || (ascii::is_alpha(text.front()) && text.find('.') == std::string::npos);
  return !is_name && (kOperators.find(text.front()) != std::string_view::npos || Version::parse(text));
}

Result<std::vector<messages::Update>> parse_updates(const CommandLine& line) {
  std::vector<messages::Update> updates;
  for (const std::string& text : line.updates) {
    if (!updates.empty() && is_version_or_constraint(text)) {
      const auto version = Version::parse(text);
      return fail(Code::invalid_params, fmt::format("expected SUBJECT or SUBJECT=VERSION, found \"{}\"", text),
                  fmt::format("write it as {}",
                              shell_word(updates.back().subject + "=" + (version ? version->to_string() : text))));
    }
    MODLOCK_TRY(auto update, parse_update(text));
    updates.push_back(std::move(update));
  }
  return updates;
}

// Adds what to do about other root modules that read a settings file or a local module next to or above this one.
void print_shared_files(RootOutput& output, const messages::LockPlanResult& result) {
  for (const messages::EditedDocument& document : result.edits.documents) {
    if (document.path.starts_with("../")) {
      const fs::path file = (fs::path(output.root()) / document.path).lexically_normal();
      const bool is_settings = file.filename() == kSettingsFileName;
      const std::string place =
          shown_path((is_settings ? file.parent_path() : find_repository_root(output.root())).string());
      output.out(
          fmt::format("Other root modules {}read {}, too. To update their lock files, run: tofu-modlock lock{} "
                      "--recursive\n",
                      is_settings ? "" : "may ", document.path, place == "." ? "" : " --chdir " + shell_word(place)));
    }
  }
}

messages::LockPlanParams plan_params(const CommandLine& line, const Host& host, const std::string& root) {
  messages::LockPlanParams params = line.plan;
  params.root = host.root_params(root, line.common);
  params.include = line.common.include;
  return params;
}

// Without updates the lock is adjusted to the current configuration.
PlanAnswer plan_updates(const CommandLine& line, const Host& host, const std::string& root,
                        const std::vector<messages::Update>& updates) {
  if (updates.empty()) {
    return host.call(&Engine::plan, plan_params(line, host, root));
  }
  return host.call(&Engine::update, messages::UpdatePlanParams{.root = host.root_params(root, line.common),
                                                               .lock = {},
                                                               .updates = updates,
                                                               .pin = messages::named<messages::UpdatePin>(line.pin),
                                                               .include = line.common.include,
                                                               .accept_moved = line.plan.accept_moved});
}

// Adds an update. Tables of several roots are separate paragraphs.
RootOutcome print_update(const CommandLine& line, const Host& host, RootOutput& output, const WrittenUpdate& written) {
  const auto& result = written.result;
  if (!result) {
    return failed(result.error(), line.common, output, written.details.error_data);
  }
  const bool as_markdown = line.output_format == "markdown";
  if (!line.common.json && !as_markdown) {
    print_plan(line, output, *result, written.details.diagnostics);
    if (!line.dry_run && !line.common.recursive) {
      print_shared_files(output, *result);
    }
  } else if (as_markdown) {
    output.out(plan_markdown(*result));
  }
  const char* const state = !line.dry_run && !result->edits.documents.empty() ? "written" : "nothing changed";
  if (auto incomplete = install_after(line, host, output, state)) {
    return std::move(*incomplete);
  }
  if (!line.common.json) {
    print_diff_summary(line, output, written);
  }
  return add_held({.exit_code = 0,
                   .json = messages::encode(*result),
                   .result = result_words(line, *result),
                   .next = as_markdown ? NextSteps{} : steps_after(line, host, output.root(), *result),
                   .state = state},
                  line, output, *result);
}

// One root after another: two roots may have a local module in common.
Result<int> run_subjects(const CommandLine& line, const Host& host, const std::vector<messages::Update>& updates) {
  CommonFlags flags = line.common;
  flags.jobs = 1;
  return run_for_subjects(
      updates, flags, host,
      [&](const std::string& root, const std::vector<messages::Update>& wanted) {
        return write_update(line, host, root, plan_updates(line, host, root, wanted));
      },
      [&](RootOutput& output, const WrittenUpdate& asked) { return print_update(line, host, output, asked); });
}

// Returns a reader of roots that shares this run.
InspectRoot inspect_with(const CommandLine& line, const Host& host) {
  return [&line, &host](const std::string& root,
                        const std::vector<messages::Document>& documents) -> Result<messages::ConfigInspectResult> {
    messages::RootParams params = host.root_params(root, line.common);
    params.documents = documents;
    auto [inspected, details] = host.call(&Engine::inspect, params);
    Diagnostics errors = errors_of(details.diagnostics);
    return inspected && !errors.empty() ? fail(combine(std::move(errors))) : std::move(inspected);
  };
}

// Returns the given roots, or else every root of the repository that has a lock file.
Result<Roots> find_locked_roots(const CommandLine& line, const Host& host, const fs::path& repository) {
  CommonFlags flags = line.common;
  if (!flags.directories.empty()) {
    return find_roots(flags, host);
  }
  flags.directories.push_back(repository.string());
  flags.recursive = true;
  auto roots = find_roots(flags, host);
  if (roots) {
    std::erase_if(roots->paths, [](const std::string& root) { return !has_lock(root); });
  }
  return roots;
}

int update_affected(const CommandLine& line, Roots roots, const AffectedRoots& affected, std::string_view none,
                    const std::function<RootOutcome(const AffectedRoot& root, RootOutput& output)>& update) {
  for (const Error& skipped : affected.skipped) {
    line.common.print.err(render(skipped, "Warning"));
  }
  roots.paths = mapped(affected.roots, &AffectedRoot::root);
  if (roots.paths.empty() && !line.common.json) {
    line.common.print.err(none);
  }
  auto next = affected.roots.begin();
  return run_for_roots(roots, line.common, [&](RootOutput& output) {
    const AffectedRoot& one = *next++;
    return one.error ? failed(*one.error, line.common, output) : update(one, output);
  });
}

Result<int> run_from_file(const CommandLine& line, const Host& host) {
  const fs::path repository = find_repository_root(fs::current_path());
  MODLOCK_TRY(const auto entries, read_update_data(line.from_file));
  MODLOCK_TRY(const auto roots, find_locked_roots(line, host, repository));
  const AffectedRoots affected =
      find_affected(roots.paths, entries, repository, inspect_with(line, host), host.context());
  // The file lists what a bot has already changed in the work tree.
  const auto diff = diff_with_revision(repository, "HEAD", host.context());
  const Texts committed = diff ? diff->documents : Texts();
  return update_affected(
      line, roots, affected, "No locked root module is affected.\n", [&](const AffectedRoot& one, RootOutput& output) {
        auto written = write_update(line, host, one.root, plan_updates(line, host, one.root, one.updates), committed);
        return print_update(line, host, output, written);
      });
}

Result<int> run_from_diff(const CommandLine& line, const Host& host) {
  const fs::path start = line.common.directories.empty() ? fs::current_path() : fs::path(line.common.directories[0]);
  const fs::path repository = find_repository_root(start);
  MODLOCK_TRY(const auto diff, diff_with_revision(repository, line.from_diff, host.context()));
  MODLOCK_TRY(const auto roots, find_locked_roots(line, host, repository));
  const AffectedRoots affected = find_affected(roots.paths, diff, inspect_with(line, host), host.context());
  return update_affected(
      line, roots, affected, fmt::format("No locked root module changed since {}.\n", line.from_diff),
      [&](const AffectedRoot& one, RootOutput& output) {
        auto params = plan_params(line, host, one.root);
        params.mode = one.targets.empty() ? messages::PlanMode::missing : messages::PlanMode::upgrade;
        params.targets = one.targets;
        params.since = line.from_diff;
        const auto written = write_update(line, host, one.root, host.call(&Engine::plan, params), diff.documents);
        return print_update(line, host, output, written);
      });
}

}  // namespace

Result<int> run_update(const CommandLine& line, const Host& host) {
  if (line.list) {
    return run_outdated(line, host);
  }
  if (!line.from_diff.empty()) {
    return run_from_diff(line, host);
  }
  if (line.updates.empty() && !line.from_file.empty()) {
    return run_from_file(line, host);
  }
  MODLOCK_TRY(const auto updates, parse_updates(line));
  if (updates.empty()) {
    return fail(Code::invalid_params, "update: nothing to update",
                "name a SUBJECT or SUBJECT=VERSION, a file with --from-file, or a revision with --from-diff");
  }
  return run_subjects(line, host, updates);
}

}  // namespace modlock::cli
