#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "backends/base/files.h"
#include "backends/base/text.h"
#include "plugin/cli/over_roots.h"
#include "plugin/config/roots.h"
#include "plugin/lock/locked_text.h"
#include "plugin/terragrunt/unit_check.h"
#include "plugin/update/lookup.h"
#include "protocol/base/result.h"

namespace modlock::cli {
namespace {

namespace fs = std::filesystem;

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

std::vector<Cell> cells_of(const messages::LookedUpDependency& dependency, const Diagnostics& diagnostics) {
  const bool is_locked_by_id = dependency.locked_version.empty() && !dependency.origin.empty();
  const std::string& current = dependency.current_version;
  const std::string& value = dependency.current_value;
  const std::string& ref = dependency.ref;
  const std::string options = option_list(dependency.updates);
  const std::string moved = moved_words(dependency);
  const bool is_ambiguous = std::ranges::any_of(diagnostics, [&](const Diagnostic& one) {
    return one.what.code == Code::version_ambiguous && one.what.subject == dependency.subject;
  });
  return {{dependency.subject},
          {is_locked_by_id ? locked_text(std::nullopt, ref, dependency.origin) : current},
          {value.empty() || value == current
               ? ""
               : fmt::format("({})", value == ref ? pin_text(dependency.dep_name, ref) : value)},
          !moved.empty()                    ? Cell{moved + (options.empty() ? "" : ", -> " + options),
                                dependency.is_moved ? Color::red : Color::yellow}
          : !dependency.skip_reason.empty() ? Cell{"skipped: " + skip_words(dependency.skip_reason)}
          : current.empty()                 ? Cell{"unknown"}
          : !dependency.pinned_by.empty()   ? Cell{"pinned by " + dependency.pinned_by}
          : options.empty() && is_ambiguous ? Cell{"ambiguous", Color::yellow}
          : options.empty()                 ? Cell{"newest", Color::green}
                                            : Cell{"-> " + options, Color::yellow}};
}

using AskedUpdates = RootAnswer<messages::UpdateLookupResult>;

RootOutcome list_root(const CommandLine& line, RootOutput& output, AskedUpdates asked) {
  auto& [result, details] = asked;
  if (!line.common.json) {
    output.add(details.diagnostics);
    const auto cells = [&](const auto& dependency) { return cells_of(dependency, asked.details.diagnostics); };
    output.table(mapped(result->dependencies, cells), Fit::wrap, line.color);
    const bool has_updates =
        std::ranges::any_of(result->dependencies, [](const auto& dependency) { return !dependency.updates.empty(); });
    output.out(has_updates ? select_hint(output) : "");
  }
  Diagnostics errors = std::move(details.diagnostics);
  // A source without a value is skipped.
  std::erase_if(errors, [](const Diagnostic& diagnostic) { return diagnostic.what.code == Code::config_non_static; });
  RootOutcome outcome{.exit_code = exit_code_of_diagnostics(errors), .json = messages::encode(*result)};
  describe_worst(errors, outcome);
  return outcome;
}

}  // namespace

std::string select_hint(const RootOutput& output) {
  const std::string& root = output.root();
  const fs::path unit = terragrunt::is_unit(root) ? fs::path(root) : find_unit_of_copy(root);
  const std::string place = shown_path(unit.string());
  return unit.empty() ? output.hint("To select one, run: " + tofu_modlock("update", "SUBJECT=VERSION") + "\n")
         : unit == root
             ? fmt::format(
                   "To select one, change the source in {}, then run there: terragrunt init -upgrade "
                   "--source-update\n",
                   place)
             : fmt::format("To lock the newest allowed versions, run in {}: terragrunt init -upgrade\n", place);
}

Result<int> run_outdated(const CommandLine& line, const Host& host) {
  const CommonFlags& flags = line.common;
  return run_for_subjects(
      line.updates, flags, host,
      [&](const std::string& root, const std::vector<std::string>& subjects) {
        auto asked = host.look_up({.root = host.root_params(root, flags), .lock = {}, .subjects = subjects});
        if (!asked.result && path_is_directory(asked.result.error().subject)) {
          asked.result = fail(found_directory("outdated", asked.result.error().subject));
        }
        return asked;
      },
      [&](RootOutput& output, AskedUpdates asked) { return list_root(line, output, std::move(asked)); });
}

}  // namespace modlock::cli
