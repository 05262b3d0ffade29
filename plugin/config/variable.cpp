#include "plugin/config/variable.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "plugin/config/module_call.h"
#include "plugin/eval/constant_value.h"
#include "plugin/value/convert.h"

namespace modlock {
namespace {

// What a module block has for itself: no argument for a variable of that name could be given.
constexpr std::array<std::string_view, 10> kReservedNames = {
    "source", "version", "count", "for_each", "depends_on", "providers", "_", "lifecycle", "locals", "provider",
};

constexpr std::string_view kNameHint = "a name is a letter or underscore, then letters, digits, underscores and dashes";

// Whether declarations may be missing because a primary file could not be read to its end.
bool is_incomplete(const std::vector<ConfigText>& files) {
  return std::any_of(files.begin(), files.end(), [](const ConfigText& file) {
    return file.role == ConfigFile::Role::primary && has_errors(file.parsed.diagnostics);
  });
}

// Calls `visit(file, block)` for all blocks of a type in the files of a role.
template <typename Visit>
void for_each_block(const std::vector<ConfigText>& files, ConfigFile::Role role, std::string_view type, Visit visit) {
  for (const ConfigText& file : files) {
    if (file.role != role) {
      continue;
    }
    for (const hcl::Block& block : file.parsed.body.blocks) {
      if (block.type == type) {
        visit(file, block);
      }
    }
  }
}

// One variable block, as far as it says something.
struct Declaration {
  const ConfigText* file = nullptr;
  const hcl::Block* block = nullptr;
  std::optional<eval::TypeConstraint> type = {};
  Argument default_argument = {};
  std::optional<eval::Value> default_value = {};  // none though it has one: it is broken
  std::optional<bool> sensitive = {};
  std::optional<bool> ephemeral = {};
  std::optional<bool> nullable = {};
  std::optional<bool> usable_statically = {};

  const std::string& name() const { return block->labels.front().text; }
  bool has_default() const { return default_argument.attribute != nullptr; }
};

class DeclarationReader {
 public:
  DeclarationReader(const ConfigText& file, const hcl::Block& block, ClientKind tool, Diagnostics& diagnostics)
      : file_(file), block_(block), tool_(tool), diagnostics_(diagnostics) {}

  Declaration read(bool is_override) {
    Declaration result{.file = &file_, .block = &block_};
    check_name();
    if (const hcl::Attribute* type = block_.body.find("type")) {
      result.type = read_type(*type);
    }
    result.sensitive = flag("sensitive");
    result.ephemeral = flag("ephemeral");
    result.nullable = flag("nullable");
    check_text("description");
    if (tool_ == ClientKind::opentofu) {
      result.usable_statically = flag("const");
      check_deprecation();
    }
    if (const hcl::Attribute* attribute = block_.body.find("default")) {
      result.default_argument = {attribute, &file_};
      result.default_value = read_default(*attribute, result, is_override);
    }
    return result;
  }

 private:
  void report(const Range& range, std::string message, std::string hint = {}) {
    diagnostics_.push_back(config_error(file_, range, std::move(message), std::move(hint)));
  }
  std::string title() const { return fmt::format("variable \"{}\"", block_.labels.front().text); }

  void check_name() {
    const hcl::Label& label = block_.labels.front();
    if (!is_identifier(label.text)) {
      report(label.range, fmt::format("the name of a variable must be an identifier, found \"{}\"", label.text),
             std::string(kNameHint));
    } else if (std::find(kReservedNames.begin(), kReservedNames.end(), label.text) != kReservedNames.end()) {
      report(label.range,
             fmt::format("the variable name \"{}\" is reserved due to its special meaning inside module blocks",
                         label.text),
             "choose another name");
    }
  }

  // The line of a value that must not be seen is not shown with what is wrong with it.
  Range place_of_default(const hcl::Attribute& attribute, const Declaration& declared) const {
    const bool secret = declared.sensitive.value_or(false) || declared.ephemeral.value_or(false);
    return secret ? block_.header_range : attribute.value.range;
  }

  eval::TypeConstraint read_type(const hcl::Attribute& attribute) {
    auto type = eval::parse_type_constraint(attribute.value, file_.path);
    if (!type) {
      diagnostics_.push_back({Severity::error, std::move(type.error())});
      return {};
    }
    return std::move(*type);
  }

  // nullopt: the block lacks the argument, or it was reported.
  std::optional<eval::Value> constant(std::string_view name, const eval::Type& type) {
    const hcl::Attribute* attribute = block_.body.find(name);
    if (attribute == nullptr) {
      return std::nullopt;
    }
    auto value = eval::constant_value(attribute->value, file_.json, file_.path);
    if (!value) {
      diagnostics_.push_back({Severity::error, std::move(value.error())});
      return std::nullopt;
    }
    auto converted = eval::convert(*value, type);
    if (!converted || converted->is_null()) {
      report(attribute->value.range, fmt::format("{} of {} must be a {}, found {}", name, title(), type.friendly_name(),
                                                 value->is_null() ? "null" : value->type().friendly_name()));
      return std::nullopt;
    }
    return std::move(*converted);
  }

  std::optional<bool> flag(std::string_view name) {
    const auto value = constant(name, eval::Type::boolean());
    return value ? std::optional(value->as_bool()) : std::nullopt;
  }

  std::optional<std::string> check_text(std::string_view name) {
    const auto value = constant(name, eval::Type::string());
    return value ? std::optional(value->as_string()) : std::nullopt;
  }

  void check_deprecation() {
    const auto text = check_text("deprecated");
    if (text && text->find_first_not_of(" \t\r\n\v\f") == std::string::npos) {
      report(block_.labels.front().range, fmt::format("the \"deprecated\" argument of {} must not be empty", title()),
             "say what to use instead of the variable");
    }
  }

  std::optional<eval::Value> read_default(const hcl::Attribute& attribute, const Declaration& declared,
                                          bool is_override) {
    auto value = eval::constant_value(attribute.value, file_.json, file_.path);
    if (!value) {
      diagnostics_.push_back({Severity::error, std::move(value.error())});
      return std::nullopt;
    }
    // The type of an override is that of the variable unless it changes it: merging will tell.
    if (declared.type || !is_override) {
      const eval::TypeConstraint type = declared.type.value_or(eval::TypeConstraint{});
      if (type.defaults != nullptr && !value->is_null()) {
        value = eval::apply_defaults(*value, *type.defaults);
      }
      auto converted = eval::convert(*value, type.type);
      if (!converted) {
        report(place_of_default(attribute, declared),
               fmt::format("the default value of {} is not compatible with its type constraint: {}", title(),
                           converted.error()));
        return std::nullopt;
      }
      value = std::move(*converted);
    }
    if (value->is_null() && !declared.nullable.value_or(true)) {
      report(attribute.value.range,
             fmt::format("a null default value is not valid for {}, which has nullable = false", title()));
      return std::nullopt;
    }
    return std::move(*value);
  }

  const ConfigText& file_;
  const hcl::Block& block_;
  ClientKind tool_;
  Diagnostics& diagnostics_;
};

VariableDeclaration declare(Declaration declared) {
  VariableDeclaration variable{.name = declared.name(),
                               .location = {declared.file->path, declared.block->header_range},
                               .type = declared.type.value_or(eval::TypeConstraint{}),
                               .has_type = declared.type.has_value()};
  variable.default_argument = declared.default_argument;
  variable.default_is_broken = declared.has_default() && !declared.default_value;
  variable.default_value = std::move(declared.default_value);
  variable.sensitive = declared.sensitive.value_or(false);
  variable.ephemeral = declared.ephemeral.value_or(false);
  variable.nullable = declared.nullable.value_or(true);
  variable.usable_statically = declared.usable_statically;
  return variable;
}

std::string misfit(const Declaration& over, std::string_view name, std::string_view why) {
  if (over.type && !over.has_default()) {
    return fmt::format("overriding the type constraint of variable \"{}\" has made its default value invalid: {}", name,
                       why);
  }
  if (!over.type && over.has_default()) {
    return fmt::format("the overridden default value of variable \"{}\" is not compatible with its type constraint: {}",
                       name, why);
  }
  return fmt::format("the default value of variable \"{}\" is not compatible with its type constraint: {}", name, why);
}

void merge(VariableDeclaration& variable, Declaration over, Diagnostics& diagnostics) {
  variable.sensitive = over.sensitive.value_or(variable.sensitive);
  variable.ephemeral = over.ephemeral.value_or(variable.ephemeral);
  variable.nullable = over.nullable.value_or(variable.nullable);
  if (over.usable_statically) {
    variable.usable_statically = over.usable_statically;
  }
  if (over.type) {
    variable.type.type = over.type->type;
    variable.has_type = true;
  }
  if (over.has_default()) {
    variable.default_argument = over.default_argument;
    variable.default_is_broken = !over.default_value;
    variable.default_value = std::move(over.default_value);
  }
  if (!variable.default_value) {
    return;
  }
  const auto reject = [&](std::string message) {
    diagnostics.push_back(config_error(*over.file, over.block->header_range, std::move(message)));
    variable.default_value.reset();
    variable.default_is_broken = true;
  };
  auto converted = eval::convert(*variable.default_value, variable.type.type);
  if (!converted) {
    reject(misfit(over, variable.name, converted.error()));
    return;
  }
  if (converted->is_null() && !variable.nullable) {
    reject(fmt::format("a null default value is not valid for variable \"{}\", which has nullable = false",
                       variable.name));
    return;
  }
  variable.default_value = std::move(*converted);
}

}  // namespace

std::map<std::string, VariableDeclaration, std::less<>> read_variables(const std::vector<ConfigText>& files,
                                                                       ClientKind tool, Diagnostics& diagnostics) {
  std::map<std::string, VariableDeclaration, std::less<>> variables;
  const bool incomplete = is_incomplete(files);
  for_each_block(files, ConfigFile::Role::primary, "variable", [&](const ConfigText& file, const hcl::Block& block) {
    if (block.labels.size() != 1) {
      return;
    }
    VariableDeclaration variable = declare(DeclarationReader(file, block, tool, diagnostics).read(false));
    const auto [found, added] = variables.try_emplace(variable.name);
    if (!added) {
      Diagnostic twice = config_error(file, block.header_range,
                                      fmt::format("variable \"{}\" is declared twice in this module", variable.name),
                                      "rename one of the two, or move it to an override file");
      twice.what.related.push_back({"the first declaration is here", found->second.location});
      diagnostics.push_back(std::move(twice));
    }
    found->second = std::move(variable);
  });
  for_each_block(
      files, ConfigFile::Role::override_file, "variable", [&](const ConfigText& file, const hcl::Block& block) {
        if (block.labels.size() != 1) {
          return;
        }
        Declaration over = DeclarationReader(file, block, tool, diagnostics).read(true);
        const auto found = variables.find(over.name());
        if (found != variables.end()) {
          merge(found->second, std::move(over), diagnostics);
        } else if (!incomplete) {
          diagnostics.push_back(
              config_error(file, block.header_range,
                           fmt::format("there is no variable \"{}\" to override in a primary file", over.name()),
                           "declare the variable in a file that is no override file, or remove the override"));
        }
      });
  return variables;
}

std::map<std::string, Argument, std::less<>> read_locals(const std::vector<ConfigText>& files,
                                                         Diagnostics& diagnostics) {
  std::map<std::string, Argument, std::less<>> locals;
  const bool incomplete = is_incomplete(files);
  for_each_block(files, ConfigFile::Role::primary, "locals", [&](const ConfigText& file, const hcl::Block& block) {
    for (const hcl::Attribute& attribute : block.body.attributes) {
      Argument& local = locals[attribute.name];
      if (local.attribute != nullptr) {
        Diagnostic twice = config_error(
            file, attribute.range(), fmt::format("local value \"{}\" is defined twice in this module", attribute.name),
            "rename one of the two, or move it to an override file");
        twice.what.related.push_back({"the first definition is here", {local.file->path, local.attribute->range()}});
        diagnostics.push_back(std::move(twice));
      }
      local = {&attribute, &file};
    }
  });
  for_each_block(files, ConfigFile::Role::override_file, "locals",
                 [&](const ConfigText& file, const hcl::Block& block) {
                   for (const hcl::Attribute& attribute : block.body.attributes) {
                     const auto found = locals.find(attribute.name);
                     if (found != locals.end()) {
                       found->second = {&attribute, &file};
                     } else if (!incomplete) {
                       diagnostics.push_back(config_error(
                           file, attribute.range(),
                           fmt::format("there is no local value \"{}\" to override in a primary file", attribute.name),
                           "define it in a file that is no override file, or remove the override"));
                     }
                   }
                 });
  return locals;
}

}  // namespace modlock
