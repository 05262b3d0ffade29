#include "tests/fidelity/requirements.h"

#include <fmt/format.h>

#include "backends/provider_version.h"

namespace modlock::fidelity {
namespace {

struct Module {
  std::string directory;  // below the root, "" for the root
  std::string providers = {};
  std::string blocks = {};
};

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

void require(Chance& chance, const Reader& reader, const Requirement& requirement,
             const std::vector<std::string>& constraints, Module& module) {
  const std::string version = joined(chance, constraints);
  if (requirement.is_implied) {
    module.blocks +=
        fmt::format("{} \"{}_thing\" \"one\" {{}}\n", chance.percent(50) ? "resource" : "data", requirement.local_name);
    if (!version.empty()) {
      module.blocks += fmt::format("provider \"{}\" {{\n  version = \"{}\"\n}}\n", requirement.local_name, version);
    }
    return;
  }
  const std::string source = some_source(chance, reader, requirement);
  if (source.empty() && !version.empty() && chance.percent(30)) {
    module.providers += fmt::format("    {} = \"{}\"\n", requirement.local_name, version);
    return;
  }
  module.providers += fmt::format("    {} = {{\n", requirement.local_name);
  module.providers += source.empty() ? "" : fmt::format("      source = \"{}\"\n", source);
  module.providers += version.empty() ? "" : fmt::format("      version = \"{}\"\n", version);
  module.providers += "    }\n";
}

std::vector<Module> some_tree(Chance& chance) {
  std::vector<Module> modules = {Module{.directory = ""}};
  for (std::size_t i = chance.percent(45) ? 0 : 1 + chance.below(3); i > 0; --i) {
    Module& caller = modules[chance.below(modules.size())];
    const std::string name = fmt::format("m{}", i);
    caller.blocks += fmt::format("module \"{}\" {{\n  source = \"./{}\"\n{}}}\n", name, name,
                                 chance.percent(20) ? "  count  = 2\n" : "");
    const std::string directory = caller.directory + name + "/";
    modules.push_back({.directory = directory});
  }
  return modules;
}

}  // namespace

std::string some_constraint(Chance& chance, const Offer& offer, const std::string& version) {
  const ProviderVersion of = *ProviderVersion::parse(version);
  const std::string one = fmt::format("{}", of.major);
  const std::string two = fmt::format("{}.{}", of.major, of.minor);
  const std::string three = fmt::format("{}.{}", two, of.patch);
  const std::string next = fmt::format("{}", of.major + 1);
  if (!of.prerelease.empty() || !of.metadata.empty()) {
    return chance.pick<std::string>({version, "= " + version, version, ">= " + version, "~> " + version});
  }
  return chance.pick<std::string>({three,
                                   "= " + three,
                                   "=" + three,
                                   ">= " + three,
                                   ">= " + two,
                                   ">= " + one,
                                   ">=" + two,
                                   "~> " + one,
                                   "~> " + two,
                                   "~> " + two + ".0",
                                   "~> " + three,
                                   "<= " + three,
                                   "< " + next,
                                   "< " + next + ".0.0-beta1",
                                   "> 0.0.1",
                                   "> 0",
                                   ">= 0.0.0-alpha",
                                   "!= 9.9.9",
                                   "!= " + chance.pick(offer.versions),
                                   "<= " + next + ".2",
                                   ">= 0" + one,
                                   "~> " + one + ".0"});
}

std::string odd_constraint(Chance& chance) {
  return chance.pick<std::string>({"v1.0.0", ">=  1.0", "1.2.3.4", "=> 1.0", "1.0.0 2.0.0", "1.x", "~>1", "1.0beta1",
                                   ">=1.0,", "> 1.0.0+build.1", "~> 1.0.0-0", "\\t>= 1.0", "1.0.0-a..b", "== 1.0.0",
                                   "latest", "*"});
}

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
      require(chance, reader, requirement, constraints, modules[place]);
    }
  }
  for (const Module& module : modules) {
    std::string text = module.blocks;
    if (!module.providers.empty()) {
      text = "terraform {\n  required_providers {\n" + module.providers + "  }\n}\n" + text;
    }
    to.files[module.directory + "main.tf"] = text;
  }
}

std::string state_of(const std::vector<std::string>& addresses) {
  std::string resources;
  for (const std::string& address : addresses) {
    resources += fmt::format(
        R"({}{{"mode":"managed","type":"thing","name":"of_{}","provider":"provider[\"{}\"]","instances":[]}})",
        resources.empty() ? "" : ",", address.substr(address.rfind('/') + 1), address);
  }
  return fmt::format(R"({{"version":4,"terraform_version":"1.5.0","serial":1,"lineage":"one","outputs":{{}},)"
                     R"("resources":[{}],"check_results":null}})",
                     resources) +
         "\n";
}

}  // namespace modlock::fidelity
