#include <fmt/format.h>

#include <algorithm>

#include "backends/version.h"
#include "plugin/cli/lock_writing.h"
#include "plugin/cli/plan_result.h"
#include "plugin/cli/update_data.h"
#include "plugin/config/roots.h"

namespace modlock::cli {
namespace {

namespace fs = std::filesystem;

tl::unexpected<Error> usage(std::string message, std::string hint) {
  return fail(Code::invalid_params, std::move(message), std::move(hint));
}

// "module.vpc=1.2.0" asks for a version, "module.vpc=~> 1.2" for a constraint.
Result<Json::Value> parse_update(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
    return usage(fmt::format("expected SUBJECT=VERSION, found \"{}\"", text), "write it as module.vpc=1.2.0");
  }
  Json::Value update;
  update["subject"] = text.substr(0, equals);
  const std::string value = text.substr(equals + 1);
  update[Version::parse(value) ? "newVersion" : "newConstraint"] = value;
  return update;
}

Result<Json::Value> parse_updates(const CommandLine& line) {
  Json::Value updates(Json::arrayValue);
  for (const std::string& text : line.updates) {
    auto update = parse_update(text);
    if (!update) {
      return update;
    }
    updates.append(std::move(*update));
  }
  return updates;
}

// Without updates the lock follows what the configuration already says.
RootOutcome update_root(const CommandLine& line, const Host& host, const std::string& root,
                        const Json::Value& updates) {
  Json::Value params = host.root_params(root, line.common);
  if (!updates.empty()) {
    params["updates"] = updates;
  }
  if (!line.pin.empty()) {
    params["pin"] = line.pin;
  }
  Told told;
  auto result = host.call(updates.empty() ? "lock/plan" : "update/plan", params, &told);
  if (!result) {
    return failed(result.error(), line.common, root, told.error_data);
  }
  // A diff is made of what was there before.
  const bool as_markdown = line.output_format == "markdown";
  if (!line.common.json && !as_markdown) {
    print_plan(line, root, *result, told.diagnostics);
  }
  if (!line.dry_run) {
    if (auto ok = write_planned_lock(line.common, host, root, *result); !ok) {
      return failed(ok.error(), line.common, root);
    }
  }
  if (as_markdown) {
    print_out(plan_markdown(*result));
  }
  return {.exit_code = 0, .json = std::move(*result)};
}

// "1.1.0 (lock only), 2.0.0 (~> 2.0, major)".
std::string option_list(const Json::Value& updates) {
  std::string text;
  for (const Json::Value& update : updates) {
    const std::string value = update["newValue"].asString();
    const std::string how = update["isLockfileUpdate"].asBool() ? "lock only" : value;
    text += fmt::format("{}{} ({}{}{})", text.empty() ? "" : ", ", update["newVersion"].asString(), how,
                        how.empty() ? "" : ", ", update["updateType"].asString());
  }
  return text;
}

void print_dependency(const Json::Value& dependency) {
  const std::string current = dependency["currentVersion"].asString();
  const std::string value = dependency["currentValue"].asString();
  std::string text = dependency["subject"].asString();
  if (!current.empty()) {
    text += "  " + current;
  }
  if (!value.empty() && value != current) {
    text += fmt::format("  ({})", value);
  }
  const std::string reason = dependency["skipReason"].asString();
  const std::string options = option_list(dependency["updates"]);
  text += !reason.empty()   ? "  skipped: " + reason
          : current.empty() ? "  unknown"
          : options.empty() ? "  newest"
                            : "  -> " + options;
  print_out(text + "\n");
}

Json::Value lookup_params(const CommandLine& line, const Host& host, const std::string& root) {
  Json::Value params = host.root_params(root, line.common);
  for (const std::string& subject : line.updates) {
    params["subjects"].append(subject);
  }
  return params;
}

RootOutcome list_root(const CommandLine& line, const std::string& root, Asked asked) {
  auto& [result, told] = asked;
  if (!result) {
    return failed(result.error(), line.common, root, told.error_data);
  }
  if (!line.common.json) {
    print_diagnostics(told.diagnostics, root);
    for (const Json::Value& dependency : result->tree()["dependencies"]) {
      print_dependency(dependency);
    }
  }
  return {.exit_code = 0, .json = std::move(*result)};
}

// The roots that read a file of an entry, and what they have to be asked for.
struct RootUpdates {
  std::string root;
  Json::Value updates;
};

Result<InspectedRoot> inspect_root(const CommandLine& line, const Host& host, const std::string& root) {
  auto inspected = host.call("config/inspect", host.root_params(root, line.common));
  if (!inspected) {
    return fail(std::move(inspected.error()));
  }
  return InspectedRoot{fs::path(root), std::move(*inspected)};
}

Result<std::vector<RootUpdates>> find_updates(const CommandLine& line, const Host& host) {
  const auto entries = read_update_data(line.from_file);
  if (!entries) {
    return fail(entries.error());
  }
  const fs::path repository = find_repository_root(fs::current_path());
  CommonFlags flags = line.common;
  if (flags.directories.empty()) {
    flags.directories.push_back(repository.string());
    flags.recursive = true;
  }
  const auto roots = find_roots(flags);
  if (!roots) {
    return fail(roots.error());
  }
  std::vector<RootUpdates> found;
  for (const std::string& root : *roots) {
    const auto inspected = inspect_root(line, host, root);
    if (!inspected) {
      print_err(render(inspected.error(), "Warning"));  // others may be concerned all the same
      continue;
    }
    const bool is_concerned = std::any_of(entries->begin(), entries->end(), [&](const DataEntry& entry) {
      return entry.package_file.empty() || inspected->reads((repository / entry.package_file).lexically_normal());
    });
    if (is_concerned) {
      found.push_back({root, updates_for(*inspected, *entries, repository)});
    }
  }
  return found;
}

int run_from_file(const CommandLine& line, const Host& host) {
  const auto found = find_updates(line, host);
  if (!found) {
    return failed_everywhere(found.error(), line.common);
  }
  std::vector<std::string> roots;
  std::map<std::string, Json::Value> updates;
  for (const RootUpdates& root : *found) {
    roots.push_back(root.root);
    updates.emplace(root.root, root.updates);
  }
  if (roots.empty() && !line.common.json) {
    print_err("Nothing of this concerns a root module that is locked.\n");
  }
  return over_roots(roots, line.common,
                    [&](const std::string& root) { return update_root(line, host, root, updates[root]); });
}

}  // namespace

int run_update(const CommandLine& line, const Host& host) {
  if (line.list) {
    return over_roots(
        line.common, host,
        [&](const std::string& root) { return ask(host, "update/lookup", lookup_params(line, host, root)); },
        [&](const std::string& root, Asked asked) { return list_root(line, root, std::move(asked)); });
  }
  if (line.updates.empty() && !line.from_file.empty()) {
    return run_from_file(line, host);
  }
  auto updates = parse_updates(line);
  if (updates && updates->empty()) {
    updates = usage("update: nothing to update", "name a SUBJECT=VERSION, or a file with --from-file");
  }
  if (!updates) {
    return failed(updates.error(), line.common).exit_code;
  }
  return over_roots(line.common, [&](const std::string& root) { return update_root(line, host, root, *updates); });
}

}  // namespace modlock::cli
