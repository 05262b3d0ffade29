#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "backends/files/files.h"
#include "plugin/cli/over_roots.h"
#include "plugin/install/data_directory.h"
#include "plugin/lock/copy.h"
#include "plugin/lock/edit.h"
#include "plugin/lock/lock_file.h"

namespace modlock::cli {
namespace {

namespace fs = std::filesystem;

// "commit 1a2b3c4d5e6f", "manifest 1a2b3c4d5e6f"; "" for what has neither.
std::string id_text(const Json::Value& side) {
  if (const std::string commit = side["commit"].asString(); !commit.empty()) {
    return "commit " + commit.substr(0, 12);
  }
  const std::string digest = side["digest"].asString();
  return digest.empty() ? "" : "manifest " + digest.substr(digest.find(':') + 1, 12);
}

// "3.19.0", "main at commit 1a2b3c4d5e6f", "commit 1a2b3c4d5e6f", "its content".
std::string side_text(const Json::Value& side) {
  if (side.isMember("version")) {
    return side["version"].asString();
  }
  const std::string id = id_text(side);
  const std::string ref = side["ref"].asString();
  return ref.empty() ? (id.empty() ? "its content" : id) : ref + (id.empty() ? "" : " at " + id);
}

// "signed, key ID 0123456789ABCDEF" by subject; of providers that nobody signed or that were not asked for, nothing.
std::map<std::string, std::string> signatures_of(const Json::Value& providers) {
  std::map<std::string, std::string> texts;
  for (const Json::Value& provider : providers) {
    const Json::Value& signature = provider["signature"];
    if (signature["status"].asString() == "signed") {
      texts["provider." + provider["address"].asString()] =
          fmt::format("  signed, key ID {}", signature["keyId"].asString());
    }
  }
  return texts;
}

std::string change_line(const Json::Value& change) {
  const std::string action = change["action"].asString();
  std::string text = change["subject"].asString() + "  ";
  if (action == "removed") {
    text += "removed (was " + side_text(change["from"]) + ")";
  } else if (action == "moved") {
    const std::string from = id_text(change["from"]);
    text +=
        side_text(change["to"]) + "  moved" + (from.empty() ? "" : " from " + from + " to " + id_text(change["to"]));
  } else if (action == "added" || action == "restored" || action == "adopted" ||
             side_text(change["from"]) == side_text(change["to"])) {
    text += side_text(change["to"]) + (action == "added" ? "" : "  " + action);
  } else {
    text += side_text(change["from"]) + " -> " + side_text(change["to"]);
  }
  if (change.isMember("constraints")) {
    text += fmt::format("  ({})", change["constraints"].asString());
  }
  return text;
}

// Whoever put it there chose what is locked: a checkout may bring its data directory along.
std::string adoption_words(const Json::Value& changes, bool dry_run) {
  const auto count = std::count_if(changes.begin(), changes.end(),
                                   [](const Json::Value& change) { return change["action"] == "adopted"; });
  if (count == 0) {
    return "";
  }
  return fmt::format(
      "\n{} locked to what was found installed here, not to what {} now (adopted).\n"
      "If you did not install it yourself, lock what the sources give: tofu-modlock {}\n",
      count == 1 ? "1 module is" : fmt::format("{} modules are", count),
      count == 1 ? "its source gives" : "their sources give", dry_run ? "lock --no-adopt" : "upgrade");
}

std::string closing_words(const Json::Value& result, bool dry_run) {
  const Json::Value& documents = result["edits"]["documents"];
  if (documents.empty()) {
    return "The lock file is up to date.\n";
  }
  const std::string path = documents[0]["path"].asString();
  const Json::Value& changes = result["changes"];
  const bool locks_providers = std::any_of(changes.begin(), changes.end(), [](const Json::Value& change) {
    return change["subject"].asString().starts_with("provider.");
  });
  if (dry_run) {
    return fmt::format("{} would change; nothing was written.\n", path);
  }
  if (documents[0]["op"].asString() == "create") {
    return fmt::format(
        "\ntofu-modlock has created the lock file {} to record the selected {}.\n"
        "Include this file in version control, so that everybody gets the same {}.\n",
        path, locks_providers ? "versions" : "module versions", locks_providers ? "modules and providers" : "modules");
  }
  return fmt::format(
      "\ntofu-modlock has changed the {}selections in {}.\n"
      "Review and commit the change if it is what you intended.\n",
      locks_providers ? "" : "module ", path);
}

Json::Value plan_params(const CommandLine& line, const Host& host, const std::string& root) {
  Json::Value params = host.root_params(root, line.common);
  params["mode"] = line.verb == CommandLine::Verb::upgrade ? "upgrade" : line.frozen ? "frozen" : "missing";
  for (const std::string& target : line.targets) {
    params["targets"].append(target);
  }
  for (const std::string& platform : line.platforms) {
    params["platforms"].append(platform);
  }
  if (!line.hashes.empty()) {
    params["hashes"] = line.hashes;
  }
  if (!line.resolution.empty()) {
    params["policy"]["resolution"] = line.resolution;
  }
  if (!line.minimum_release_age.empty()) {
    params["policy"]["minimumReleaseAge"] = line.minimum_release_age;
  }
  if (line.no_adopt) {
    params["policy"]["adopt"] = false;
  }
  return params;
}

// The protected copy lets a later `lock` put back what a stock tofu drops from the file.
Result<void> keep_copy(const DataDirectory& data, const Json::Value& modules) {
  ModuleLocks locks;
  for (const Json::Value& module : modules) {
    ModuleLock lock{.key = module["key"].asString(), .source = module["source"].asString()};
    for (const auto& [name, value] :
         {std::pair{"version", &lock.version}, std::pair{"constraints", &lock.constraints}}) {
      if (module.isMember(name)) {
        *value = module[name].asString();
      }
    }
    for (const Json::Value& hash : module["hashes"]) {
      lock.hashes.push_back(hash.asString());
    }
    std::string key = lock.key;
    locks.emplace(std::move(key), std::move(lock));
  }
  return save_lock_copy(data.path, locks);
}

// Between the look at a document and its replacement no other run of ours comes.
Result<std::optional<FileLock>> hold(const std::string& root, const DataDirectory& data, const Json::Value& documents,
                                     const Context& context) {
  auto held = documents.empty() ? Result<std::optional<FileLock>>() : hold_root(data, context);
  if (held && *held) {
    for (const Json::Value& document : documents) {
      const fs::path path = fs::path(root) / document["path"].asString();
      remove_unfinished_writes(path.parent_path(), path.filename().string());
    }
  }
  return held;
}

std::string diff_text(const std::string& root, const Json::Value& document) {
  const std::string path = document["path"].asString();
  const auto before = read_file(fs::path(root) / path);
  return unified_diff(path, before ? std::string_view(*before) : std::string_view(), document["newText"].asString());
}

Result<void> write_and_keep(const CommandLine& line, const Host& host, const std::string& root,
                            const Json::Value& result) {
  if (line.dry_run || line.frozen) {
    return {};
  }
  const std::string& named = line.common.data_dir;
  const auto data = find_data_directory(root, named.empty() ? std::nullopt : std::optional(named));
  const auto held =
      data ? hold(root, *data, result["edits"]["documents"], host.context()) : Result<std::optional<FileLock>>();
  if (!held) {
    return fail(held.error());
  }
  if (auto ok = apply_edits(root, result["edits"]); !ok) {
    return ok;
  }
  const auto& include = line.common.include;
  if (!include.empty() && std::find(include.begin(), include.end(), "modules") == include.end()) {
    return {};  // the result says nothing of modules
  }
  if (auto kept = data ? keep_copy(*data, result["modules"]) : fail(data.error()); !kept) {
    // The lock itself is written: the copy only helps where a stock client drops blocks from it.
    print_err(render(kept.error(), "Warning"));
  }
  return {};
}

void print_result(const CommandLine& line, const std::string& root, const Json::Value& result,
                  const Diagnostics& diagnostics) {
  print_diagnostics(diagnostics, root);
  const auto signatures = signatures_of(result["providers"]);
  for (const Json::Value& change : result["changes"]) {
    const auto signature = signatures.find(change["subject"].asString());
    const bool is_shown = signature != signatures.end() && change["action"].asString() != "removed";
    print_out(change_line(change) + (is_shown ? signature->second : "") + "\n");
  }
  print_out(adoption_words(result["changes"], line.dry_run));
  if (line.dry_run) {
    for (const Json::Value& document : result["edits"]["documents"]) {
      print_raw(diff_text(root, document));
    }
  }
  print_out(closing_words(result, line.dry_run));
}

RootOutcome lock_root(const CommandLine& line, const Host& host, const std::string& root) {
  Told told;
  auto result = host.call("lock/plan", plan_params(line, host, root), &told);
  if (!result) {
    return failed(result.error(), line.common, root, told.error_data);
  }
  if (auto ok = write_and_keep(line, host, root, *result); !ok) {
    return failed(ok.error(), line.common, root);
  }
  if (!line.common.json) {
    print_result(line, root, *result, told.diagnostics);
  }
  RootOutcome outcome{.exit_code = 0, .json = std::move(*result)};
  if (line.install && !line.dry_run) {
    auto installed = host.call("modules/install", install_params(line, host, root));
    if (!installed) {
      return failed(installed.error(), line.common, root);
    }
    if (!line.common.json) {
      print_out(fmt::format("{} installed, {} already in place.\n", (*installed)["installed"].size(),
                            (*installed)["reused"].size()));
    }
  }
  return outcome;
}

}  // namespace

int run_lock(const CommandLine& line, const Host& host) {
  return over_roots(line.common, [&](const std::string& root) { return lock_root(line, host, root); });
}

}  // namespace modlock::cli
