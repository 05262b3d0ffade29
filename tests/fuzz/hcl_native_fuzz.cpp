#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "plugin/hcl/parser.h"
#include "plugin/hcl/value.h"
#include "tests/plugin/hcl/tree_walk.h"

namespace {

// Whether the range of every name holds the name.
bool names_hold(const modlock::hcl::Body& body, std::string_view text) {
  const auto holds = [&](const modlock::Range& range, std::string_view name) {
    return text.substr(range.start.byte, range.end.byte - range.start.byte) == name;
  };
  return std::all_of(body.attributes.begin(), body.attributes.end(),
                     [&](const auto& attribute) { return holds(attribute.name_range, attribute.name); }) &&
         std::all_of(body.blocks.begin(), body.blocks.end(), [&](const auto& block) {
           return text.substr(block.header_range.start.byte).starts_with(block.type) && names_hold(block.body, text);
         });
}

}  // namespace

// Any bytes are read without a crash; every range that comes out lies in the text and in its parent, and that of a name
// holds the name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace modlock;
  using namespace modlock::hcl;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const ParsedFile file = parse_native(text, "fuzz.tf");
  const auto require = [](bool holds) {
    if (!holds) std::abort();
  };
  const auto check = [&](const Range& range) {
    require(range.start.byte <= range.end.byte && range.end.byte <= size);
    require(range.start.line <= range.end.line && range.start.line > 0 && range.start.column > 0);
  };
  test::walk_tree(file.body, [&](std::string_view, const Range& range, const Range& outer) {
    check(range);
    require(range.start.byte >= outer.start.byte && range.end.byte <= outer.end.byte);
  });
  require(names_hold(file.body, text));
  for (const Attribute& attribute : file.body.attributes) static_cast<void>(static_value(attribute.value, "fuzz.tf"));
  for (const Diagnostic& diagnostic : file.diagnostics) {
    require(diagnostic.what.location.has_value() && diagnostic.what.location->range.has_value());
    check(*diagnostic.what.location->range);
    require(!diagnostic.what.message.empty());
  }
  return 0;
}
