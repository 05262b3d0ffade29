#include "plugin/config/variable.h"

#include <fmt/format.h>

#include <algorithm>

#include "backends/base/text.h"
#include "plugin/config/module_call.h"
#include "plugin/eval/evaluate.h"
#include "plugin/value/convert.h"

namespace modlock {
namespace {

// Reads one variable block into a declaration: a new one, or in an override file an existing one.
class DeclarationReader {
 public:
  DeclarationReader(const ConfigText& file, const hcl::Block& block, VariableDeclaration& variable)
      : file_(file), block_(block), variable_(variable) {}

  void read() {
    if (const hcl::Attribute* type = block_.body.find("type")) {
      read_type(*type);
    }
    read_flag("sensitive", variable_.sensitive);
    read_flag("ephemeral", variable_.ephemeral);
    read_flag("nullable", variable_.nullable);
    read_flag("const", variable_.is_const);
    if (const hcl::Attribute* attribute = block_.body.find("default")) {
      variable_.default_argument = {attribute, &file_};
      read_default(*attribute);
    }
    fit_default();
  }

 private:
  Error error(const Range& range, std::string message) const {
    return config_error(file_, range, std::move(message)).what;
  }
  std::string title() const { return fmt::format("variable \"{}\"", variable_.name); }

  void read_type(const hcl::Attribute& attribute) {
    auto type = eval::parse_type_constraint(attribute.value, file_.path);
    if (!type) {
      variable_.problem = std::move(type.error());
      return;
    }
    variable_.type.type = type->type;
    variable_.has_type = true;
    defaults_ = std::move(type->defaults);
    if (file_.role != ConfigFile::Role::override_file) {
      variable_.type.defaults = defaults_;
    }
  }

  void read_flag(std::string_view name, bool& flag) {
    const hcl::Attribute* attribute = block_.body.find(name);
    if (attribute == nullptr) {
      return;
    }
    auto value = eval::constant_value(attribute->value, file_.json, file_.path);
    if (!value) {
      variable_.problem = std::move(value.error());
      return;
    }
    const auto converted = eval::convert(*value, eval::Type::boolean());
    if (!converted || converted->is_null()) {
      variable_.problem =
          error(attribute->value.range, fmt::format("{} of {} must be a bool, found {}", name, title(),
                                                    value->is_null() ? "null" : value->type().friendly_name()));
      return;
    }
    flag = converted->as_bool();
  }

  void read_default(const hcl::Attribute& attribute) {
    variable_.default_value.reset();
    variable_.default_problem.reset();
    auto value = eval::constant_value(attribute.value, file_.json, file_.path);
    if (!value) {
      variable_.default_problem = std::move(value.error());
    } else {
      const bool applies = defaults_ != nullptr && !value->is_null();
      variable_.default_value = applies ? eval::apply_defaults(*value, *defaults_) : std::move(*value);
    }
  }

  void fit_default() {
    if (!variable_.default_value) {
      return;
    }
    auto converted = eval::convert(*variable_.default_value, variable_.type.type);
    if (converted) {
      variable_.default_value = std::move(*converted);
      return;
    }
    const Argument& argument = variable_.default_argument;
    // An error must not show the line of a secret value.
    const bool secret = variable_.sensitive || variable_.ephemeral;
    variable_.default_problem =
        error(secret || argument.file != &file_ ? block_.header_range : argument.attribute->value.range,
              fmt::format("the default value of {} is not compatible with its type constraint: {}", title(),
                          converted.error()));
    variable_.default_value.reset();
  }

  const ConfigText& file_;
  const hcl::Block& block_;
  VariableDeclaration& variable_;
  std::shared_ptr<const eval::Defaults> defaults_;  // of the type in this block
};

}  // namespace

VariableBlocks::VariableBlocks(const std::vector<ConfigText>& files) {
  for (const auto role : {ConfigFile::Role::primary, ConfigFile::Role::override_file}) {
    for_each_block(files, role, "variable", [&](const ConfigText& file, const hcl::Block& block) {
      if (block.labels.size() == 1) {
        places_.push_back({&block, &file});
      }
    });
  }
  std::stable_sort(places_.begin(), places_.end(), [](const Place& a, const Place& b) { return a.name() < b.name(); });
}

std::optional<VariableDeclaration> VariableBlocks::find(std::string_view name) const {
  auto place = std::lower_bound(places_.begin(), places_.end(), name,
                                [](const Place& one, std::string_view wanted) { return one.name() < wanted; });
  std::optional<VariableDeclaration> variable;
  for (; place != places_.end() && place->name() == name; ++place) {
    if (!place->is_override()) {
      variable.emplace(VariableDeclaration{.name = place->name(),  //
                                           .location = {place->file->path, place->block->header_range}});
    }
    if (variable) {
      DeclarationReader(*place->file, *place->block, *variable).read();
    }
  }
  return variable;
}

std::vector<std::string_view> VariableBlocks::names() const {
  std::vector<std::string_view> names;
  for (const Place& place : places_) {
    if (names.size() > kMostCompared) {
      break;
    }
    if (!place.is_override() && (names.empty() || names.back() != place.name())) {
      names.push_back(place.name());
    }
  }
  return names;
}

std::map<std::string, Argument, std::less<>> read_locals(const std::vector<ConfigText>& files) {
  std::map<std::string, Argument, std::less<>> locals;
  for (const auto role : {ConfigFile::Role::primary, ConfigFile::Role::override_file}) {
    for_each_block(files, role, "locals", [&](const ConfigText& file, const hcl::Block& block) {
      for (const hcl::Attribute& attribute : block.body.attributes) {
        if (role == ConfigFile::Role::primary || locals.contains(attribute.name)) {
          locals[attribute.name] = {&attribute, &file};
        }
      }
    });
  }
  return locals;
}

}  // namespace modlock
