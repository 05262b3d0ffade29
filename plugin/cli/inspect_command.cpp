#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "plugin/cli/over_roots.h"

namespace modlock::cli {
namespace {

// A module call and those below it, in the order of their names.
struct Branch {
  const Json::Value* module = nullptr;  // null: a call between that could not be read, or the root
  std::map<std::string, Branch> calls;
};

// Test modules hang below "test" without having a call of that name.
Branch tree_of(const Json::Value& modules) {
  Branch root;
  for (const Json::Value& module : modules) {
    Branch* branch = &root;
    const std::string key = module["key"].asString();
    for (std::size_t start = 0; start <= key.size();) {
      const std::size_t end = std::min(key.find('.', start), key.size());
      branch = &branch->calls[key.substr(start, end - start)];
      start = end + 1;
    }
    branch->module = &module;
  }
  return root;
}

std::string describe(const Json::Value& module) {
  const bool is_resolved = module.isMember("source");
  std::string text = "  " + (is_resolved ? module["source"].asString() : module["rawSource"].asString());
  if (!is_resolved) {
    text += "  (not resolved)";
  }
  if (module.isMember("constraint")) {
    text += fmt::format("  ({})", module["constraint"].asString());
  }
  if (module.isMember("lockedVersion")) {
    text += fmt::format("  locked {}", module["lockedVersion"].asString());
  }
  if (module.isMember("repeatedBy")) {
    text += fmt::format("  [{}]", module["repeatedBy"].asString());
  }
  return text;
}

void print_calls(const Branch& branch, const std::string& indent) {
  std::size_t left = branch.calls.size();
  for (const auto& [name, call] : branch.calls) {
    const bool is_last = --left == 0;
    print_out(fmt::format("{}{} {}{}\n", indent, is_last ? "└─" : "├─", name,
                          call.module == nullptr ? std::string() : describe(*call.module)));
    print_calls(call, indent + (is_last ? "   " : "│  "));
  }
}

std::string module_name(const Json::Value& key) {
  return key.asString().empty() ? "the root module" : "module." + key.asString();
}

std::string reasons(const Json::Value& provider) {
  std::string text;
  for (const Json::Value& constraint : provider["constraints"]) {
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", constraint["text"].asString(),
                        module_name(constraint["module"]));
  }
  if (!text.empty()) {
    return text;
  }
  return provider.isMember("impliedBy") ? "any version (implied by " + provider["impliedBy"].asString() + ")"
                                        : "any version";
}

void print_providers(const Json::Value& providers) {
  if (providers.empty()) {
    return;
  }
  print_out("Providers:\n");
  for (const Json::Value& provider : providers) {
    print_out(fmt::format("  {}  {}\n", provider["address"].asString(),
                          provider.isMember("builtin") ? "built in" : reasons(provider)));
  }
}

std::string counted(Json::ArrayIndex count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

RootOutcome inspect_root(const CommandLine& line, const std::string& root, Asked asked) {
  auto& [result, told] = asked;
  if (!result) {
    return failed(result.error(), line.common, root);
  }
  RootOutcome outcome{.exit_code = exit_code_of_diagnostics(told.diagnostics), .json = {}};
  describe_worst(told.diagnostics, outcome);
  if (line.common.json) {
    outcome.json = std::move(*result);
    return outcome;
  }
  const Json::Value& tree = result->tree();
  print_out(".\n");
  print_calls(tree_of(tree["modules"]), "");
  print_providers(tree["providers"]);
  print_diagnostics(told.diagnostics, root);
  print_out(fmt::format("{}, {}, {}.\n", counted(tree["modules"].size(), "module call"),
                        counted(tree["providers"].size(), "provider"), counted(tree["files"].size(), "file")));
  return outcome;
}

}  // namespace

int run_inspect(const CommandLine& line, const Host& host) {
  return over_roots(
      line.common, host,
      [&](const std::string& root) { return ask(host, "config/inspect", host.root_params(root, line.common)); },
      [&](const std::string& root, Asked asked) { return inspect_root(line, root, std::move(asked)); });
}

}  // namespace modlock::cli
