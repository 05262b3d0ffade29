#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "backends/address/provider_address.h"
#include "backends/address/source.h"
#include "backends/address/version.h"
#include "plugin/constraint/module_constraint.h"
#include "plugin/constraint/provider_constraint.h"

namespace {

using namespace modlock;

void require(bool holds) {
  if (!holds) std::abort();
}

void check_source(std::string_view text) {
  const auto parsed = parse_source(text);
  // A path is never locked, and OpenTofu's own form of one with "#" in it reads back as another.
  if (!parsed || parsed->source.kind == SourceKind::directory) return;
  const auto again = parse_source(parsed->normalised.reveal());
  require(again && again->source == parsed->source);
  // A detector's own form of doubled slashes is another one when OpenTofu reads it again, also behind "git::".
  const bool is_detected = text.find(".googleapis.com/") != text.npos || text.find(".amazonaws.com/") != text.npos;
  require(is_detected || again->normalised == parsed->normalised);
  if (parsed->source.kind == SourceKind::unsupported) return;  // refused before anything is locked
  const std::string identity = parsed->source.identity();
  const auto locked = parse_identity(identity);
  require(locked && locked->identity() == identity);
}

void check_provider_address(std::string_view text, std::string_view default_host) {
  const auto parsed = ProviderAddress::parse(text, default_host);
  if (!parsed) return;
  // OpenTofu takes these as one part, and no longer where the other parts are written out.
  if (parsed->type().starts_with("terraform-") || parsed->type().starts_with("opentofu-")) return;
  const auto again = ProviderAddress::parse(parsed->to_string(), default_host);
  require(again && *again == *parsed && again->to_string() == parsed->to_string());
}

void check_versions(std::string_view text) {
  if (const auto parsed = Version::parse(text)) {
    const auto again = Version::parse(parsed->to_string());
    require(again && again->to_string() == parsed->to_string() && *again == *parsed);
  }
  if (const auto parsed = ProviderVersion::parse(text)) {
    const auto again = ProviderVersion::parse(parsed->to_string());
    require(again && *again == *parsed);
  }
}

void check_constraints(std::string_view text) {
  if (const auto parsed = ModuleConstraint::parse(text)) {
    const auto again = ModuleConstraint::parse(parsed->text());
    require(again && again->text() == parsed->text() && again->items().size() == parsed->items().size());
  }
  const auto locked = ProviderConstraint::parse_locked(text);
  if (const auto parsed = ProviderConstraint::parse(text)) {
    require(locked && locked->items() == parsed->items());
  }
  if (locked) {
    const auto again = ProviderConstraint::parse_locked(locked->canonical());
    require(again && again->canonical() == locked->canonical());
  }
}

}  // namespace

// Whatever is read without an error prints as a text that is read as the same.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_source(text);
  check_provider_address(text, kOpenTofuRegistry);
  check_provider_address(text, kTerraformRegistry);
  check_versions(text);
  check_constraints(text);
  return 0;
}
