#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "backends/address/source_text.h"
#include "backends/base/text.h"
#include "plugin/cli/over_roots.h"
#include "plugin/lock/locked_text.h"
#include "plugin/report/inspect_formats.h"

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

// Returns "locked 1.2.0 (~> 1.1)", "locked v1.2.0 (8f2c01ab34cd)", "locked archive 9a0b…", "not locked", "local",
// "not resolved".
Cell lock_cell(const messages::InspectedModule& module) {
  if (!module.source) {
    return {"not resolved", Color::yellow};
  }
  if (!has_remote_source(module)) {
    return {"local"};
  }
  const std::string constraint = module.constraint ? fmt::format(" ({})", *module.constraint) : "";
  if (!module.locked) {
    return {"not locked" + constraint, Color::yellow};
  }
  const std::string version = locked_text(
      {.key = module.key,
       .version = module.locked_version,
       .source = *module.source,
       .hashes = {origin_of(module.commit.value_or(""), module.digest.value_or(""), module.checksum.value_or(""))}});
  const std::string locked = (version.empty() ? "locked" : "locked " + version) + constraint;
  return module.replaced_by ? Cell{locked + ", replaced by " + escape_controls(*module.replaced_by), Color::yellow}
                            : Cell{locked, Color::green};
}

std::string source_text(const messages::InspectedModule& module) {
  const std::string source = module.source.value_or(module.raw_source.value_or(""));
  return source + (module.repeated_by ? fmt::format("  [{}]", *module.repeated_by) : "");
}

void add_calls(const Branch& branch, const std::string& indent, bool utf8, std::vector<std::vector<Cell>>& rows) {
  std::size_t left = branch.calls.size();
  for (const auto& [name, call] : branch.calls) {
    const bool is_last = --left == 0;
    const std::string line = indent + (utf8 ? is_last ? "└─ " : "├─ " : is_last ? "`- " : "|- ");
    const std::string guide = utf8 ? "│  " : "|  ";
    const std::string below = indent + (is_last ? "   " : guide);
    if (call.module == nullptr) {
      rows.push_back({{line + name}});
    } else {
      rows.push_back({{line + "module." + call.module->key},
                      lock_cell(*call.module),
                      {.text = source_text(*call.module), .indent = below + (call.calls.empty() ? "   " : guide)}});
    }
    add_calls(call, below, utf8, rows);
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

void print_providers(const std::vector<messages::InspectedProvider>& providers, RootOutput& output) {
  if (providers.empty()) {
    return;
  }
  output.out("Providers:\n");
  const auto cells = [](const messages::InspectedProvider& provider) {
    return std::vector<Cell>{{"  " + provider.address}, {provider.builtin ? "built in" : reasons(provider)}};
  };
  output.table(mapped(providers, cells), Fit::wrap);
}

using AskedConfiguration = RootAnswer<messages::ConfigInspectResult>;

RootOutcome inspect_root(const CommandLine& line, RootOutput& output, AskedConfiguration asked) {
  auto& [result, details] = asked;
  RootOutcome outcome{.exit_code = exit_code_of_diagnostics(details.diagnostics), .json = {}};
  describe_worst(details.diagnostics, outcome);
  if (line.output_format == "terraform-modules") {
    output.add(details.diagnostics);
    outcome.json = terraform_modules(result->modules);
    return outcome;
  }
  if (line.common.json) {
    outcome.json = messages::encode(*result);
    return outcome;
  }
  output.out(".\n");
  std::vector<std::vector<Cell>> rows;
  add_calls(tree_of(result->modules), "", has_utf8_locale(), rows);
  output.table(rows, Fit::cut_middle);
  print_providers(result->providers, output);
  output.add(details.diagnostics);
  output.out(fmt::format("{}, {}, {}.\n", counted(result->modules.size(), "module call"),
                         counted(result->providers.size(), "provider"), counted(result->files.size(), "file")));
  return outcome;
}

}  // namespace

Result<int> run_inspect(const CommandLine& line, const Host& host) {
  const CommonFlags& flags = line.common;
  return run_for_roots(
      flags, host, [&](const std::string& root) { return host.call(&Engine::inspect, host.root_params(root, flags)); },
      [&](RootOutput& output, AskedConfiguration asked) { return inspect_root(line, output, std::move(asked)); });
}

Result<int> run_graph(const CommandLine& line, const Host& host) {
  CommonFlags flags = line.common;
  const bool is_dot = line.output_format == "dot";
  flags.comment = is_dot ? "// " : "%% ";
  const auto ask = [&](const std::string& root) {
    return host.call(&Engine::inspect, host.root_params(root, line.common));
  };
  return run_for_roots(flags, host, ask, [&](RootOutput& output, const auto& asked) {
    const auto& [result, details] = asked;
    RootOutcome outcome{.exit_code = exit_code_of_diagnostics(details.diagnostics), .json = {}};
    describe_worst(details.diagnostics, outcome);
    std::string text = module_graph(*result, is_dot ? GraphFormat::dot : GraphFormat::mermaid);
    if (!line.common.json) {
      output.add(details.diagnostics);
      output.out(text);
      return outcome;
    }
    outcome.json["format"] = line.output_format;
    outcome.json["graph"] = std::move(text);
    return outcome;
  });
}

}  // namespace modlock::cli
