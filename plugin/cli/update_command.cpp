#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "backends/address/version.h"
#include "backends/base/ascii.h"
#include "backends/base/shell_word.h"
#include "plugin/cli/plan_result.h"
#include "plugin/config/roots.h"
#include "plugin/lock/lock_file.h"
#include "plugin/lock/locked_text.h"
#include "plugin/report/change_text.h"
#include "plugin/update/lookup.h"
#include "plugin/workspace/local_modules.h"
#include "plugin/workspace/revision.h"
#include "plugin/workspace/update_data.h"
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
  const auto version = is_tag ? version_in_tag(value, "/-_@") : std::nullopt;
  if (version) {
    return fail(Code::invalid_params, fmt::format("expected a version or a constraint, found \"{}\"", value),
                fmt::format("write it as {}={}", update.subject, *version));
  }
  if (is_tag) {
    return fail(
        Code::invalid_params, fmt::format("expected a version or a constraint, found \"{}\"", value),
        fmt::format("to lock a tag or branch that is not a version, name it in the source of {} (?ref={}) and run: "
                    "tofu-modlock lock",
                    update.subject, value));
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

// Prints what to do about other root modules that read a settings file above this one.
void print_shared_settings(const std::string& root, const messages::LockPlanResult& result) {
  for (const messages::EditedDocument& document : result.edits.documents) {
    if (document.path.starts_with("../") && document.path.ends_with(kSettingsFileName)) {
      const fs::path file = (fs::path(root) / document.path).lexically_normal();
      const std::string place = shown_path(file.parent_path().string());
      print_out(
          fmt::format("Other root modules read {}, too. To update their lock files, run: tofu-modlock lock{} "
                      "--recursive\n",
                      document.path, place == "." ? "" : " --chdir " + shell_word(place)));
    }
  }
}

messages::LockPlanParams plan_params(const CommandLine& line, const Host& host, const std::string& root) {
  messages::LockPlanParams params;
  params.root = host.root_params(root, line.common);
  params.include = included(line.common);
  params.accept_moved = line.accept_moved;
  return params;
}

// Without updates the lock is adjusted to the current configuration.
AskedPlan plan_updates(const CommandLine& line, const Host& host, const std::string& root,
                       const std::vector<messages::Update>& updates) {
  if (updates.empty()) {
    return host.call(&Engine::plan, plan_params(line, host, root));
  }
  messages::UpdatePlanParams params;
  params.root = host.root_params(root, line.common);
  params.updates = updates;
  params.include = included(line.common);
  params.accept_moved = line.accept_moved;
  if (!line.pin.empty()) {
    params.pin = line.pin;
  }
  return host.call(&Engine::update, params);
}

// Returns the command that prints the findings of a dry run; empty: there is none.
std::string preview_command(const CommandLine& line) {
  const auto updates = parse_updates(line);
  const bool has_versions = updates && std::none_of(updates->begin(), updates->end(), [](const auto& update) {
                              return update.new_constraint.has_value();
                            });
  return has_versions && !updates->empty() ? fmt::format("tofu-modlock diff {}", fmt::join(line.updates, " ")) : "";
}

// Prints an update. Tables of several roots are separate paragraphs.
RootOutcome print_update(const CommandLine& line, const Host& host, const std::string& root,
                         const WrittenUpdate& written, bool is_one_of_several = false) {
  const auto& result = written.result;
  if (!result) {
    return not_written(failed(result.error(), line.common, root, written.details.error_data));
  }
  const bool as_markdown = line.output_format == "markdown";
  if (!line.common.json && !as_markdown) {
    print_plan(line, root, *result, written.details.diagnostics);
    if (!line.dry_run && !line.common.recursive) {
      print_shared_settings(root, *result);
    }
  } else if (as_markdown) {
    print_out((is_one_of_several ? "\n" : "") + plan_markdown(*result));
  }
  const char* const state = !line.dry_run && !result->edits.documents.empty() ? "written" : "nothing changed";
  if (auto incomplete = install_after(line, host, root, state)) {
    return std::move(*incomplete);
  }
  if (!line.common.json) {
    print_diff_summary(line, root, written, preview_command(line));
  }
  return {.exit_code = 0,
          .json = messages::encode(*result),
          .next = as_markdown ? NextSteps{} : steps_after(line, host, root, *result),
          .state = state};
}

// One root after another: two roots may have a local module in common.
int run_subjects(const CommandLine& line, const Host& host, const std::vector<messages::Update>& updates) {
  std::vector<std::string> names;
  std::transform(updates.begin(), updates.end(), std::back_inserter(names),
                 [](const messages::Update& update) { return update.subject; });
  CommonFlags flags = line.common;
  flags.jobs = 1;
  NamedSubjects named(flags, names);
  const auto ask = [&](const std::string& root) {
    return named.ask(root, [&](const std::vector<std::string>& wanted) {
      std::vector<messages::Update> left;
      std::copy_if(updates.begin(), updates.end(), std::back_inserter(left), [&](const messages::Update& update) {
        return std::find(wanted.begin(), wanted.end(), update.subject) != wanted.end();
      });
      return write_update(line, host, root, plan_updates(line, host, root, left));
    });
  };
  const auto tell = [&](const std::string& root, const WrittenUpdate& asked) {
    if (auto skipped = named.skipped(root)) {
      return std::move(*skipped);
    }
    return print_update(line, host, root, asked);
  };
  return run_for_roots(flags, host, ask, tell);
}

// Formats "1.1.0 (lock only), 2.0.0 (~> 2.0, major)".
std::string option_list(const std::vector<messages::AvailableUpdate>& updates) {
  std::string text;
  for (const messages::AvailableUpdate& update : updates) {
    const std::string how = update.is_lockfile_update ? "lock only" : update.new_value;
    text += fmt::format("{}{} ({}{}{})", text.empty() ? "" : ", ", update.new_version, how, how.empty() ? "" : ", ",
                        update.update_type);
  }
  return text;
}

std::vector<Cell> cells_of(const messages::LookedUpDependency& dependency) {
  const bool is_locked_by_id = dependency.locked_version.empty() && !dependency.origin.empty();
  const std::string& current = dependency.current_version;
  const std::string& value = dependency.current_value;
  const std::string& ref = dependency.ref;
  const std::string options = option_list(dependency.updates);
  return {{dependency.subject},
          {is_locked_by_id ? locked_text(std::nullopt, ref, dependency.origin) : current},
          {value.empty() || value == current
               ? ""
               : fmt::format("({})", value == ref ? pin_text(dependency.dep_name, ref) : value)},
          !dependency.skip_reason.empty() ? Cell{"skipped: " + skip_words(dependency.skip_reason)}
          : current.empty()               ? Cell{"unknown"}
          : !dependency.pinned_by.empty() ? Cell{"pinned by " + dependency.pinned_by}
          : options.empty()               ? Cell{"newest", Color::green}
                                          : Cell{"-> " + options, Color::yellow}};
}

using AskedUpdates = RootAnswer<messages::UpdateLookupResult>;

AskedUpdates look_up_root(const CommandLine& line, const Host& host, const std::string& root, NamedSubjects& named) {
  return named.ask(root, [&](const std::vector<std::string>& subjects) -> AskedUpdates {
    messages::UpdateLookupParams params;
    params.root = host.root_params(root, line.common);
    params.subjects = subjects;
    return host.call(&Engine::lookup, params);
  });
}

RootOutcome list_root(const CommandLine& line, const std::string& root, AskedUpdates asked,
                      const NamedSubjects& named) {
  auto& [result, details] = asked;
  if (auto outcome = named.skipped(root)) {
    return std::move(*outcome);
  }
  if (!result) {
    const bool has_no_calls = find_missing_configuration(root).has_value();
    const std::string subject = result.error().subject;
    const auto directory = std::find_if(line.updates.begin(), line.updates.end(), [&](const std::string& word) {
      std::error_code ignored;
      return (has_no_calls || subject == word) && fs::is_directory(word, ignored);
    });
    if (directory != line.updates.end()) {
      return failed(fail(Code::invalid_params,
                         fmt::format("expected a module call or a provider, found the directory \"{}\"", *directory),
                         fmt::format("run: tofu-modlock outdated --chdir {}", shell_word(*directory)))
                        .value(),
                    line.common, root);
    }
    return failed(result.error(), line.common, root, details.error_data);
  }
  if (!line.common.json) {
    print_diagnostics(details.diagnostics, root);
    std::vector<std::vector<Cell>> rows;
    std::transform(result->dependencies.begin(), result->dependencies.end(), std::back_inserter(rows), cells_of);
    print_table_out(rows, Fit::wrap, line.color);
    const bool has_updates = std::any_of(result->dependencies.begin(), result->dependencies.end(),
                                         [](const auto& dependency) { return !dependency.updates.empty(); });
    print_out(with_root(has_updates ? kSelectHint : ""));
  }
  Diagnostics errors = std::move(details.diagnostics);
  // A source without a value is skipped.
  std::erase_if(errors, [](const Diagnostic& diagnostic) { return diagnostic.what.code == Code::config_non_static; });
  RootOutcome outcome{.exit_code = exit_code_of_diagnostics(errors), .json = messages::encode(*result)};
  describe_worst(errors, outcome);
  return outcome;
}

// A root that has to be updated, or the error why that is impossible or not known.
struct ConcernedRoot {
  std::string root;
  std::vector<messages::Update> updates = {};
  std::vector<std::string> targets = {};  // of an upgrade, if there are no updates
  std::optional<Error> error = {};
};

// The content of a root, and its errors.
struct Inspection {
  InspectedRoot root;
  std::optional<Error> error = {};
};

Inspection inspect(const CommandLine& line, const Host& host, const std::string& root,
                   const std::vector<messages::Document>& documents = {}) {
  messages::RootParams params = host.root_params(root, line.common);
  params.documents = documents;
  auto [inspected, details] = host.call(&Engine::inspect, params);
  Inspection inspection{.root = {fs::path(root), inspected.value_or(messages::ConfigInspectResult())}};
  Diagnostics errors;
  std::copy_if(details.diagnostics.begin(), details.diagnostics.end(), std::back_inserter(errors),
               [](const Diagnostic& diagnostic) { return diagnostic.severity == Severity::error; });
  if (!inspected) {
    inspection.error = std::move(inspected.error());
  } else if (!errors.empty()) {
    inspection.error = combine(std::move(errors));
  }
  return inspection;
}

// Returns the given roots, or else every root of the repository that has a lock file.
Result<std::vector<std::string>> find_locked_roots(const CommandLine& line, const Host& host,
                                                   const fs::path& repository) {
  CommonFlags flags = line.common;
  if (!flags.directories.empty()) {
    return find_roots(flags, host);
  }
  flags.directories.push_back(repository.string());
  flags.recursive = true;
  auto roots = find_roots(flags, host);
  if (roots) {
    roots->erase(std::remove_if(roots->begin(), roots->end(), [](const std::string& root) { return !has_lock(root); }),
                 roots->end());
  }
  return roots;
}

// Adds a root that cannot be read, for a change of one of these files: an error unless it is known to read none of
// them.
void add_unreadable(const std::string& root, Error error, const std::vector<fs::path>& files, const Host& host,
                    std::vector<ConcernedRoot>& concerned) {
  const auto reads = reads_any(root, files, host.context());
  if (reads && !*reads) {
    error.notes.push_back(fmt::format("the root module {} does not read what changed and is skipped", root));
    print_err(render(error, "Warning"));
    return;
  }
  error.notes.push_back(reads ? fmt::format("the root module {} reads what changed", root)
                              : fmt::format("cannot determine whether the root module {} reads what changed", root));
  concerned.push_back({.root = root, .error = std::move(error)});
}

int update_concerned(const CommandLine& line, const std::vector<ConcernedRoot>& concerned, std::string_view none,
                     const std::function<RootOutcome(const ConcernedRoot& root, bool is_one_of_several)>& update) {
  std::vector<std::string> roots;
  std::transform(concerned.begin(), concerned.end(), std::back_inserter(roots),
                 [](const ConcernedRoot& one) { return one.root; });
  if (roots.empty() && !line.common.json) {
    print_err(none);
  }
  auto next = concerned.begin();
  return run_for_roots(roots, line.common, [&](const std::string& root) {
    const ConcernedRoot& one = *next++;
    return one.error ? failed(*one.error, line.common, root) : update(one, roots.size() > 1);
  });
}

Result<std::vector<ConcernedRoot>> find_updates(const CommandLine& line, const Host& host) {
  MODLOCK_TRY(const auto entries, read_update_data(line.from_file));
  const fs::path repository = find_repository_root(fs::current_path());
  MODLOCK_TRY(const auto roots, find_locked_roots(line, host, repository));
  std::vector<fs::path> files;
  bool concerns_all = false;
  for (const DataEntry& entry : entries) {
    concerns_all = concerns_all || entry.package_file.empty();
    files.push_back((repository / entry.package_file).lexically_normal());
  }
  std::vector<ConcernedRoot> concerned;
  for (const std::string& root : roots) {
    Inspection inspection = inspect(line, host, root);
    const InspectedRoot& inspected = inspection.root;
    if (inspection.error && !concerns_all) {
      add_unreadable(root, std::move(*inspection.error), files, host, concerned);
    } else if (concerns_all ||
               std::any_of(files.begin(), files.end(), [&](const fs::path& file) { return inspected.reads(file); })) {
      concerned.push_back(
          {.root = root, .updates = updates_for(inspected, entries, repository), .error = std::move(inspection.error)});
    }
  }
  return concerned;
}

int run_from_file(const CommandLine& line, const Host& host) {
  const auto concerned = find_updates(line, host);
  if (!concerned) {
    return failed_everywhere(concerned.error(), line.common);
  }
  // The file lists what a bot has already changed in the work tree.
  const auto diff = diff_with_revision(find_repository_root(fs::current_path()), "HEAD", host.context());
  const Texts committed = diff ? diff->documents : Texts();
  return update_concerned(
      line, *concerned, "No locked root module is affected.\n", [&](const ConcernedRoot& one, bool is_one_of_several) {
        auto written = write_update(line, host, one.root, plan_updates(line, host, one.root, one.updates), committed);
        return print_update(line, host, one.root, written, is_one_of_several);
      });
}

// Returns an error for a file of the root whose text at the revision is not available.
std::optional<Error> find_unknown(const InspectedRoot& inspected, const RevisionDiff& diff) {
  for (const fs::path& unknown : diff.unknown) {
    for (const messages::InspectedFile& file : inspected.inspected.files) {
      const fs::path path = (inspected.directory / file.path).lexically_normal();
      if (path == unknown || lies_plainly_below(path, unknown)) {
        return Error{.code = Code::io_error,
                     .message = fmt::format("cannot read {} at revision {}", unknown.string(), diff.revision),
                     .hint =
                         "a submodule or a symbolic link to a directory cannot be compared: run tofu-modlock upgrade "
                         "--target for what changed"};
      }
    }
  }
  return std::nullopt;
}

// Returns the targets that have to be resolved again so that the lock of a root matches the changes; nullopt: there are
// none.
Result<std::optional<std::vector<std::string>>> changed_since(const CommandLine& line, const Host& host,
                                                              const InspectedRoot& inspected,
                                                              const RevisionDiff& diff) {
  if (auto unknown = find_unknown(inspected, diff)) {
    return fail(std::move(*unknown));
  }
  const std::string root = inspected.directory.string();
  Inspection before = inspect(line, host, root, diff.documents);
  if (before.error) {
    return fail(with_note(std::move(*before.error),
                          fmt::format("this is the state of the root module {} at revision {}", root, diff.revision)));
  }
  MODLOCK_TRY(const auto change,
              compare_configurations(inspected.directory, diff, before.root.inspected, inspected.inspected));
  if (!change.is_changed) {
    return std::nullopt;
  }
  return change.targets;
}

int run_from_diff(const CommandLine& line, const Host& host) {
  const fs::path start = line.common.directories.empty() ? fs::current_path() : fs::path(line.common.directories[0]);
  const fs::path repository = find_repository_root(start);
  const auto diff = diff_with_revision(repository, line.from_diff, host.context());
  const auto roots = diff ? find_locked_roots(line, host, repository) : fail(diff.error());
  if (!roots) {
    return failed_everywhere(roots.error(), line.common);
  }
  std::vector<ConcernedRoot> concerned;
  for (const std::string& root : diff->files.empty() ? std::vector<std::string>() : *roots) {
    Inspection now = inspect(line, host, root);
    if (now.error) {
      add_unreadable(root, std::move(*now.error), diff->files, host, concerned);
      continue;
    }
    auto targets = changed_since(line, host, now.root, *diff);
    if (!targets) {
      add_unreadable(root, std::move(targets.error()), diff->files, host, concerned);
    } else if (*targets) {
      concerned.push_back({.root = root, .targets = std::move(**targets)});
    }
  }
  return update_concerned(line, concerned, fmt::format("No locked root module changed since {}.\n", line.from_diff),
                          [&](const ConcernedRoot& one, bool is_one_of_several) {
                            auto params = plan_params(line, host, one.root);
                            params.mode = one.targets.empty() ? "missing" : "upgrade";
                            params.targets = one.targets;
                            const auto written =
                                write_update(line, host, one.root, host.call(&Engine::plan, params), diff->documents);
                            return print_update(line, host, one.root, written, is_one_of_several);
                          });
}

}  // namespace

int run_update(const CommandLine& line, const Host& host) {
  if (line.list) {
    NamedSubjects named(line.common, line.updates);
    return run_for_roots(
        line.common, host, [&](const std::string& root) { return look_up_root(line, host, root, named); },
        [&](const std::string& root, AskedUpdates asked) { return list_root(line, root, std::move(asked), named); });
  }
  if (!line.from_diff.empty()) {
    return run_from_diff(line, host);
  }
  if (line.updates.empty() && !line.from_file.empty()) {
    return run_from_file(line, host);
  }
  auto updates = parse_updates(line);
  if (updates && updates->empty()) {
    updates = fail(Code::invalid_params, "update: nothing to update",
                   "name a SUBJECT or SUBJECT=VERSION, a file with --from-file, or a revision with --from-diff");
  }
  if (!updates) {
    return failed(updates.error(), line.common).exit_code;
  }
  return run_subjects(line, host, *updates);
}

}  // namespace modlock::cli
