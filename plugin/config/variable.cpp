#include "plugin/config/variable.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <span>
#include <system_error>

#include "backends/base/text.h"
#include "plugin/config/module_call.h"
#include "plugin/config/roots.h"
#include "plugin/eval/evaluate.h"
#include "plugin/hcl/characters.h"
#include "plugin/hcl/json_syntax.h"
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

template <typename Place, typename NameOf>
std::span<const Place> places_of(const std::vector<Place>& places, std::string_view name, NameOf name_of) {
  const auto first = std::ranges::lower_bound(places, name, {}, name_of);
  return {first, std::ranges::upper_bound(first, places.end(), name, {}, name_of)};
}

}  // namespace

std::optional<VariableDeclaration> VariableBlocks::find(std::string_view name) const {
  std::optional<VariableDeclaration> variable;
  for (const auto role : {ConfigFile::Role::primary, ConfigFile::Role::override_file}) {
    for (const ConfigText& file : files_) {
      if (file.role != role) {
        continue;
      }
      for (const hcl::BlockPlace& place : places_of(file.parsed.places, name, &hcl::BlockPlace::label)) {
        const auto block = std::make_shared<const hcl::Block>(hcl::read_block(file.parsed, place));
        if (role == ConfigFile::Role::primary) {
          variable.emplace(VariableDeclaration{.name = place.label, .location = {file.path, block->header_range}});
        }
        if (variable) {
          variable->blocks.push_back(block);
          DeclarationReader(file, *block, *variable).read();
        }
      }
    }
  }
  return variable;
}

std::vector<std::string_view> VariableBlocks::names() const {
  std::set<std::string_view> names;
  for (const ConfigText& file : files_) {
    for (const hcl::BlockPlace& place : file.parsed.places) {
      if (file.role == ConfigFile::Role::primary && names.size() <= kMostCompared) {
        names.insert(place.label);
      }
    }
  }
  return {names.begin(), names.end()};
}

LocalValues::LocalValues(const std::vector<ConfigText>& files) {
  for (const auto role : {ConfigFile::Role::primary, ConfigFile::Role::override_file}) {
    for_each_block(files, role, "locals", [&](const ConfigText& file, const hcl::Block& block) {
      for (const hcl::Attribute& attribute : block.body.attributes) {
        places_.push_back({{&attribute, &file}});
      }
    });
  }
  std::ranges::stable_sort(places_, {}, &Place::name);
}

Argument LocalValues::find(std::string_view name) const {
  const auto found = places_of(places_, name, &Place::name);
  const bool is_defined = !found.empty() && found.front().file->role == ConfigFile::Role::primary;
  return is_defined ? Argument(found.back()) : Argument();
}

std::vector<std::string_view> LocalValues::names() const {
  std::set<std::string_view> names;
  for (auto place = places_.begin(); place != places_.end() && names.size() <= kMostCompared; ++place) {
    if (place->file->role == ConfigFile::Role::primary) {
      names.insert(place->name());
    }
  }
  return {names.begin(), names.end()};
}

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kCommandLine = "-var";

bool is_read_unasked(std::string_view name) {
  return name.ends_with(".auto.tfvars") || name.ends_with(".auto.tfvars.json");
}

bool is_json(std::string_view name, std::string_view text) {
  if (name.ends_with(".json")) {
    return true;
  }
  const std::string_view start = hcl::trim_left(text);
  return !name.ends_with(".tfvars") && !start.empty() && start.front() == '{';
}

bool is_word(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return std::isalnum(byte) != 0 || byte >= 0x80;
  });
}

// Hides the text from the first quoted word to the last quotation mark: any part may be a secret without its own
// quotes.
void hide_words(std::string& message) {
  for (std::size_t open = message.find('"'); open != std::string::npos;) {
    const std::size_t close = message.find('"', open + 1);
    if (close == std::string::npos) {
      return;
    }
    if (is_word(std::string_view(message).substr(open, close - open))) {
      message.replace(open, message.rfind('"') + 1 - open, "\"…\"");
      return;
    }
    open = message.find('"', close + 1);
  }
}

}  // namespace

class VariableReader {
 public:
  VariableReader(const fs::path& root, const Documents& documents, const std::vector<fs::path>& bounds,
                 Diagnostics& diagnostics)
      : root_(document_path(root)), documents_(documents), bounds_(bounds), diagnostics_(diagnostics) {}

  Result<std::shared_ptr<const VariableValues>> read(const VariableInputs& inputs) {
    for (const auto& [name, text] : inputs.environment) {
      values_->values_[name] = {.text = text, .origin = fmt::format("TF_VAR_{}", name)};
    }
    for (const std::string_view name : {"terraform.tfvars", "terraform.tfvars.json"}) {
      MODLOCK_TRY(read_file(root_ / name, IfMissing::skip));
    }
    for (const std::string& name : names_read_unasked()) {
      MODLOCK_TRY(read_file(root_ / name, IfMissing::skip));
    }
    for (const VariableArgument& argument : inputs.arguments) {
      if (argument.name) {
        values_->values_[*argument.name] = {.text = argument.text, .origin = std::string(kCommandLine)};
      } else if (auto done = read_file(root_ / argument.text, IfMissing::fail); !done) {
        return fail(std::move(done.error()));
      }
    }
    return std::shared_ptr<const VariableValues>(std::move(values_));
  }

 private:
  enum class IfMissing { skip, fail };

  // Sorted. Empty if the root cannot be listed: reading its configuration reports why.
  std::set<std::string> names_read_unasked() const {
    std::set<std::string> names;
    const auto add = [&](const fs::path& path) {
      if (std::string name = path.filename().string(); is_read_unasked(name)) {
        names.insert(std::move(name));
      }
    };
    for (const auto& [path, text] : documents_) {
      if (path.parent_path() == root_) {
        add(path);
      }
    }
    std::error_code error;
    fs::directory_iterator entry(root_, error);
    for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
      add(entry->path());
    }
    return names;
  }

  Result<void> read_file(const fs::path& path, IfMissing if_missing) {
    auto place = confine(path, bounds_);
    if (!place) {
      if (place.error().code == Code::path_outside_root) {
        place.error().hint = "move the file below the root, or allow its directory with --workspace-root";
      }
      return fail(std::move(place.error()));
    }
    MODLOCK_TRY(auto text, read_document(document_path(*place), documents_));
    if (text) {
      take(*place, std::move(*text));
      return {};
    }
    if (if_missing == IfMissing::fail) {
      return modlock::fail(Code::not_found,
                           fmt::format("the variables file \"{}\" does not exist", relative_to_root(*place, root_)),
                           "name it relative to the root, or absolute");
    }
    return {};
  }

  void take(const fs::path& path, std::string text) {
    auto file = std::make_unique<ConfigText>();
    file->name = path.filename().string();
    file->path = relative_to_root(path, root_);
    file->json = is_json(file->name, text);
    file->text = std::move(text);
    file->parsed = file->json ? hcl::parse_json(file->text, file->path, hcl::BodySchema{})
                              : hcl::parse_native(file->text, file->path);
    Diagnostics& wrong = file->parsed.diagnostics;
    for (Diagnostic& diagnostic : wrong) {
      hide_words(diagnostic.what.message);
    }
    diagnostics_.insert(diagnostics_.end(), wrong.begin(), wrong.end());
    if (has_errors(wrong)) {
      return;
    }
    for (const hcl::Attribute& attribute : file->parsed.body.attributes) {
      values_->values_[std::string(attribute.name)] = {
          .expression = &attribute.value, .json = file->json, .origin = file->path};
    }
    values_->files_.push_back(std::move(file));
  }

  fs::path root_;
  const Documents& documents_;
  const std::vector<fs::path>& bounds_;
  Diagnostics& diagnostics_;
  std::shared_ptr<VariableValues> values_ = std::make_shared<VariableValues>();
};

const VariableValues::VariableInput* VariableValues::find(std::string_view name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? nullptr : &found->second;
}

Diagnostics VariableValues::undeclared(const VariableBlocks& variables) const {
  Diagnostics diagnostics;
  for (const auto& [name, given] : values_) {
    if (given.origin == kCommandLine && !variables.find(name)) {
      diagnostics.push_back(
          {Severity::warning,
           Error{.code = Code::config_parse,
                 .message =
                     fmt::format("a value was given for variable \"{}\", which the root module does not declare", name),
                 .hint = did_you_mean(name, variables.names())}});
    }
  }
  return diagnostics;
}

Result<std::shared_ptr<const VariableValues>> read_variable_values(const fs::path& root, const VariableInputs& inputs,
                                                                   const Documents& documents,
                                                                   const std::vector<fs::path>& bounds,
                                                                   Diagnostics& diagnostics) {
  return VariableReader(root, documents, bounds, diagnostics).read(inputs);
}

}  // namespace modlock
