#include "plugin/config/object_address.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace modlock {
namespace {

// What Terraform takes for no type of resource.
bool is_reserved(std::string_view name) {
  constexpr std::array<std::string_view, 10> kReserved = {"arg",  "count", "each",     "lazy",      "local",
                                                          "path", "self",  "template", "terraform", "var"};
  return std::find(kReserved.begin(), kReserved.end(), name) != kReserved.end();
}

}  // namespace

std::string ObjectAddress::to_string() const {
  std::string text = module;
  for (const std::string& part : {mode, type, name}) {
    if (!part.empty()) {
      text += fmt::format("{}{}", text.empty() ? "" : ".", part);
    }
  }
  return text;
}

std::optional<ObjectAddress> read_object_address(const Traversal& traversal, ClientKind tool) {
  const auto& steps = traversal.steps;
  std::size_t at = 0;
  const auto is_name = [&](std::size_t place) { return place < steps.size() && !steps[place].key; };
  ObjectAddress address;
  while (is_name(at) && steps[at].name == "module") {
    if (!is_name(at + 1)) {
      return std::nullopt;
    }
    address.module += fmt::format("{}module.{}", address.module.empty() ? "" : ".", steps[at + 1].name);
    at += 2;
    if (at < steps.size() && steps[at].key) {
      address.module_keys = true;
      ++at;
    }
  }
  if (at == steps.size()) {
    return address;
  }
  if (is_name(at) && (steps[at].name == "data" || steps[at].name == "ephemeral")) {
    address.mode = steps[at++].name;
  } else if (is_name(at) && tool == ClientKind::terraform) {
    if (is_reserved(steps[at].name)) {
      return std::nullopt;
    }
    at += steps[at].name == "resource" ? 1U : 0U;
  }
  if (!is_name(at) || !is_name(at + 1)) {
    return std::nullopt;
  }
  address.type = steps[at].name;
  address.name = steps[at + 1].name;
  at += 2;
  if (at < steps.size() && steps[at].key) {
    address.key = true;
    ++at;
  }
  return at == steps.size() ? std::optional(std::move(address)) : std::nullopt;
}

}  // namespace modlock
