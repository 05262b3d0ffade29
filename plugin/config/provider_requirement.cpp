#include "plugin/config/provider_requirement.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "plugin/config/module_call.h"
#include "plugin/config/traversal.h"
#include "plugin/constraint/provider_constraint.h"
#include "plugin/eval/evaluate.h"
#include "plugin/hcl/characters.h"
#include "plugin/value/convert.h"

namespace modlock {
namespace {

using DeclaredBy = ProviderRequirement::DeclaredBy;

constexpr auto kRoles = {ConfigFile::Role::primary, ConfigFile::Role::override_file};

// A constant as a string, which may be null; nullopt: it is not a constant string.
std::optional<eval::Value> read_text(const hcl::Attribute& attribute, const ConfigText& file) {
  const auto value = eval::constant_value(attribute.value, file.json, file.path);
  const auto text = value ? eval::convert(*value, eval::Type::string()) : tl::unexpected(eval::ConversionError());
  return text ? std::optional(*text) : std::nullopt;
}

std::string read_alias(const hcl::Block& block, const ConfigText& file) {
  const hcl::Attribute* attribute = block.body.find("alias");
  const auto text = attribute != nullptr ? read_text(*attribute, file) : std::nullopt;
  return text && !text->is_null() ? text->as_string() : std::string();
}

// Only for a string; OpenTofu converts nothing in required_providers.
std::optional<std::string> constant_text(const hcl::Expression& expression, const ConfigText& file) {
  const auto value = eval::constant_value(expression, file.json, file.path);
  const bool is_text = value && value->is(eval::Type::Kind::string) && !value->is_null();
  return is_text ? std::optional(value->as_string()) : std::nullopt;
}

std::string key_of(const hcl::ObjectItem& item, const ConfigText& file) {
  if (const auto* name = std::get_if<hcl::Variable>(&item.key.node); name != nullptr && item.bare_key) {
    return name->name;
  }
  return item.bare_key ? std::string() : constant_text(item.key, file).value_or(std::string());
}

// The target of an import block, as far as it matters here.
struct ImportTarget {
  std::string address;  // "module.a.data.aws_ami.this", without keys
  std::string type;
  bool in_module = false;
};

// nullopt: it is not a resource. For Terraform `resource.a.b` is a.b.
std::optional<ImportTarget> read_target(const hcl::Expression& expression, const ConfigText& file, ClientKind tool) {
  const auto traversal = read_traversal(expression, file.path);
  std::vector<std::string> names;
  for (const Traversal::Step& step : traversal ? traversal->steps : std::vector<Traversal::Step>()) {
    if (!step.key) {
      names.push_back(step.name);
    }
  }
  std::size_t at = 0;
  while (at + 1 < names.size() && names[at] == "module") {
    at += 2;
  }
  ImportTarget target{.address = {}, .type = {}, .in_module = at > 0};
  if (tool == ClientKind::terraform && at < names.size() && names[at] == "resource") {
    names.erase(names.begin() + static_cast<std::ptrdiff_t>(at));
  }
  const bool has_mode = at < names.size() && (names[at] == "data" || names[at] == "ephemeral");
  if (names.size() != at + (has_mode ? 3 : 2)) {
    return std::nullopt;
  }
  target.address = fmt::format("{}", fmt::join(names, "."));
  target.type = std::move(names[names.size() - 2]);
  return target;
}

// The local name that a type implies: everything before the first underscore.
std::string implied_name(const std::string& type) {
  const std::string prefix = type.substr(0, type.find('_'));
  return normalize_provider_part(prefix).value_or(prefix);
}

void sort_by_address(std::vector<ProviderRequirement>& requirements) {
  std::ranges::stable_sort(requirements, {}, &ProviderRequirement::address);
}

class RequirementReader {
 public:
  RequirementReader(const std::vector<ConfigText>& files, ClientKind tool, Diagnostics& diagnostics)
      : files_(files), tool_(tool), diagnostics_(diagnostics) {}

  std::vector<ProviderRequirement> read() {
    read_required();
    for (const auto& [name, entry] : required_) {
      declared_.insert(name);
      requirements_.push_back(entry);
    }
    for (ProviderRequirement& block : read_blocks()) {
      add(std::move(block));
    }
    read_uses();
    for (ProviderRequirement& requirement : requirements_) {
      check_constraint(requirement);
      check_address(requirement);
    }
    sort_by_address(requirements_);
    return std::move(requirements_);
  }

 private:
  // One block in the primary files, then those of override files, which replace whole entries. Entries without a usable
  // address are left out and reported. Other content of an entry is skipped.
  void read_required() {
    for (const auto role : kRoles) {
      for_each_block(files_, role, "terraform", [&](const ConfigText& file, const hcl::Block& block) {
        for (const hcl::Block& inner : block.body.blocks) {
          if (inner.type == "required_providers") {
            std::ranges::for_each(inner.body.attributes, [&](const auto& entry) { read_entry(file, entry); });
          }
        }
      });
    }
  }

  void read_entry(const ConfigText& file, const hcl::Attribute& attribute) {
    ProviderRequirement entry{
        .address = {}, .local_name = std::string(attribute.name), .location = {file.path, attribute.range()}};
    if (is_usable(attribute, file, entry)) {
      required_.insert_or_assign(entry.local_name, entry);
    }
  }

  bool is_usable(const hcl::Attribute& attribute, const ConfigText& file, ProviderRequirement& entry) {
    const Range& range = attribute.value.range;
    const auto value = eval::constant_value(attribute.value, file.json, file.path);
    if (value && value->type().is_primitive()) {  // the notation of Terraform 0.12: aws = "~> 2.0"
      if (const auto text = eval::convert(*value, eval::Type::string()); text && !text->is_null()) {
        entry.constraint = SourceText{text->as_string(), {file.path, range}};
      }
      return imply_address(attribute, file, entry);
    }
    const auto* object = std::get_if<hcl::Object>(&attribute.value.tree().node);
    if (object == nullptr) {
      report(file, range,
             fmt::format("Invalid required_providers object: the entry {} must be a string or an object",
                         hcl::quoted_for_message(attribute.name)),
             "write { source = \"hashicorp/aws\", version = \"~> 5.0\" }");
      return false;
    }
    bool has_address = false;
    bool usable = true;
    for (const hcl::ObjectItem& item : object->items) {
      const std::string key = key_of(item, file);
      if (key == "source") {
        has_address = true;
        usable = read_source(item.value, file, entry) && usable;
      } else if (const auto text = key == "version" ? constant_text(item.value, file) : std::nullopt) {
        entry.constraint = SourceText{*text, {file.path, item.value.range}};
      } else if (key == "version") {
        report_version(file, item.value.range);
      }
    }
    return usable && (has_address || imply_address(attribute, file, entry));
  }

  bool imply_address(const hcl::Attribute& attribute, const ConfigText& file, ProviderRequirement& entry) {
    const std::string name = normalize_provider_part(attribute.name).value_or(std::string(attribute.name));
    return take_address(ProviderAddress::implied(name, default_registry(tool_)), {file.path, attribute.value.range},
                        entry);
  }

  bool read_source(const hcl::Expression& expression, const ConfigText& file, ProviderRequirement& entry) {
    const auto text = constant_text(expression, file);
    if (!text) {
      report(file, expression.range, "Invalid source: the source of a provider must be a constant string",
             "write the address, for example \"hashicorp/aws\"");
      return false;
    }
    return take_address(ProviderAddress::parse(*text, default_registry(tool_)), {file.path, expression.range}, entry);
  }

  bool take_address(Result<ProviderAddress> address, const Location& location, ProviderRequirement& entry) {
    if (!address) {
      address.error().location = location;
      diagnostics_.push_back({Severity::error, std::move(address.error())});
      return false;
    }
    entry.address = std::move(*address);
    return true;
  }

  // In file order, each name and alias once (in test files: once per file), the versions of override files merged.
  std::vector<ProviderRequirement> read_blocks() {
    std::vector<ProviderRequirement> blocks;
    std::map<std::tuple<std::string, std::string, std::string>, std::size_t> places;
    const auto read = [&](const ConfigText& file, const hcl::Block& block) {
      if (block.labels.size() != 1) {
        return;
      }
      ProviderRequirement result{.address = {},
                                 .local_name = block.labels.front().text,
                                 .origin = DeclaredBy::provider_block,
                                 .constraint = read_version(block, file),
                                 .location = {file.path, block.header_range}};
      const std::string scope = file.role == ConfigFile::Role::test ? file.path : std::string();
      const auto [place, added] =
          places.emplace(std::tuple(scope, result.local_name, read_alias(block, file)), blocks.size());
      if (added) {
        blocks.push_back(std::move(result));
      } else if (file.role == ConfigFile::Role::override_file && result.constraint) {
        blocks[place->second].constraint = std::move(result.constraint);
      }
    };
    for (const auto role : {ConfigFile::Role::primary, ConfigFile::Role::test, ConfigFile::Role::override_file}) {
      for_each_block(files_, role, "provider", read);
    }
    return blocks;
  }

  // The deprecated argument.
  std::optional<SourceText> read_version(const hcl::Block& block, const ConfigText& file) {
    const hcl::Attribute* attribute = block.body.find("version");
    if (attribute == nullptr) {
      return std::nullopt;
    }
    const auto text = read_text(*attribute, file);
    if (!text) {
      report_version(file, attribute->value.range);
    }
    return !text || text->is_null() ? std::nullopt
                                    : std::optional(SourceText{text->as_string(), {file.path, attribute->value.range}});
  }

  // In file order, override files merged, import blocks last.
  void read_uses() {
    for (const auto role : {ConfigFile::Role::override_file, ConfigFile::Role::primary}) {
      for (const ConfigText& file : files_) {
        if (file.role == role) {
          read_resources(file);
        }
      }
    }
    for_each_block(files_, ConfigFile::Role::primary, "import",
                   [&](const ConfigText& file, const hcl::Block& block) { read_import(file, block); });
  }

  void read_resources(const ConfigText& file) {
    for (const hcl::Block& block : file.parsed.body.blocks) {
      if (block.type == "resource") {
        add_use(file, block, DeclaredBy::resource, "");
      } else if (block.type == "data") {
        add_use(file, block, DeclaredBy::data, "data.");
      } else if (block.type == "ephemeral") {
        add_use(file, block, DeclaredBy::ephemeral, "ephemeral.");
      } else if (block.type == "action" && tool_ == ClientKind::terraform) {
        add_use(file, block, DeclaredBy::action, "action.");
      } else if (block.type == "check" && file.role == ConfigFile::Role::primary) {
        for (const hcl::Block& inner : block.body.blocks) {
          if (inner.type == "data") {
            add_use(file, inner, DeclaredBy::data, "data.");
          }
        }
      }
    }
  }

  void add_use(const ConfigText& file, const hcl::Block& block, DeclaredBy origin, std::string_view prefix) {
    if (block.labels.size() != 2) {
      return;
    }
    const hcl::Attribute* provider = block.body.find("provider");
    ProviderRequirement use{.address = {},
                            .local_name = name_of(provider, block.labels[0].text, file),
                            .origin = origin,
                            .by = fmt::format("{}{}.{}", prefix, block.labels[0].text, block.labels[1].text),
                            .location = {file.path, block.header_range}};
    if (file.role != ConfigFile::Role::override_file) {
      const auto found = overrides_.find(use.by);
      use.local_name = found == overrides_.end() ? use.local_name : found->second;
      add(std::move(use));
    } else if (provider != nullptr) {
      overrides_[use.by] = std::move(use.local_name);
    }
  }

  // Terraform takes no provider from import blocks for resources of other modules.
  void read_import(const ConfigText& file, const hcl::Block& block) {
    const hcl::Attribute* to = block.body.find("to");
    const auto target = to != nullptr ? read_target(to->value, file, tool_) : std::nullopt;
    if (target && !(tool_ == ClientKind::terraform && target->in_module)) {
      add({.address = {},
           .local_name = name_of(block.body.find("provider"), target->type, file),
           .origin = DeclaredBy::import_block,
           .by = target->address,
           .location = {file.path, block.header_range}});
    }
  }

  // Empty: the argument is not a reference (reported).
  std::string name_of(const hcl::Attribute* provider, const std::string& type, const ConfigText& file) {
    if (provider == nullptr) {
      return implied_name(type);
    }
    const auto reference = read_traversal(provider->value, file.path);
    if (!reference) {
      report(file, provider->value.range,
             "Invalid provider configuration reference: the provider argument requires a provider's local name, "
             "optionally followed by a period and an alias",
             "write the local name of a provider, with an alias if it has one: aws.west");
      return {};
    }
    return reference->root();
  }

  // Adds all provider blocks, and the first use of an undeclared local name.
  void add(ProviderRequirement one) {
    const bool is_block = one.origin == DeclaredBy::provider_block;
    if (!is_block && one.local_name.empty()) {
      return;  // reported by name_of()
    }
    const bool is_new = declared_.insert(one.local_name).second;
    if ((is_new || is_block) && resolve(one)) {
      requirements_.push_back(std::move(one));
    }
  }

  // Sets the address of a local name; reports an invalid one.
  bool resolve(ProviderRequirement& requirement) {
    const auto found = required_.find(requirement.local_name);
    return take_address(found != required_.end()
                            ? found->second.address
                            : ProviderAddress::implied(requirement.local_name, default_registry(tool_)),
                        requirement.location, requirement);
  }

  // A requirement that an override file has replaced is not checked.
  void check_constraint(ProviderRequirement& requirement) {
    if (!requirement.constraint) {
      return;
    }
    if (auto read = ProviderConstraint::parse(requirement.constraint->text); !read) {
      Error error = std::move(read).error();
      error.location = std::move(requirement.constraint->location);
      diagnostics_.push_back({Severity::error, std::move(error)});
      requirement.constraint.reset();
    }
  }

  // A legacy address, which names no namespace, cannot be locked.
  void check_address(const ProviderRequirement& requirement) {
    if (requirement.address.is_legacy()) {
      diagnostics_.push_back(
          {Severity::error, Error{.code = Code::config_parse,
                                  .message = fmt::format("Invalid legacy provider address: the provider \"{}\" has no "
                                                         "namespace",
                                                         requirement.address.to_string()),
                                  .location = requirement.location,
                                  .hint = "write the namespace, for example \"hashicorp/aws\""}});
    }
  }

  void report_version(const ConfigText& file, const Range& range) {
    report(file, range, "Invalid version constraint: the version must be a constant string",
           "write the constraint, for example \"~> 5.0\"");
  }

  void report(const ConfigText& file, const Range& range, std::string message, std::string hint) {
    diagnostics_.push_back(config_error(file, range, std::move(message), std::move(hint)));
  }

  const std::vector<ConfigText>& files_;
  ClientKind tool_;
  Diagnostics& diagnostics_;
  std::map<std::string, ProviderRequirement, std::less<>> required_;  // of required_providers, by local name
  std::set<std::string> declared_;                                    // local names with a requirement
  std::map<std::string, std::string> overrides_;  // local names of resources in override files, by address
  std::vector<ProviderRequirement> requirements_;
};

}  // namespace

std::vector<ProviderRequirement> provider_requirements(const std::vector<ConfigText>& files, ClientKind tool,
                                                       Diagnostics& diagnostics) {
  return RequirementReader(files, tool, diagnostics).read();
}

void resolve_local_names(std::vector<ProviderRequirement>& requirements,
                         const std::vector<ProviderRequirement>& declared) {
  std::map<std::string_view, const ProviderAddress*> addresses;
  for (const ProviderRequirement& requirement : declared) {
    if (requirement.origin == DeclaredBy::required_providers) {
      addresses.emplace(requirement.local_name, &requirement.address);
    }
  }
  for (ProviderRequirement& requirement : requirements) {
    if (const auto found = addresses.find(requirement.local_name); found != addresses.end()) {
      requirement.address = *found->second;
    }
  }
  sort_by_address(requirements);
}

}  // namespace modlock
