#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "plugin/config/did_you_mean.h"
#include "plugin/config/module_call.h"
#include "plugin/config/structure.h"
#include "plugin/hcl/characters.h"

namespace modlock {
namespace {

template <typename Rule>
std::string_view name_of(const Rule& rule) {
  if constexpr (std::is_same_v<Rule, BlockRule>) {
    return rule.type;
  } else {
    return rule.name;
  }
}

template <typename Rule>
const Rule* find_rule(std::span<const Rule> rules, std::string_view name, ClientKind tool) {
  const auto found = std::find_if(rules.begin(), rules.end(), [&](const Rule& rule) {
    return name_of(rule) == name && is_known(rule.known, tool);
  });
  return found == rules.end() ? nullptr : &*found;
}

template <typename Rule>
std::string suggestion(std::span<const Rule> rules, std::string_view name, ClientKind tool) {
  std::vector<std::string_view> names;
  for (const Rule& rule : rules) {
    if (is_known(rule.known, tool)) {
      names.push_back(name_of(rule));
    }
  }
  return did_you_mean(name, names);
}

// "an output", "a variable"
std::string with_article(std::string_view type) {
  constexpr std::string_view kVowels = "aeiou";
  return fmt::format("{} {}", kVowels.find(type.front()) == std::string_view::npos ? "a" : "an", type);
}

std::string label_names(const BlockRule& rule) {
  return rule.label_count() == 2 ? fmt::format("{} and {}", rule.labels[0], rule.labels[1])
                                 : std::string(rule.labels[0]);
}

std::string title_of(const hcl::Block* owner) {
  return owner == nullptr ? "a configuration file" : fmt::format("{} block", with_article(owner->type));
}

class BodyChecker {
 public:
  explicit BodyChecker(const StructureContext& context) : context_(context) {}

  // `owner` is the block that the body is of, or nothing of a file; `header` is where what it lacks is reported.
  void check(const hcl::Body& body, const BodyRule& rule, const hcl::Block* owner, const Range* header) {
    for (const hcl::Attribute& attribute : body.attributes) {
      if (rule.others == ExtraArguments::refused &&
          find_rule(rule.arguments, attribute.name, context_.tool) == nullptr) {
        report_argument(attribute, rule, title_of(owner));
      }
    }
    for (const ArgumentRule& argument : rule.arguments) {
      if (argument.required && header != nullptr && body.find(argument.name) == nullptr) {
        context_.report(*header, fmt::format("Missing required argument: {} needs the argument \"{}\"", title_of(owner),
                                             argument.name));
      }
    }
    for (const hcl::Block& block : body.blocks) {
      if (const BlockRule* known = find_rule(rule.blocks, block.type, context_.tool)) {
        check_block(block, *known);
      } else if (rule.others != ExtraArguments::all) {
        report_block(block, rule, title_of(owner));
      }
    }
  }

 private:
  void check_block(const hcl::Block& block, const BlockRule& rule) {
    const bool reads_nothing = (rule.type == "language" || rule.type == "check") && context_.is_override();
    // The reader of module calls counts their labels.
    if (rule.type != "module" && !has_labels(block, rule)) {
      return;
    }
    if (rule.body == nullptr || reads_nothing) {
      return;
    }
    // Override files give what they change only, and no conditions at all.
    const bool needs_all = !(context_.is_override() && rule.type == "output");
    const bool is_condition = context_.is_override() && is_condition_type(rule.type);
    if (!is_condition) {
      check(block.body, *rule.body, &block, needs_all ? &block.header_range : nullptr);
    }
  }

  static bool is_condition_type(std::string_view type) {
    return type == "precondition" || type == "postcondition" || type == "validation";
  }

  bool has_labels(const hcl::Block& block, const BlockRule& rule) {
    const std::size_t expected = rule.label_count();
    const std::size_t found = block.labels.size();
    if (found == expected) {
      return true;
    }
    const std::string needs = expected == 0 ? fmt::format("{} block has no labels", with_article(rule.type))
                                            : fmt::format("{} block has {} label{} ({})", with_article(rule.type),
                                                          expected, expected == 1 ? "" : "s", label_names(rule));
    if (found > expected) {
      context_.report(block.labels[expected].range, fmt::format("Extraneous label for {}: {}", rule.type, needs),
                      "remove the label");
    } else {
      context_.report(block.header_range, fmt::format("Missing {} for {}: {}, found {}", rule.labels[found], rule.type,
                                                      needs, found == 0 ? "none" : "one"));
    }
    return false;
  }

  void report_argument(const hcl::Attribute& attribute, const BodyRule& rule, const std::string& title) {
    std::string hint = find_rule(rule.blocks, attribute.name, context_.tool) != nullptr
                           ? fmt::format("it is a block: write {} {{ … }}", attribute.name)
                           : suggestion(rule.arguments, attribute.name, context_.tool);
    context_.report(
        attribute.name_range,
        fmt::format("Unsupported argument: {} has no argument {}", title, hcl::quoted_for_message(attribute.name)),
        std::move(hint));
  }

  void report_block(const hcl::Block& block, const BodyRule& rule, const std::string& title) {
    if (rule.others == ExtraArguments::arguments) {
      context_.report(
          block.type_range,
          fmt::format("Unexpected {} block: blocks are not allowed in {}", hcl::quoted_for_message(block.type), title),
          fmt::format("to define an argument, write {} = {{ … }}", block.type));
      return;
    }
    std::string hint = find_rule(rule.arguments, block.type, context_.tool) != nullptr
                           ? fmt::format("it is an argument: write {} = …", block.type)
                           : suggestion(rule.blocks, block.type, context_.tool);
    context_.report(
        block.type_range,
        fmt::format("Unsupported block type: {} has no blocks of type {}", title, hcl::quoted_for_message(block.type)),
        std::move(hint));
  }

  const StructureContext& context_;
};

}  // namespace

void check_file_body(const hcl::Body& body, const BodyRule& rule, const StructureContext& context) {
  BodyChecker(context).check(body, rule, nullptr, nullptr);
}

void check_name(const hcl::Label& label, std::string_view what, const StructureContext& context) {
  if (!is_identifier(label.text)) {
    context.report(
        label.range,
        fmt::format("Invalid {} name: {} must start with a letter or underscore and may contain only letters, "
                    "digits, underscores and dashes",
                    what, hcl::quoted_for_message(label.text)));
  }
}

}  // namespace modlock
