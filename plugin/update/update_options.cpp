#include "plugin/update/update_options.h"

namespace modlock {
namespace {

std::string_view type_of(const Version& from, const Version& to) {
  if (from.numbers()[0] != to.numbers()[0]) {
    return "major";
  }
  return from.numbers()[1] != to.numbers()[1] ? "minor" : "patch";
}

}  // namespace

std::vector<UpdateOption> update_options(std::span<const OfferedVersion> offered, const Version& current,
                                         std::string_view current_value, const ValueOf& value_of) {
  std::optional<UpdateOption> same_major;
  std::optional<UpdateOption> higher_major;
  for (const OfferedVersion& offer : offered) {
    const bool is_newer = offer.version > current;
    if (!is_newer || (!offer.version.prerelease().empty() && current.prerelease().empty())) {
      continue;
    }
    const std::string_view type = type_of(current, offer.version);
    std::optional<UpdateOption>& best = type == "major" ? higher_major : same_major;
    if (best && best->version >= offer.version) {
      continue;
    }
    if (auto value = value_of(offer)) {
      const bool stays = *value == current_value;
      best = UpdateOption{offer.version, std::move(*value), std::string(type), offer.id, stays};
    }
  }
  std::vector<UpdateOption> options;
  for (std::optional<UpdateOption>* option : {&same_major, &higher_major}) {
    if (*option) {
      options.push_back(std::move(**option));
    }
  }
  return options;
}

}  // namespace modlock
