#include <fmt/format.h>

#include <algorithm>

#include "backends/version.h"
#include "plugin/cli/local_modules.h"
#include "plugin/cli/lock_writing.h"
#include "plugin/cli/plan_result.h"
#include "plugin/cli/revision.h"
#include "plugin/cli/update_data.h"
#include "plugin/config/roots.h"
#include "plugin/lock/lock_file.h"
#include "plugin/resolve/plan.h"

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

// Plans with the method, prints the plan and writes it. Tables of several roots are paragraphs of their own.
RootOutcome update_root(const CommandLine& line, const Host& host, const std::string& root, const std::string& method,
                        const Json::Value& params, bool is_one_of_several = false) {
  Told told;
  auto result = host.call(method, params, &told);
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
    print_out((is_one_of_several ? "\n" : "") + plan_markdown(*result));
  }
  return {.exit_code = 0, .json = std::move(*result)};
}

// Without updates the lock follows what the configuration already says.
RootOutcome update_root(const CommandLine& line, const Host& host, const std::string& root, const Json::Value& updates,
                        bool is_one_of_several = false) {
  Json::Value params = host.root_params(root, line.common);
  if (!updates.empty()) {
    params["updates"] = updates;
  }
  if (line.accept_moved) {
    params["policy"]["acceptMoved"] = true;
  }
  if (!line.pin.empty()) {
    params["pin"] = line.pin;
  }
  return update_root(line, host, root, updates.empty() ? "lock/plan" : "update/plan", params, is_one_of_several);
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

// A root that has to be updated, or an error that says why that cannot be done or is not known.
struct ConcernedRoot {
  std::string root;
  Json::Value request;  // the updates of `update/plan`, or the params of `lock/plan`
  std::optional<Error> error = {};
};

// What `config/inspect` says of a root, and what is wrong with it.
struct Inspection {
  InspectedRoot root;
  std::optional<Error> error = {};
};

Inspection inspect_root(const CommandLine& line, const Host& host, const std::string& root,
                        const Json::Value& documents = Json::arrayValue) {
  Json::Value params = host.root_params(root, line.common);
  params["documents"] = documents;
  Told told;
  auto inspected = host.call("config/inspect", params, &told);
  Inspection inspection{.root = {fs::path(root), inspected ? std::move(*inspected) : Json::Value()}};
  Diagnostics errors;
  std::copy_if(told.diagnostics.begin(), told.diagnostics.end(), std::back_inserter(errors),
               [](const Diagnostic& diagnostic) { return diagnostic.severity == Severity::error; });
  if (!inspected) {
    inspection.error = std::move(inspected.error());
  } else if (!errors.empty()) {
    inspection.error = combine(std::move(errors));
  }
  return inspection;
}

bool has_lock(const std::string& root) {
  std::error_code ignored;
  return fs::exists(fs::path(root) / kLockFileName, ignored) || fs::exists(fs::path(root) / kSidecarFileName, ignored);
}

// The roots that are named, else every one of the repository that has a lock file.
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

// A root that cannot be read, for one of these files changed: an error unless it is known to read none of them.
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
  concerned.push_back({root, {}, std::move(error)});
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
  return over_roots(roots, line.common, [&](const std::string& root) {
    const ConcernedRoot& one = *next++;
    return one.error ? failed(*one.error, line.common, root) : update(one, roots.size() > 1);
  });
}

Result<std::vector<ConcernedRoot>> find_updates(const CommandLine& line, const Host& host) {
  const auto entries = read_update_data(line.from_file);
  if (!entries) {
    return fail(entries.error());
  }
  const fs::path repository = find_repository_root(fs::current_path());
  const auto roots = find_locked_roots(line, host, repository);
  if (!roots) {
    return fail(roots.error());
  }
  std::vector<fs::path> files;
  bool concerns_all = false;
  for (const DataEntry& entry : *entries) {
    concerns_all = concerns_all || entry.package_file.empty();
    files.push_back((repository / entry.package_file).lexically_normal());
  }
  std::vector<ConcernedRoot> concerned;
  for (const std::string& root : *roots) {
    Inspection inspection = inspect_root(line, host, root);
    const InspectedRoot& inspected = inspection.root;
    if (inspection.error && !concerns_all) {
      add_unreadable(root, std::move(*inspection.error), files, host, concerned);
    } else if (concerns_all ||
               std::any_of(files.begin(), files.end(), [&](const fs::path& file) { return inspected.reads(file); })) {
      concerned.push_back({root, updates_for(inspected, *entries, repository), std::move(inspection.error)});
    }
  }
  return concerned;
}

int run_from_file(const CommandLine& line, const Host& host) {
  const auto concerned = find_updates(line, host);
  if (!concerned) {
    return failed_everywhere(concerned.error(), line.common);
  }
  return update_concerned(line, *concerned, "Nothing of this concerns a root module that is locked.\n",
                          [&](const ConcernedRoot& one, bool is_one_of_several) {
                            return update_root(line, host, one.root, one.request, is_one_of_several);
                          });
}

// A file of the root of which the revision has no text here.
std::optional<Error> find_unknown(const InspectedRoot& inspected, const RevisionDiff& diff) {
  for (const fs::path& unknown : diff.unknown) {
    for (const Json::Value& file : inspected.inspected["files"]) {
      const fs::path path = (inspected.directory / file["path"].asString()).lexically_normal();
      if (path == unknown || lies_plainly_below(path, unknown)) {
        return Error{.code = Code::io_error,
                     .message = fmt::format("cannot read {} at revision {}", unknown.string(), diff.revision),
                     .hint =
                         "a submodule and a link to a directory cannot be compared: run tofu-modlock upgrade "
                         "--target for what changed"};
      }
    }
  }
  return std::nullopt;
}

// What has to be asked for so that the lock of a root follows what changed; nothing where nothing did.
Result<std::optional<Json::Value>> changed_since(const CommandLine& line, const Host& host,
                                                 const InspectedRoot& inspected, const RevisionDiff& diff) {
  if (auto unknown = find_unknown(inspected, diff)) {
    return fail(std::move(*unknown));
  }
  const std::string root = inspected.directory.string();
  Inspection before = inspect_root(line, host, root, diff.documents);
  if (before.error) {
    return fail(with_note(std::move(*before.error),
                          fmt::format("that is how the root module {} is at revision {}", root, diff.revision)));
  }
  const auto change = compare_configurations(inspected.directory, diff, before.root.inspected, inspected.inspected);
  if (!change) {
    return fail(change.error());
  }
  if (!change->is_changed) {
    return std::nullopt;
  }
  Json::Value params = host.root_params(root, line.common);
  if (line.accept_moved) {
    params["policy"]["acceptMoved"] = true;
  }
  for (const std::string& target : change->targets) {
    params["mode"] = "upgrade";
    params["targets"].append(target);
  }
  return params;
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
    Inspection now = inspect_root(line, host, root);
    if (now.error) {
      add_unreadable(root, std::move(*now.error), diff->files, host, concerned);
      continue;
    }
    auto params = changed_since(line, host, now.root, *diff);
    if (!params) {
      add_unreadable(root, std::move(params.error()), diff->files, host, concerned);
    } else if (*params) {
      concerned.push_back({root, std::move(**params)});
    }
  }
  return update_concerned(line, concerned, fmt::format("No locked root module changed since {}.\n", line.from_diff),
                          [&](const ConcernedRoot& one, bool is_one_of_several) {
                            return update_root(line, host, one.root, "lock/plan", one.request, is_one_of_several);
                          });
}

}  // namespace

int run_update(const CommandLine& line, const Host& host) {
  if (line.list) {
    return over_roots(
        line.common, host,
        [&](const std::string& root) { return ask(host, "update/lookup", lookup_params(line, host, root)); },
        [&](const std::string& root, Asked asked) { return list_root(line, root, std::move(asked)); });
  }
  if (!line.from_diff.empty()) {
    return run_from_diff(line, host);
  }
  if (line.updates.empty() && !line.from_file.empty()) {
    return run_from_file(line, host);
  }
  auto updates = parse_updates(line);
  if (updates && updates->empty()) {
    updates = usage("update: nothing to update",
                    "name a SUBJECT=VERSION, a file with --from-file, or a revision with --from-diff");
  }
  if (!updates) {
    return failed(updates.error(), line.common).exit_code;
  }
  return over_roots(line.common, host,
                    [&](const std::string& root) { return update_root(line, host, root, *updates); });
}

}  // namespace modlock::cli
