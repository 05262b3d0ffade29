#include "plugin/diff/package_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

#include "backends/base/parallel.h"
#include "plugin/config/core_requirement.h"
#include "plugin/constraint/provider_constraint.h"
#include "plugin/diff/effective_changes.h"
#include "plugin/diff/file_summary.h"
#include "plugin/diff/module_facts.h"
#include "plugin/diff/package_text.h"

namespace modlock {
namespace {

using messages::ModuleDiff;

constexpr std::string_view kBreaking = "breaking";
constexpr std::string_view kRisky = "risky";
constexpr std::string_view kNotable = "notable";

enum Effect : unsigned { kAdded = 1, kRemoved = 2, kChanged = 4 };

std::string to_string(Effect effect) {
  return effect == kAdded ? "added" : effect == kRemoved ? "removed" : "changed";
}

// What a change of a kind of facts means. {0} is the name, {1} and {2} what was and what is.
struct FactRule {
  FactKind kind;
  unsigned effects;  // any of these
  std::string_view rule;
  std::string_view grade;
  std::string_view text;
  std::string_view after = {};  // only for this new value; empty: any
};

constexpr FactRule kFactRules[] = {
    {FactKind::variable, kRemoved, "variable-removed", kBreaking, "variable \"{0}\" was removed"},
    {FactKind::variable_required, kAdded | kChanged, "variable-required", kBreaking,
     "variable \"{0}\" has no default and must be set", "required"},
    {FactKind::variable_type, kChanged, "variable-type", kNotable,
     "the type of variable \"{0}\" changed from {1} to {2}"},
    {FactKind::variable_sensitive, kChanged, "sensitive-removed", kRisky,
     "variable \"{0}\" is no longer sensitive: its value may be printed", "plain"},
    {FactKind::variable_nullable, kChanged, "variable-nullable", kNotable, "variable \"{0}\" was {1} and is {2}"},
    {FactKind::variable_default, kChanged, "variable-default", kNotable,
     "the default of variable \"{0}\" changed from {1} to {2}"},
    {FactKind::variable_validation, kChanged, "condition-changed", kNotable,
     "variable \"{0}\" had {1} validations and has {2}"},
    {FactKind::output, kRemoved, "output-removed", kBreaking, "output \"{0}\" was removed"},
    {FactKind::output_sensitive, kChanged, "sensitive-removed", kRisky,
     "output \"{0}\" is no longer sensitive: its value may be printed", "plain"},
    {FactKind::output_sensitive, kChanged, "output-sensitive", kNotable, "output \"{0}\" is now sensitive",
     "sensitive"},
    {FactKind::provider, kAdded, "provider-added", kRisky, "provider {0} is new: it runs at plan and apply"},
    {FactKind::provider, kRemoved, "provider-removed", kNotable, "provider {0} is no longer used"},
    {FactKind::provider_constraint, kChanged, "provider-constraint", kNotable,
     "the constraint of provider {0} changed from {1} to {2}"},
    {FactKind::provider_configuration, kAdded | kChanged, "provider-configuration", kRisky,
     "the configuration {0} was {3}: it may send requests to another place"},
    {FactKind::provider_meta, kAdded | kRemoved | kChanged, "provider-configuration", kNotable,
     "{0}, which sends data of the module to its provider, was {3}"},
    {FactKind::core_version, kChanged, "client-version", kNotable,
     "the required version of the client changed from {1} to {2}"},
    {FactKind::core_version, kAdded, "client-version", kNotable, "the client must have a version {2}"},
    {FactKind::module_source, kAdded, "module-source", kRisky, "it calls a module from {0}, which is new"},
    {FactKind::computed_source, kAdded | kChanged, "module-source", kRisky, "the computed source of {0} was {3}"},
    {FactKind::module_call, kChanged, "module-changed", kNotable, "{0} calls {2} instead of {1}"},
    {FactKind::module_call, kRemoved, "module-removed", kRisky,
     "{0} is no longer called: apply destroys its resources that no moved block names"},
    {FactKind::provisioner, kAdded | kChanged, "provisioner", kRisky, "the provisioner {0} was {3}"},
    {FactKind::connection, kAdded | kChanged, "connection", kRisky, "the connection of a provisioner was {3}: {0}"},
    {FactKind::code_data, kAdded | kChanged, "data-source", kRisky,
     "{0}, which runs a program, sends a request, or reads a file or a state, was {3}"},
    {FactKind::secret_data, kAdded, "secret-read", kRisky, "{0}, which reads a secret, was added"},
    {FactKind::ephemeral, kAdded | kChanged, "ephemeral", kRisky, "{0}, which is opened at plan, was {3}"},
    {FactKind::code_resource, kAdded, "code-resource", kRisky, "{0}, which runs code or writes files, was {3}"},
    {FactKind::access_resource, kAdded, "access", kRisky, "{0}, which grants access or copies data, was {3}"},
    {FactKind::outside_path, kAdded, "outside-path", kRisky, "it reads outside of the module: {0}"},
    {FactKind::provider_function, kAdded, "provider-function", kRisky, "it calls {0}, which runs code of a provider"},
    {FactKind::nonsensitive, kAdded, "nonsensitive", kNotable, "it shows a sensitive value: {0}"},
    {FactKind::address, kAdded, "address", kRisky, "it names {0}, which is new"},
    {FactKind::open_network, kAdded, "open-network", kRisky, "it names every address: {0}"},
    {FactKind::public_access, kAdded, "public-access", kRisky, "it names everyone: {0}"},
    {FactKind::removed, kAdded | kChanged, "removed-block", kRisky, "a removed block for {0} was {3}"},
    {FactKind::import, kAdded | kChanged, "import-block", kNotable, "an import block for {0} was {3}"},
    {FactKind::resource, kRemoved, "resource-removed", kRisky,
     "{0} was removed without a moved block: apply destroys it"},
    {FactKind::prevent_destroy, kChanged, "prevent-destroy", kNotable, "{0} is no longer protected from destruction",
     "allows"},
    {FactKind::order, kChanged, "order-changed", kNotable, "{0} changed from {1} to {2}"},
    {FactKind::condition, kChanged, "condition-changed", kNotable, "{0} had {1} conditions and has {2}"},
    {FactKind::check, kRemoved, "condition-changed", kNotable, "{0} was removed"},
    {FactKind::unreadable, kAdded | kChanged, "unreadable", kRisky, "{0} cannot be read completely"},
    {FactKind::unknown_block, kAdded | kChanged, "unknown-block", kRisky,
     "the block {0}, whose type is not known, was {3}"},
};

// The lists of the result. A facet changes a declaration that exists on both sides.
struct Section {
  FactKind kind;
  std::vector<messages::ChangedItem> ModuleDiff::*list;
  std::string_view prefix;
  bool is_facet = false;
};
constexpr std::array kSections = {
    Section{FactKind::variable, &ModuleDiff::variables, ""},
    Section{FactKind::variable_required, &ModuleDiff::variables, "", true},
    Section{FactKind::variable_type, &ModuleDiff::variables, "", true},
    Section{FactKind::variable_sensitive, &ModuleDiff::variables, "", true},
    Section{FactKind::variable_nullable, &ModuleDiff::variables, "", true},
    Section{FactKind::variable_default, &ModuleDiff::variables, "default ", true},
    Section{FactKind::output, &ModuleDiff::outputs, ""},
    Section{FactKind::output_sensitive, &ModuleDiff::outputs, "", true},
    Section{FactKind::provider, &ModuleDiff::providers, ""},
    Section{FactKind::provider_constraint, &ModuleDiff::providers, "", true},
    Section{FactKind::provider_configuration, &ModuleDiff::providers, ""},
    Section{FactKind::module_call, &ModuleDiff::modules, ""},
    Section{FactKind::provisioner, &ModuleDiff::provisioners, ""},
    Section{FactKind::code_data, &ModuleDiff::data_sources, ""},
    Section{FactKind::secret_data, &ModuleDiff::data_sources, ""},
    Section{FactKind::data_source, &ModuleDiff::data_sources, ""},
    Section{FactKind::ephemeral, &ModuleDiff::data_sources, ""},
    Section{FactKind::resource_type, &ModuleDiff::resources, ""},
};

// Kinds whose facts are the same under another name: a renamed resource brings its provisioner along. The value of each
// has all that matters, unlike that of an open network, which is only its address.
constexpr std::array kRenamed = {FactKind::provisioner,           FactKind::connection,      FactKind::code_data,
                                 FactKind::code_resource,         FactKind::access_resource, FactKind::outside_path,
                                 FactKind::nonsensitive,          FactKind::computed_source, FactKind::ephemeral,
                                 FactKind::provider_configuration};

struct FactChange {
  const Fact* before = nullptr;
  const Fact* after = nullptr;

  const Fact& any() const { return after != nullptr ? *after : *before; }
  Effect effect() const { return before == nullptr ? kAdded : after == nullptr ? kRemoved : kChanged; }
};

std::string unscoped(const std::string& name) {
  const std::size_t colon = name.find(": ");
  return colon == std::string::npos ? name : name.substr(colon + 2);
}

// The local calls that both packages have.
struct SharedCalls {
  std::map<std::string, std::set<std::string>, std::less<>> directories;  // the new ones of each old one
  std::vector<PackageFinding> replaced;      // calls of another module that the package called before
  std::set<std::string, std::less<>> named;  // old calls without a finding: their resources have one, or do not exist
};

SharedCalls find_shared_calls(const PackageText& before, const PackageText& after, const Context& context) {
  SharedCalls shared;
  std::set<std::pair<const ModuleText*, const ModuleText*>> seen;
  std::vector<std::pair<const ModuleText*, const ModuleText*>> open;
  if (!before.modules.empty() && !after.modules.empty()) {
    open.emplace_back(&before.modules.at(before.directory), &after.modules.at(after.directory));
  }
  while (!open.empty() && context.check()) {
    const auto [old, now] = open.back();
    open.pop_back();
    if (!seen.emplace(old, now).second) {
      continue;
    }
    shared.directories[old->directory].insert(now->directory);
    for (const MergedBlock& call : old->blocks) {
      const ModuleText* target = before.called(*old, call);
      const Argument* count = call.find("count");
      const bool is_absent =
          call.type == "module" && count != nullptr && source_text(*count->file, count->attribute->value.range) == "0";
      if (is_absent || (target != nullptr && after.modules.count(target->directory) == 0)) {
        shared.named.insert(old->scope + call.address());
      }
    }
    for (const MergedBlock& call : now->blocks) {
      const ModuleText* target = after.called(*now, call);
      const auto known = old->by_address.find(call.address());
      if (target == nullptr || known == old->by_address.end()) {
        continue;
      }
      const MergedBlock& old_call = *known->second;
      const ModuleText* old_target = before.called(*old, old_call);
      const bool is_same = old_target != nullptr && old_target->directory == target->directory;
      if (!is_same && before.modules.count(target->directory) != 0) {
        const std::string name = now->scope + call.address();
        shared.replaced.push_back(
            {{"module-source", std::string(kRisky),
              fmt::format("{} calls {} instead of {}", name, literal_text(call.find("source")).value_or(""),
                          literal_text(old_call.find("source")).value_or("a computed source")),
              Location{old_call.file->path, old_call.block->header_range},
              Location{call.file->path, call.block->header_range}, std::nullopt},
             name});
      } else if (old_target != nullptr) {
        open.emplace_back(old_target, target);
      }
    }
  }
  return shared;
}

class PackageComparison {
 public:
  PackageComparison(const CallUse* use, SharedCalls calls, const KnownNames& known, ModuleDiff& out,
                    std::vector<PackageFinding>& findings)
      : use_(use), calls_(std::move(calls)), known_(known), out_(out), findings_(findings) {}

  void run(const std::vector<Fact>& old_facts, const std::vector<Fact>& new_facts, const PackageText& before,
           const PackageText& after, ClientKind tool) {
    pair(old_facts, new_facts);
    drop_renamed();
    drop_moved(new_facts);
    for (const FactChange& change : changes_) {
      list(change);
      check(change);
    }
    check_locked_providers(new_facts);
    check_client(before, after, tool);
    std::move(calls_.replaced.begin(), calls_.replaced.end(), std::back_inserter(findings_));
  }

 private:
  void pair(const std::vector<Fact>& old_facts, const std::vector<Fact>& new_facts) {
    std::map<std::pair<FactKind, std::string_view>, FactChange> paired;
    for (const Fact& fact : old_facts) {
      paired[{fact.kind, fact.name}].before = &fact;
    }
    for (const Fact& fact : new_facts) {
      paired[{fact.kind, fact.name}].after = &fact;
    }
    for (const auto& [key, change] : paired) {
      if (change.effect() != kChanged || change.before->value != change.after->value) {
        changes_.push_back(change);
      }
    }
  }

  void drop_renamed() {
    std::multimap<std::pair<FactKind, std::string_view>, const Fact*> removed;
    for (const FactChange& change : changes_) {
      if (change.effect() != kAdded && std::ranges::find(kRenamed, change.any().kind) != kRenamed.end()) {
        removed.emplace(std::pair{change.before->kind, std::string_view(change.before->value)}, change.before);
      }
    }
    std::set<const Fact*> gone;
    std::erase_if(changes_, [&](const FactChange& change) {
      const auto old = change.effect() == kRemoved
                           ? removed.end()
                           : removed.find({change.after->kind, std::string_view(change.after->value)});
      if (old == removed.end()) {
        return false;
      }
      gone.insert(old->second);
      removed.erase(old);
      return true;
    });
    std::erase_if(changes_, [&](const FactChange& change) {
      return change.effect() == kRemoved && gone.count(change.before) != 0;
    });
  }

  // Nothing is destroyed if there was no instance, or if a moved block or a module in another directory has the
  // resource.
  void drop_moved(const std::vector<Fact>& new_facts) {
    std::set<std::string_view> resources;
    for (const auto& [from, to] : known_.moved) {
      moved_.insert(from);
    }
    for (const Fact& fact : new_facts) {
      if (fact.kind == FactKind::removed) {
        moved_.insert(fact.name);
      } else if (fact.kind == FactKind::resource) {
        resources.insert(fact.name);
      }
    }
    const auto is_elsewhere = [&](std::string_view name) {
      const std::size_t colon = name.find(": ");
      const auto directories =
          colon == std::string_view::npos ? calls_.directories.end() : calls_.directories.find(name.substr(0, colon));
      return directories != calls_.directories.end() &&
             std::ranges::all_of(directories->second, [&](const std::string& directory) {
               return resources.count(fmt::format("{}{}", directory, name.substr(colon))) != 0;
             });
    };
    std::erase_if(changes_, [&](const FactChange& change) {
      return change.effect() == kRemoved && change.before->kind == FactKind::resource &&
             (change.before->value == "absent" || moved_.count(change.before->name) != 0 ||
              is_elsewhere(change.before->name));
    });
  }

  void list(const FactChange& change) {
    const auto section =
        std::ranges::find_if(kSections, [&](const Section& one) { return one.kind == change.any().kind; });
    if (section == kSections.end() || (section->is_facet && change.effect() != kChanged)) {
      return;
    }
    const auto text = [&](const Fact* fact) {
      return fact == nullptr ? "" : std::string(section->prefix) + fact->shown;
    };
    (out_.*section->list)
        .push_back({.name = change.any().name,
                    .change = to_string(change.effect()),
                    .before = text(change.before),
                    .after = text(change.after)});
  }

  // The interface of a module is that of the called directory.
  static bool is_interface(FactKind kind) {
    return kind <= FactKind::output_sensitive || kind == FactKind::core_version;
  }

  void check(const FactChange& change) {
    const Fact& fact = change.any();
    const bool is_nested = is_interface(fact.kind) && fact.name.find(": ") != std::string::npos;
    if (is_nested || (fact.kind == FactKind::module_call && is_known(change))) {
      return;
    }
    for (const FactRule& rule : kFactRules) {
      const bool has_effect = rule.kind == fact.kind && (rule.effects & change.effect()) != 0;
      if (has_effect && (rule.after.empty() || rule.after == fact.value)) {
        add(change, rule);
      }
    }
  }

  // Whether a change of a module call is a finding elsewhere, or destroys nothing.
  bool is_known(const FactChange& change) const {
    const std::string& name = change.any().name;
    if (change.effect() == kRemoved) {
      return moved_.count(name) != 0 || calls_.named.count(name) != 0;
    }
    return std::ranges::any_of(calls_.replaced, [&](const PackageFinding& finding) { return finding.subject == name; });
  }

  void add(const FactChange& change, const FactRule& rule) {
    const Fact& fact = change.any();
    const bool is_common = fact.kind == FactKind::provider_constraint || fact.kind == FactKind::provider_meta;
    const std::string text =
        fmt::format(fmt::runtime(rule.text), is_common ? unscoped(fact.name) : fact.name,
                    change.before == nullptr ? "" : change.before->shown,
                    change.after == nullptr ? "" : change.after->shown, to_string(change.effect()));
    const auto place = [](const Fact* side) { return side == nullptr ? std::nullopt : std::optional(side->location); };
    PackageFinding finding{{std::string(rule.rule), std::string(rule.grade), text, place(change.before),
                            place(change.after), std::nullopt},
                           fact.subject};
    if (is_common) {
      finding.subject = fact.location.path;
      finding.causes = {text};
    } else if (is_in("code-resource access module-source", rule.rule) && change.before == nullptr) {
      finding.causes = {"new " + fact.subject};
    } else if (change.effect() == kChanged && change.before->plain_value == change.after->plain_value) {
      NamedFiles files = fact.files;
      files.add(change.before->files);
      finding.causes = files.causes();
    }
    if (rule.grade == kBreaking && use_ != nullptr && !concerns_caller(fact, rule, finding)) {
      return;
    }
    findings_.push_back(std::move(finding));
  }

  // Completes a finding that breaks some callers for this one. Returns false if there is none for it.
  bool concerns_caller(const Fact& fact, const FactRule& rule, messages::DiffFinding& finding) const {
    const auto& used = fact.kind == FactKind::output ? use_->outputs : use_->arguments;
    const auto place = used.find(fact.name);
    if (fact.kind == FactKind::variable_required) {
      if (place != used.end()) {
        return false;
      }
      finding.call = use_->call;
      finding.message += fmt::format("; the call does not set it");
      return true;
    }
    if (place != used.end()) {
      finding.call = place->second;
      finding.message += fact.kind == FactKind::output ? "; it is used here" : "; the call sets it";
    } else if (rule.rule != "output-removed" || !use_->uses_all_outputs) {
      finding.grade = kNotable;
    }
    return true;
  }

  void check_locked_providers(const std::vector<Fact>& new_facts) {
    if (use_ == nullptr || use_->providers == nullptr) {
      return;
    }
    for (const Fact& fact : new_facts) {
      if (fact.kind != FactKind::provider_constraint) {
        continue;
      }
      const std::string name = unscoped(fact.name);
      const auto constraint = ProviderConstraint::parse(fact.shown);
      const auto locked = std::find_if(use_->providers->begin(), use_->providers->end(),
                                       [&](const auto& entry) { return entry.first.to_string() == name; });
      if (constraint && locked != use_->providers->end() && !constraint->allows(locked->second.version)) {
        findings_.push_back({{"provider-locked", std::string(kBreaking),
                              fmt::format("it requires provider {} {}, and {} is locked", name, fact.shown,
                                          locked->second.version.to_string()),
                              std::nullopt, fact.location, use_->call}});
      }
    }
  }

  // A client that does not meet a requirement rejects the module. What it rejected before is no change.
  void check_client(const PackageText& before, const PackageText& after, ClientKind tool) {
    std::set<std::string> known;
    for (const PackageText* package : {&before, &after}) {
      for (const auto& [directory, module] : package->modules) {
        const auto requirements = read_core_requirements(module.files, tool);
        const bool asks = !requirements.empty() && use_ != nullptr && use_->client_version;
        const std::string version = asks ? use_->client_version() : "";
        for (const Diagnostic& found :
             version.empty() ? Diagnostics() : check_core_requirements(requirements, tool, version)) {
          const std::string& text = found.what.message;
          if (package == &before || known.count(text) != 0) {
            known.insert(text);
            continue;
          }
          std::erase_if(findings_, [&](const PackageFinding& finding) {
            return finding.rule == "client-version" && finding.after == found.what.location;
          });
          findings_.push_back(
              {{"client-version", std::string(kBreaking), text, std::nullopt, found.what.location, use_->call},
               found.what.location->path,
               {text}});
        }
      }
    }
  }

  const CallUse* use_;
  SharedCalls calls_;
  const KnownNames& known_;
  ModuleDiff& out_;
  std::vector<PackageFinding>& findings_;
  std::vector<FactChange> changes_;
  std::set<std::string_view> moved_;  // what moved and removed blocks name
};

}  // namespace

int grade_rank(std::string_view grade) {
  return grade == kBreaking ? 3 : grade == kRisky ? 2 : grade == kNotable ? 1 : 0;
}

std::span<const DiffRule> diff_rules() {
  static const std::vector<DiffRule> rules = [] {
    std::vector<DiffRule> out;
    for (const FactRule& rule : kFactRules) {
      const auto known = std::ranges::find_if(out, [&](const DiffRule& one) { return one.name == rule.rule; });
      if (known == out.end()) {
        out.push_back({rule.rule, rule.grade, rule.text});
      }
    }
    out.push_back({"provider-locked", kBreaking, "the locked provider does not meet a constraint"});
    out.push_back({"effective-change", kRisky, "something has another effect although the caller changes nothing"});
    out.push_back({"new-resource", kRisky, "a resource is created that the module did not have"});
    out.push_back({"secret-shown", kRisky, "a tag, name or description refers to a secret"});
    out.push_back({"script", kRisky, "a script or a binary was added, changed or made executable"});
    return out;
  }();
  return rules;
}

Result<ModuleDiff> diff_packages(const PackagePlace& before, const PackagePlace& after, const CallUse* use,
                                 ClientKind tool, const Context& context) {
  const std::array<const PackagePlace*, 2> places = {&before, &after};
  std::array<Result<PackageText>, 2> packages;
  std::array<Result<std::vector<Fact>>, 2> facts;
  parallel_for(places.size(), places.size(), [&](std::size_t i) {
    const auto& [root, directory] = *places.at(i);
    packages.at(i) = root.empty() ? PackageText() : PackageText::read(root, directory, tool, context);
  });
  for (auto& package : packages) {
    if (!package) {
      return fail(std::move(package.error()));
    }
  }
  ModuleDiff out;
  std::vector<PackageFinding> findings;
  out.files = summarize_files(*packages[0], *packages[1], findings);
  const KnownNames known = known_names(*packages[0], *packages[1]);
  parallel_for(places.size(), places.size(), [&](std::size_t i) {
    facts.at(i) = collect_facts(*packages.at(i), {*packages.at(i), *packages.at(1 - i), known, i == 0}, context);
  });
  {
    MODLOCK_TRY(const auto old_facts, std::move(facts[0]));
    MODLOCK_TRY(const auto new_facts, std::move(facts[1]));
    PackageComparison(use, find_shared_calls(*packages[0], *packages[1], context), known, out, findings)
        .run(old_facts, new_facts, *packages[0], *packages[1], tool);
  }
  find_effective_changes(*packages[0], *packages[1], known, context, findings);
  MODLOCK_TRY(context.check());
  join_findings(findings);
  if (before.root.empty() || after.root.empty()) {
    std::erase_if(findings, [&](const PackageFinding& finding) {
      const bool is_unmet = finding.grade == kBreaking && is_in("provider-locked client-version", finding.rule);
      return after.root.empty() || (finding.grade != kRisky && !is_unmet);
    });
  }
  const auto order = [](const PackageFinding& finding) {
    const auto& place = finding.after ? finding.after : finding.before;
    return std::tuple(-grade_rank(finding.grade), place ? place->path : "",
                      place && place->range ? place->range->start.line : 0U);
  };
  std::ranges::stable_sort(findings, [&](const auto& left, const auto& right) { return order(left) < order(right); });
  out.findings.assign(std::make_move_iterator(findings.begin()), std::make_move_iterator(findings.end()));
  return out;
}

}  // namespace modlock
