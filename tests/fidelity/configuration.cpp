#include "tests/fidelity/configuration.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>

namespace modlock::fidelity {
namespace {

// An entry of required_providers; what is empty is not written.
struct Provider {
  std::string local_name;
  std::string source;
  std::string version;
  bool is_short = false;  // the version alone, as it was written before there were sources
};

struct Module {
  std::string directory;  // below the root, "" for the root
  std::vector<Provider> providers = {};
  std::string blocks = {};
  bool is_repeated = false;    // by its call, or by one above
  bool is_configured = false;  // it has a provider block that says something
};

// Marks a case once, however often it has it.
void note(Case& to, const std::string& mark) {
  if (std::find(to.marks.begin(), to.marks.end(), mark) == to.marks.end()) {
    to.marks.push_back(mark);
  }
}

std::string upper_case(std::string text) {
  for (char& c : text) {
    c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  }
  return text;
}

// One of the ways to spell where a provider comes from; empty where nothing has to be said.
std::string some_source(Chance& chance, const Reader& reader, const Requirement& requirement) {
  const std::string& name = requirement.offer->name;
  if (requirement.host != reader.default_host()) {
    return requirement.host == kPrivateHost && chance.percent(20) ? "Private.Example.test:443/" + name
                                                                  : requirement.address();
  }
  if (name.starts_with("hashicorp/") && chance.percent(40)) {
    return requirement.local_name == requirement.offer->type() && chance.percent(50) ? "" : requirement.offer->type();
  }
  if (chance.percent(10)) {
    return upper_case(name.substr(0, name.find('/'))) + "/" + requirement.offer->type();
  }
  return chance.percent(20) ? requirement.address() : name;
}

std::string joined(Chance& chance, const std::vector<std::string>& constraints) {
  const std::vector<std::string> commas = {", ", ", ", ",", " , "};
  return fmt::format("{}", fmt::join(constraints, chance.pick(commas)));
}

// A block that uses a provider without declaring it: by the name of its type, or by an argument.
std::string some_use(Chance& chance, const Reader& reader, const std::string& local_name, const Module& module,
                     Case& to) {
  const std::string type = local_name + "_thing";
  switch (chance.below(7)) {
    case 0:
      return fmt::format("data \"{}\" \"one\" {{}}\n", type);
    case 1:
      note(to, "check block");
      return fmt::format(
          "check \"one_{0}\" {{\n  data \"{1}\" \"checked\" {{}}\n  assert {{\n"
          "    condition     = data.{1}.checked.id != \"\"\n    error_message = \"No.\"\n  }}\n}}\n",
          local_name, type);
    case 2:
      if (module.directory.empty()) {  // nowhere else may they be
        note(to, "import block");
        return fmt::format("import {{\n  to = {0}.imported\n  id = \"one\"\n}}\nresource \"{0}\" \"imported\" {{}}\n",
                           type);
      }
      break;
    case 3:
      return fmt::format("resource \"other_thing\" \"by_{0}\" {{\n  provider = {0}\n}}\n", local_name);
    case 4:
      if (reader.knows_ephemeral) {
        note(to, "ephemeral block");
        return fmt::format("ephemeral \"{}\" \"short\" {{}}\n", type);
      }
      break;
    default:
      break;
  }
  return fmt::format("resource \"{}\" \"one\" {{}}\n", type);
}

void require(Chance& chance, const Reader& reader, const Requirement& requirement,
             const std::vector<std::string>& constraints, Module& module, Case& to) {
  const std::string& name = requirement.local_name;
  const std::string version = joined(chance, constraints);
  if (requirement.is_implied) {
    module.blocks += some_use(chance, reader, name, module, to);
    if (!version.empty()) {
      module.blocks += fmt::format("provider \"{}\" {{\n  version = \"{}\"\n}}\n", name, version);
      module.is_configured = true;
    }
    return;
  }
  Provider provider{.local_name = name, .source = some_source(chance, reader, requirement), .version = version};
  provider.is_short = provider.source.empty() && !version.empty() && chance.percent(30);
  module.providers.push_back(std::move(provider));
  if (chance.percent(10)) {
    module.blocks += fmt::format("provider \"{}\" {{}}\n", name);
  }
  if (chance.percent(10)) {
    module.blocks += some_use(chance, reader, name, module, to);
  }
}

std::vector<Module> some_tree(Chance& chance) {
  std::vector<Module> modules = {Module{.directory = ""}};
  for (std::size_t i = chance.percent(45) ? 0 : 1 + chance.below(3); i > 0; --i) {
    Module& caller = modules[chance.below(modules.size())];
    const std::string name = fmt::format("m{}", i);
    const bool is_repeated = chance.percent(20);
    caller.blocks +=
        fmt::format("module \"{}\" {{\n  source = \"./{}\"\n{}}}\n", name, name, is_repeated ? "  count  = 2\n" : "");
    const std::string directory = caller.directory + name + "/";
    modules.push_back({.directory = directory, .is_repeated = is_repeated || caller.is_repeated});
  }
  return modules;
}

std::string native(const std::vector<Provider>& providers) {
  std::string text = "terraform {\n  required_providers {\n";
  for (const Provider& provider : providers) {
    if (provider.is_short) {
      text += fmt::format("    {} = \"{}\"\n", provider.local_name, provider.version);
      continue;
    }
    text += fmt::format("    {} = {{\n", provider.local_name);
    text += provider.source.empty() ? "" : fmt::format("      source = \"{}\"\n", provider.source);
    text += provider.version.empty() ? "" : fmt::format("      version = \"{}\"\n", provider.version);
    text += "    }\n";
  }
  return text + "  }\n}\n";
}

std::string json(const std::vector<Provider>& providers) {
  std::vector<std::string> entries;
  for (const Provider& provider : providers) {
    std::vector<std::string> members;
    if (provider.is_short) {
      entries.push_back(fmt::format("      \"{}\": \"{}\"", provider.local_name, provider.version));
      continue;
    }
    for (const auto& [name, value] : {std::pair("source", provider.source), std::pair("version", provider.version)}) {
      if (!value.empty()) {
        members.push_back(fmt::format("\"{}\": \"{}\"", name, value));
      }
    }
    entries.push_back(fmt::format("      \"{}\": {{{}}}", provider.local_name, fmt::join(members, ", ")));
  }
  return fmt::format("{{\n  \"terraform\": {{\n    \"required_providers\": {{\n{}\n    }}\n  }}\n}}\n",
                     fmt::join(entries, ",\n"));
}

// What it says of one provider counts instead of what the others say.
void write_override(Chance& chance, const Module& module, Case& to) {
  Provider provider = chance.pick(module.providers);
  provider.version = chance.pick<std::string>({"", provider.version, ">= 0.0.1", "< 9.0.0, != 9.9.9"});
  provider.is_short = provider.is_short && !provider.version.empty();
  if (chance.percent(50)) {
    to.files[module.directory + "override.tf"] = native({provider});
  } else {
    to.files[module.directory + "one_override.tf.json"] = json({provider});
  }
  note(to, "override file");
}

void write_module(Chance& chance, const Reader& reader, const Module& module, Case& to) {
  const std::string extension = !reader.is_terraform && chance.percent(10) ? "tofu" : "tf";
  std::string text = module.blocks;
  if (!module.providers.empty() && chance.percent(15)) {
    to.files[module.directory + "versions." + extension + ".json"] = json(module.providers);
    note(to, "JSON");
  } else if (!module.providers.empty()) {
    text = native(module.providers) + text;
  }
  if (!module.providers.empty() && chance.percent(6)) {
    write_override(chance, module, to);
  }
  to.files[module.directory + "main." + extension] = text;
  if (extension == "tofu") {
    note(to, ".tofu");
    to.files[module.directory + "main.tf"] = "this is not read\n";
  }
}

}  // namespace

void write_configuration(Chance& chance, const Reader& reader, const std::vector<Requirement>& requirements, Case& to) {
  std::vector<Module> modules = some_tree(chance);
  to.calls_modules = modules.size() > 1;
  for (const Requirement& requirement : requirements) {
    // Each constraint in some module; what has none is required somewhere all the same.
    std::map<std::size_t, std::vector<std::string>> places;
    places[chance.below(modules.size())];
    for (const std::string& constraint : requirement.constraints) {
      places[chance.below(modules.size())].push_back(constraint);
    }
    for (const auto& [place, constraints] : places) {
      require(chance, reader, requirement, constraints, modules[place], to);
    }
  }
  for (const Module& module : modules) {
    write_module(chance, reader, module, to);
    to.is_left_to_client = to.is_left_to_client || (module.is_repeated && module.is_configured);
  }
}

void write_test_file(Chance& chance, const Reader& reader, const Requirement& requirement, Case& to) {
  Module module{.directory = "testing/"};
  require(chance, reader, requirement, requirement.constraints, module, to);
  write_module(chance, reader, module, to);
  to.files[chance.percent(50) ? "tests/one.tftest.hcl" : "one.tftest.hcl"] =
      "run \"one\" {\n  command = plan\n  module {\n    source = \"./testing\"\n  }\n}\n";
  note(to, "test file");
}

}  // namespace modlock::fidelity
