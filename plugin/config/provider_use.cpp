#include <fmt/ranges.h>

#include <map>
#include <tuple>
#include <utility>

#include "plugin/config/module_call.h"
#include "plugin/config/provider_declarations.h"
#include "plugin/config/traversal.h"
#include "plugin/eval/evaluate.h"
#include "plugin/value/convert.h"

namespace modlock {
namespace {

using DeclaredBy = ProviderRequirement::DeclaredBy;

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

std::optional<SourceText> read_version(const hcl::Block& block, const ConfigText& file, Diagnostics& diagnostics) {
  const hcl::Attribute* attribute = block.body.find("version");
  if (attribute == nullptr) {
    return std::nullopt;
  }
  const Range& range = attribute->value.range;
  const auto text = read_text(*attribute, file);
  if (!text) {
    diagnostics.push_back(config_error(file, range, "Invalid version constraint: the version must be a constant string",
                                       "write the constraint, for example \"~> 5.0\""));
    return std::nullopt;
  }
  return text->is_null() ? std::nullopt : std::optional(SourceText{text->as_string(), {file.path, range}});
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

class UseReader {
 public:
  UseReader(ClientKind tool, Diagnostics& diagnostics) : tool_(tool), diagnostics_(diagnostics) {}

  void read_resources(const ConfigText& file) {
    for (const hcl::Block& block : file.parsed.body.blocks) {
      if (block.type == "resource") {
        add(file, block, DeclaredBy::resource, "");
      } else if (block.type == "data") {
        add(file, block, DeclaredBy::data, "data.");
      } else if (block.type == "ephemeral") {
        add(file, block, DeclaredBy::ephemeral, "ephemeral.");
      } else if (block.type == "action" && tool_ == ClientKind::terraform) {
        add(file, block, DeclaredBy::action, "action.");
      } else if (block.type == "check" && file.role == ConfigFile::Role::primary) {
        for (const hcl::Block& inner : block.body.blocks) {
          if (inner.type == "data") {
            add(file, inner, DeclaredBy::data, "data.");
          }
        }
      }
    }
  }

  void read_import(const ConfigText& file, const hcl::Block& block) {
    const hcl::Attribute* to = block.body.find("to");
    const auto target = to != nullptr ? read_target(to->value, file, tool_) : std::nullopt;
    if (!target || (tool_ == ClientKind::terraform && target->in_module)) {
      return;
    }
    uses_.push_back({.origin = DeclaredBy::import_block,
                     .by = target->address,
                     .local_name = name_of(block.body.find("provider"), target->type, file),
                     .location = {file.path, block.header_range}});
  }

  std::vector<ProviderUse> take() {
    std::erase_if(uses_, [](const ProviderUse& use) { return use.local_name.empty(); });
    return std::move(uses_);
  }

 private:
  void add(const ConfigText& file, const hcl::Block& block, DeclaredBy origin, std::string_view prefix) {
    if (block.labels.size() != 2) {
      return;
    }
    const hcl::Attribute* provider = block.body.find("provider");
    ProviderUse use{.origin = origin,
                    .by = fmt::format("{}{}.{}", prefix, block.labels[0].text, block.labels[1].text),
                    .local_name = name_of(provider, block.labels[0].text, file),
                    .location = {file.path, block.header_range}};
    if (file.role != ConfigFile::Role::override_file) {
      if (places_.emplace(use.by, uses_.size()).second) {
        uses_.push_back(std::move(use));
      }
    } else if (const auto found = places_.find(use.by); found != places_.end() && provider != nullptr) {
      uses_[found->second].local_name = std::move(use.local_name);
    }
  }

  // Empty: the argument is not a reference (reported).
  std::string name_of(const hcl::Attribute* provider, const std::string& type, const ConfigText& file) {
    if (provider == nullptr) {
      return implied_name(type);
    }
    const auto reference = read_traversal(provider->value, file.path);
    if (!reference) {
      diagnostics_.push_back(config_error(
          file, provider->value.range,
          "Invalid provider configuration reference: the provider argument requires a provider's local name, "
          "optionally followed by a period and an alias",
          "write the local name of a provider, with an alias if it has one: aws.west"));
      return {};
    }
    return reference->root();
  }

  ClientKind tool_;
  Diagnostics& diagnostics_;
  std::map<std::string, std::size_t, std::less<>> places_;  // in uses_, by address
  std::vector<ProviderUse> uses_;
};

}  // namespace

std::vector<ProviderBlock> read_provider_blocks(const std::vector<ConfigText>& files, Diagnostics& diagnostics) {
  std::vector<ProviderBlock> blocks;
  std::map<std::tuple<std::string, std::string, std::string>, std::size_t> places;
  const auto read = [&](const ConfigText& file, const hcl::Block& block) {
    if (block.labels.size() != 1) {
      return;
    }
    ProviderBlock result{.name = block.labels.front().text,
                         .constraint = read_version(block, file, diagnostics),
                         .location = {file.path, block.header_range}};
    const std::string scope = file.role == ConfigFile::Role::test ? file.path : std::string();
    const auto [place, added] = places.emplace(std::tuple(scope, result.name, read_alias(block, file)), blocks.size());
    if (added) {
      blocks.push_back(std::move(result));
    } else if (file.role == ConfigFile::Role::override_file && result.constraint) {
      blocks[place->second].constraint = std::move(result.constraint);
    }
  };
  for (const auto role : {ConfigFile::Role::primary, ConfigFile::Role::test, ConfigFile::Role::override_file}) {
    for_each_block(files, role, "provider", read);
  }
  return blocks;
}

std::vector<ProviderUse> read_provider_uses(const std::vector<ConfigText>& files, ClientKind tool,
                                            Diagnostics& diagnostics) {
  UseReader reader(tool, diagnostics);
  for (const auto role : {ConfigFile::Role::primary, ConfigFile::Role::override_file}) {
    for (const ConfigText& file : files) {
      if (file.role == role) {
        reader.read_resources(file);
      }
    }
  }
  for_each_block(files, ConfigFile::Role::primary, "import",
                 [&](const ConfigText& file, const hcl::Block& block) { reader.read_import(file, block); });
  return reader.take();
}

}  // namespace modlock
