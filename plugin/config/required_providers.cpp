
#include <fmt/format.h>

#include <utility>

#include "plugin/config/module_call.h"
#include "plugin/config/provider_declarations.h"
#include "plugin/eval/evaluate.h"
#include "plugin/hcl/characters.h"
#include "plugin/value/convert.h"

namespace modlock {
namespace {

using RequiredProviders = std::map<std::string, RequiredProvider, std::less<>>;

constexpr std::string_view kObjectHint = "write { source = \"hashicorp/aws\", version = \"~> 5.0\" }";

class EntryReader {
 public:
  EntryReader(ClientKind tool, Diagnostics& diagnostics) : tool_(tool), diagnostics_(diagnostics) {}

  // A terraform block.
  void read(const ConfigText& file, const hcl::Block& block) {
    file_ = &file;
    for (const hcl::Block& inner : block.body.blocks) {
      if (inner.type == "required_providers") {
        read_block(inner);
      }
    }
  }

  RequiredProviders take() { return std::move(entries_); }

 private:
  void read_block(const hcl::Block& block) {
    for (const hcl::Attribute& attribute : block.body.attributes) {
      if (auto entry = read_entry(attribute)) {
        entries_.insert_or_assign(attribute.name, std::move(*entry));
      }
    }
  }

  std::optional<RequiredProvider> read_entry(const hcl::Attribute& attribute) {
    RequiredProvider entry{.address = {}, .location = {file_->path, attribute.range()}};
    const auto value = constant(attribute.value);
    if (value && value->type().is_primitive()) {
      return read_version_only(attribute, *value, std::move(entry));
    }
    const auto* object = std::get_if<hcl::Object>(&attribute.value.node);
    if (object == nullptr) {
      report(attribute.value.range,
             fmt::format("Invalid required_providers object: the entry {} must be a string or an object",
                         hcl::quoted_for_message(attribute.name)),
             std::string(kObjectHint));
      return std::nullopt;
    }
    return read_object(attribute, *object, std::move(entry));
  }

  // The notation of Terraform 0.12: aws = "~> 2.0".
  std::optional<RequiredProvider> read_version_only(const hcl::Attribute& attribute, const eval::Value& value,
                                                    RequiredProvider entry) {
    if (!imply_address(attribute, entry)) {
      return std::nullopt;
    }
    if (const auto text = eval::convert(value, eval::Type::string()); text && !text->is_null()) {
      entry.constraint = SourceText{text->as_string(), {file_->path, attribute.value.range}};
    }
    return entry;
  }

  std::optional<RequiredProvider> read_object(const hcl::Attribute& attribute, const hcl::Object& object,
                                              RequiredProvider entry) {
    bool has_address = false;
    bool usable = true;
    for (const hcl::ObjectItem& item : object.items) {
      const std::string key = key_of(item);
      if (key == "source") {
        has_address = true;
        usable = read_source(item.value, entry) && usable;
      } else if (key == "version") {
        read_version(item.value, entry);
      }
    }
    if (!usable || (!has_address && !imply_address(attribute, entry))) {
      return std::nullopt;
    }
    return entry;
  }

  std::string key_of(const hcl::ObjectItem& item) const {
    if (const auto* name = std::get_if<hcl::Variable>(&item.key.node); name != nullptr && item.bare_key) {
      return name->name;
    }
    return item.bare_key ? std::string() : constant_text(item.key).value_or(std::string());
  }

  Result<eval::Value> constant(const hcl::Expression& expression) const {
    return eval::constant_value(expression, file_->json, file_->path);
  }

  // Only for a string; OpenTofu converts nothing here.
  std::optional<std::string> constant_text(const hcl::Expression& expression) const {
    const auto value = constant(expression);
    const bool is_text = value && value->is(eval::Type::Kind::string) && !value->is_null();
    return is_text ? std::optional(value->as_string()) : std::nullopt;
  }

  bool imply_address(const hcl::Attribute& attribute, RequiredProvider& entry) {
    const std::string name = normalize_provider_part(attribute.name).value_or(attribute.name);
    return take_address(ProviderAddress::implied(name, default_registry(tool_)), attribute.value.range, entry);
  }

  bool read_source(const hcl::Expression& expression, RequiredProvider& entry) {
    const auto text = constant_text(expression);
    if (!text) {
      report(expression.range, "Invalid source: the source of a provider must be a constant string",
             "write the address, for example \"hashicorp/aws\"");
      return false;
    }
    return take_address(ProviderAddress::parse(*text, default_registry(tool_)), expression.range, entry);
  }

  bool take_address(Result<ProviderAddress> address, const Range& range, RequiredProvider& entry) {
    if (!address) {
      address.error().location = Location{file_->path, range};
      diagnostics_.push_back({Severity::error, std::move(address.error())});
      return false;
    }
    entry.address = std::move(*address);
    return true;
  }

  void read_version(const hcl::Expression& expression, RequiredProvider& entry) {
    const auto text = constant_text(expression);
    if (!text) {
      report(expression.range, "Invalid version constraint: the version must be a constant string",
             "write the constraint, for example \"~> 5.0\"");
      return;
    }
    entry.constraint = SourceText{*text, {file_->path, expression.range}};
  }

  void report(const Range& range, std::string message, std::string hint) {
    diagnostics_.push_back(config_error(*file_, range, std::move(message), std::move(hint)));
  }

  ClientKind tool_;
  Diagnostics& diagnostics_;
  const ConfigText* file_ = nullptr;
  RequiredProviders entries_;
};

}  // namespace

RequiredProviders read_required_providers(const std::vector<ConfigText>& files, ClientKind tool,
                                          Diagnostics& diagnostics) {
  EntryReader reader(tool, diagnostics);
  for (const auto role : {ConfigFile::Role::primary, ConfigFile::Role::override_file}) {
    for_each_block(files, role, "terraform",
                   [&](const ConfigText& file, const hcl::Block& block) { reader.read(file, block); });
  }
  return reader.take();
}

}  // namespace modlock
