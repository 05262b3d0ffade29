#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "plugin/cli/over_roots.h"
#include "plugin/report/terraform_modules.h"

namespace modlock::cli {
namespace {

// A module call and the calls below it, in the order of their names.
struct Branch {
  const messages::InspectedModule* module = nullptr;  // null: the root, or a call in between that could not be read
  std::map<std::string, Branch> calls;
};

// Test modules are below "test" without a call of that name.
Branch tree_of(const std::vector<messages::InspectedModule>& modules) {
  Branch root;
  for (const messages::InspectedModule& module : modules) {
    Branch* branch = &root;
    const std::string& key = module.key;
    for (std::size_t start = 0; start <= key.size();) {
      const std::size_t end = std::min(key.find('.', start), key.size());
      branch = &branch->calls[key.substr(start, end - start)];
      start = end + 1;
    }
    branch->module = &module;
  }
  return root;
}

std::string describe(const messages::InspectedModule& module) {
  std::string text = "  " + module.source.value_or(module.raw_source.value_or(""));
  if (!module.source) {
    text += "  (not resolved)";
  }
  if (module.constraint) {
    text += fmt::format("  ({})", *module.constraint);
  }
  if (module.locked_version) {
    text += fmt::format("  locked {}", *module.locked_version);
  }
  if (module.repeated_by) {
    text += fmt::format("  [{}]", *module.repeated_by);
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

std::string module_name(const std::string& key) {
  return key.empty() ? "the root module" : "module." + key;
}

std::string reasons(const messages::InspectedProvider& provider) {
  std::string text;
  for (const messages::InspectedConstraint& constraint : provider.constraints) {
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", constraint.text, module_name(constraint.module));
  }
  if (!text.empty()) {
    return text;
  }
  return provider.implied_by ? "any version (implied by " + *provider.implied_by + ")" : "any version";
}

void print_providers(const std::vector<messages::InspectedProvider>& providers) {
  if (providers.empty()) {
    return;
  }
  print_out("Providers:\n");
  for (const messages::InspectedProvider& provider : providers) {
    print_out(fmt::format("  {}  {}\n", provider.address, provider.builtin ? "built in" : reasons(provider)));
  }
}

std::string counted(std::size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

using AskedConfiguration = RootAnswer<messages::ConfigInspectResult>;

RootOutcome inspect_root(const CommandLine& line, const std::string& root, AskedConfiguration asked) {
  auto& [result, details] = asked;
  if (!result) {
    return failed(result.error(), line.common, root);
  }
  RootOutcome outcome{.exit_code = exit_code_of_diagnostics(details.diagnostics), .json = {}};
  describe_worst(details.diagnostics, outcome);
  if (line.common.json) {
    outcome.json = messages::encode(*result);
    return outcome;
  }
  if (line.output_format == "terraform-modules") {
    print_diagnostics(details.diagnostics, root);
    outcome.json = terraform_modules(result->modules);
    return outcome;
  }
  print_out(".\n");
  print_calls(tree_of(result->modules), "");
  print_providers(result->providers);
  print_diagnostics(details.diagnostics, root);
  print_out(fmt::format("{}, {}, {}.\n", counted(result->modules.size(), "module call"),
                        counted(result->providers.size(), "provider"), counted(result->files.size(), "file")));
  return outcome;
}

}  // namespace

int run_inspect(const CommandLine& line, const Host& host) {
  CommonFlags flags = line.common;
  flags.json = flags.json || line.output_format == "terraform-modules";
  return run_for_roots(
      flags, host, [&](const std::string& root) { return host.call(&Engine::inspect, host.root_params(root, flags)); },
      [&](const std::string& root, AskedConfiguration asked) { return inspect_root(line, root, std::move(asked)); });
}

}  // namespace modlock::cli
