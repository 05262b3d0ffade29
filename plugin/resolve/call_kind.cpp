#include "plugin/resolve/call_kind.h"

#include <algorithm>
#include <string_view>

namespace modlock {
namespace {

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// "1", "v1", "v1.2": one number or two, where a version has three.
bool is_partial_version(std::string_view name) {
  if (name.starts_with('v')) {
    name.remove_prefix(1);
  }
  const std::size_t dot = std::min(name.find('.'), name.size());
  return is_number(name.substr(0, dot)) && (dot == name.size() || is_number(name.substr(dot + 1)));
}

}  // namespace

bool chooses_version(const ModuleNode& node) {
  return !node.constraints.empty() || node.address.source.is_registry();
}

std::string version_group(const ModuleNode& node, Resolution resolution) {
  const bool alone = node.address.source.is_registry() && resolution == Resolution::automatic;
  const bool shares = chooses_version(node) && !alone && resolution != Resolution::per_call;
  return shares ? node.address.source.package_identity() + "\n" + node.tag_prefix : "\n" + node.key;
}

std::string named_reference(const Source& source) {
  for (const std::string_view argument : {"tag", "rev", "ref"}) {
    if (std::string value = source.query_value(argument); !value.empty()) {
      return value;
    }
  }
  return {};
}

bool may_move(const Source& source, const std::string& ref) {
  const SourceTraits& traits = source.traits();
  if (source.has_commits()) {
    return !ref.starts_with("refs/tags/");
  }
  if (source.has_tags()) {
    return ref.empty() || ref == traits.default_reference;
  }
  return traits.content_id != ContentId::checksum && source.query_value("tag").empty();
}

bool is_expected_to_move(const Source& source, std::string_view ref) {
  const std::string_view name = ref.substr(ref.rfind('/') + 1);
  return may_move(source, std::string(ref)) || name == "latest" || is_partial_version(name);
}

}  // namespace modlock
