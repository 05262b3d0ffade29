#include "plugin/resolve/call_kind.h"

namespace modlock {

bool chooses_version(const ModuleNode& node) {
  return !node.constraints.empty() || node.address.source.kind == SourceKind::registry;
}

bool names_id(const ModuleNode& node) {
  const Source& source = node.address.source;
  if (source.kind == SourceKind::oci) {
    return !source.query_value("digest").empty();
  }
  const std::string ref = source.query_value("ref");
  return ref.size() >= 7 && ref.find_first_not_of("0123456789abcdefABCDEF") == std::string::npos;
}

std::string named_reference(const Source& source) {
  return source.query_value(source.kind == SourceKind::oci ? "tag" : "ref");
}

bool needs_locked_tag(const Source& source) {
  return source.kind != SourceKind::registry && source.kind != SourceKind::oci;
}

bool may_move(const Source& source, const std::string& ref) {
  if (source.kind == SourceKind::git) {
    return !ref.starts_with("refs/tags/");
  }
  return source.kind == SourceKind::oci && (ref.empty() || ref == "latest");
}

}  // namespace modlock
