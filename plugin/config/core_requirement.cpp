#include "plugin/config/core_requirement.h"

#include <fmt/format.h>

#include <utility>

#include "plugin/config/module_call.h"
#include "plugin/config/traversal.h"
#include "plugin/constraint/module_constraint.h"
#include "plugin/eval/constant_value.h"
#include "plugin/value/convert.h"
#include "protocol/base/result.h"

namespace modlock {
namespace {

constexpr std::string_view kEdition = "tofu2024";

bool is_tofu_file(const ConfigText& file) {
  const std::string_view name = file.name;
  return name.ends_with(".tofu") || name.ends_with(".tofu.json");
}

// The constraint that stands in an attribute, null as nullopt.
Result<std::optional<std::string>> constraint_text(const hcl::Attribute& attribute, const ConfigText& file) {
  MODLOCK_TRY(const auto value, eval::constant_value(attribute.value, file.json, file.path));
  const auto text = eval::convert(value, eval::Type::string());
  if (!text) {
    return fail(Error{.code = Code::config_parse,
                      .message = fmt::format("Invalid version constraint: a string value is required for {}, found {}",
                                             attribute.name, value.type().friendly_name()),
                      .location = Location{file.path, attribute.value.range},
                      .hint = "write a constraint such as \">= 1.12\""});
  }
  return text->is_null() ? std::optional<std::string>() : text->as_string();
}

// The requirement that an attribute states; none for null.
std::optional<CoreRequirement> read_constraint(CoreRequirement::Kind kind, const hcl::Attribute& attribute,
                                               const ConfigText& file) {
  CoreRequirement requirement{
      .kind = kind, .location = {file.path, attribute.value.range}, .tofu_file = is_tofu_file(file)};
  auto text = constraint_text(attribute, file);
  if (!text) {
    requirement.problem = std::move(text.error());
    return requirement;
  }
  if (!*text) {
    return std::nullopt;
  }
  requirement.constraint = std::move(**text);
  if (auto parsed = ModuleConstraint::parse(requirement.constraint); !parsed) {
    requirement.problem = Error{.code = Code::config_parse,
                                .message = "Invalid version constraint: " + parsed.error().message,
                                .location = requirement.location,
                                .hint = std::move(parsed.error().hint)};
  }
  return requirement;
}

// Reads one module.
class Reader {
 public:
  Reader(ClientKind tool, Diagnostics& diagnostics) : tool_(tool), diagnostics_(diagnostics) {}

  std::vector<CoreRequirement> read(const std::vector<ConfigText>& files) {
    for (const ConfigText& file : files) {
      if (file.role != ConfigFile::Role::test) {
        read_file(file);
      }
    }
    for (CoreRequirement& requirement : requirements_) {
      requirement.overridden = requirement.kind == CoreRequirement::Kind::required_version && !requirement.problem &&
                               !overriding_file_.empty() && requirement.location.path != overriding_file_;
    }
    return std::move(requirements_);
  }

 private:
  void read_file(const ConfigText& file) {
    for (const hcl::Block& block : file.parsed.body.blocks) {
      if (!block.labels.empty()) {
        continue;
      }
      if (block.type == "terraform") {
        read_required_version(block, file);
      } else if (block.type == "language" && tool_ == ClientKind::opentofu) {
        read_language(block, file);
      }
    }
  }

  void read_required_version(const hcl::Block& block, const ConfigText& file) {
    const hcl::Attribute* attribute = block.body.find("required_version");
    if (attribute == nullptr) {
      return;
    }
    auto requirement = read_constraint(CoreRequirement::Kind::required_version, *attribute, file);
    const bool is_broken = requirement && requirement->problem;
    if (file.role == ConfigFile::Role::override_file && !is_broken) {
      overriding_file_ = file.path;
    }
    if (requirement) {
      requirements_.push_back(std::move(*requirement));
    }
  }

  void read_language(const hcl::Block& block, const ConfigText& file) {
    requirements_.push_back({.kind = CoreRequirement::Kind::language,
                             .location = {file.path, block.header_range},
                             .tofu_file = is_tofu_file(file)});
    const bool in_override = file.role == ConfigFile::Role::override_file;
    if (in_override) {
      report(file, block.header_range,
             "Language selections in override file: a \"language\" block is not allowed in an override file",
             "place these settings in a normal configuration file");
    }
    read_compatible_with(block, file, !in_override);
    if (const hcl::Attribute* edition = in_override ? nullptr : block.body.find("edition")) {
      check_edition(*edition, file);
    }
    if (const hcl::Attribute* experiments = in_override ? nullptr : block.body.find("experiments")) {
      check_experiments(*experiments, file);
    }
  }

  void read_compatible_with(const hcl::Block& language, const ConfigText& file, bool check_duplicates) {
    const hcl::Attribute* first = nullptr;
    for (const hcl::Block& block : language.body.blocks) {
      const hcl::Attribute* attribute = block.body.find("opentofu");
      if (block.type != "compatible_with" || !block.labels.empty() || attribute == nullptr) {
        continue;
      }
      if (first != nullptr && check_duplicates) {
        report(file, block.header_range,
               "Duplicate compatible_with block: a language block may have one compatible_with block that refers to "
               "OpenTofu",
               "join the constraints with a comma");
        diagnostics_.back().what.related.push_back({"the first one is here", {file.path, first->range()}});
      }
      auto requirement = read_constraint(CoreRequirement::Kind::compatible_with, *attribute, file);
      if (first == nullptr && !(requirement && requirement->problem)) {
        first = attribute;
      }
      if (requirement) {
        requirements_.push_back(std::move(*requirement));
      }
    }
  }

  void check_edition(const hcl::Attribute& attribute, const ConfigText& file) {
    const std::string keyword = read_keyword(attribute.value);
    const Range& range = attribute.value.range;
    if (keyword.empty()) {
      report(file, range, "Invalid language edition: the \"edition\" argument expects a bare language edition keyword",
             fmt::format("write {}, the only edition, or leave the argument out", kEdition));
    } else if (keyword.starts_with("TF")) {
      report(file, range,
             fmt::format("Unsupported language edition: OpenTofu does not support the edition {}", keyword),
             "this module may be intended for use with other software");
    } else if (keyword != kEdition) {
      report(file, range,
             fmt::format("Unsupported language edition: OpenTofu only supports the edition {}, found {}", kEdition,
                         keyword),
             fmt::format("this module requires a {} version of OpenTofu", keyword > kEdition ? "newer" : "different"));
    }
  }

  void check_experiments(const hcl::Attribute& attribute, const ConfigText& file) {
    const auto* list = std::get_if<hcl::Tuple>(&attribute.value.node);
    if (list == nullptr) {
      report(file, attribute.value.range, "Invalid expression: \"experiments\" must be a static list expression",
             "leave the argument out: there are no experiments");
      return;
    }
    for (const hcl::Expression& item : list->items) {
      const std::string keyword = read_keyword(item);
      report(file, item.range,
             keyword.empty()
                 ? "Invalid experiment keyword: elements of \"experiments\" must all be keywords"
                 : fmt::format("Unknown experiment keyword: there is no current experiment \"{}\"", keyword),
             "leave the argument out: there are no experiments");
    }
  }

  void report(const ConfigText& file, const Range& range, std::string message, std::string hint) {
    diagnostics_.push_back(config_error(file, range, std::move(message), std::move(hint)));
  }

  const ClientKind tool_;
  Diagnostics& diagnostics_;
  std::vector<CoreRequirement> requirements_;
  std::string overriding_file_;  // the last override file with a required_version
};

}  // namespace

std::vector<CoreRequirement> read_core_requirements(const std::vector<ConfigText>& files, ClientKind tool,
                                                    Diagnostics& diagnostics) {
  return Reader(tool, diagnostics).read(files);
}

}  // namespace modlock
