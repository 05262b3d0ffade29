#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "plugin/hcl/json_syntax.h"
#include "plugin/hcl/parser.h"
#include "plugin/hcl/value.h"
#include "tests/plugin/hcl/json_schema.h"
#include "tests/plugin/hcl/tree_shape.h"
#include "tests/plugin/hcl/tree_walk.h"

namespace {

using namespace modlock;
using namespace modlock::hcl;

void require(bool holds) {
  if (!holds) std::abort();
}

class Checker {
 public:
  explicit Checker(std::string_view text) : text_(text) {}

  void file(const ParsedFile& file) const {
    test::walk_tree(
        file.body, [&](std::string_view what, const Range& inner, const Range& outer) { visit(what, inner, outer); },
        test::Syntax::json);
    strings(file.body);
    for (const Diagnostic& diagnostic : file.diagnostics) error(diagnostic.what);
  }

 private:
  void range(const Range& range) const {
    require(range.start.byte <= range.end.byte && range.end.byte <= text_.size());
    require(range.start.line <= range.end.line && range.start.line > 0 && range.start.column > 0);
  }

  void error(const Error& error) const {
    require(error.location.has_value() && error.location->range.has_value());
    range(*error.location->range);
    require(!error.message.empty());
  }

  void visit(std::string_view what, const Range& inner, const Range& outer) const {
    range(inner);
    require(inner.start.byte >= outer.start.byte && inner.end.byte <= outer.end.byte);
    if (what == "string" || what == "attribute name" || what == "label" || what == "block type") {
      require(inner.end.byte - inner.start.byte >= 2);
      require(text_[inner.start.byte] == '"' && text_[inner.end.byte - 1] == '"');
    }
  }

  void strings(const Body& body) const {
    for (const Attribute& attribute : body.attributes) {
      strings(attribute.value);
      static_cast<void>(static_value(attribute.value, "fuzz.tf.json"));
    }
    for (const Block& block : body.blocks) strings(block.body);
  }

  void strings(const Expression& expression) const {
    if (const auto* tuple = std::get_if<Tuple>(&expression.node)) {
      for (const Expression& item : tuple->items) strings(item);
    } else if (const auto* object = std::get_if<Object>(&expression.node)) {
      for (const ObjectItem& item : object->items) {
        strings(item.key);
        strings(item.value);
      }
    } else if (std::holds_alternative<JsonString>(expression.node)) {
      for (const auto& read : {template_of(expression, "fuzz"), expression_of(expression, "fuzz")}) {
        if (!read) {
          error(read.error());
          continue;
        }
        test::TreeWalk walk([&](std::string_view, const Range& inner, const Range& outer) {
          range(inner);
          require(inner.start.byte >= outer.start.byte && inner.end.byte <= outer.end.byte);
        });
        walk.expression(*read, expression.range);
      }
    }
  }

  std::string_view text_;
};

}  // namespace

// Any bytes are read without a crash, and twice alike; every range that comes out lies in the text and in its parent,
// and strings stand in quotes, also what strings hold as templates and as expressions.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const ParsedFile file = parse_json(text, "fuzz.tf.json", test::json_schema());
  Checker(text).file(file);
  const ParsedFile again = parse_json(text, "fuzz.tf.json", test::json_schema());
  require(test::outline(again.body) == test::outline(file.body));
  require(again.diagnostics.size() == file.diagnostics.size());
  return 0;
}
