#pragma once

#include <array>
#include <span>
#include <string_view>

#include "plugin/value/client_kind.h"

// What may stand in the blocks of configuration files. The schemas of JSON syntax are made of these rules too.
namespace modlock {

struct BodyRule;

enum class SupportedBy { by_both, by_opentofu, by_terraform };

struct ArgumentRule {
  std::string_view name;
  bool required = false;
  SupportedBy known = SupportedBy::by_both;
};

struct BlockRule {
  std::string_view type;
  std::array<std::string_view, 2> labels = {};  // what they are; empty: there is none
  const BodyRule* body = nullptr;               // null: what stands in it is for a provider or a backend to judge
  SupportedBy known = SupportedBy::by_both;

  std::size_t label_count() const { return labels[0].empty() ? 0U : labels[1].empty() ? 1U : 2U; }
};

// What else may stand in a body.
enum class ExtraArguments { refused, arguments, all };

struct BodyRule {
  std::span<const ArgumentRule> arguments = {};
  std::span<const BlockRule> blocks = {};
  ExtraArguments others = ExtraArguments::refused;
};

constexpr bool is_known(SupportedBy known, ClientKind tool) {
  return known == SupportedBy::by_both || (known == SupportedBy::by_opentofu) == (tool == ClientKind::opentofu);
}

const BodyRule& module_file_rule();
const BodyRule& test_file_rule();

}  // namespace modlock
