#include "plugin/config/config_schema.h"

#include <map>
#include <vector>

#include "plugin/config/body_rules.h"

namespace modlock {
namespace {

// The schemas of a rule and of all rules below it.
class SchemaSet {
 public:
  explicit SchemaSet(const BodyRule& rule) : root_(add(rule)) {}
  SchemaSet(const SchemaSet&) = delete;
  SchemaSet& operator=(const SchemaSet&) = delete;

  const hcl::BodySchema& root() const { return root_; }

 private:
  struct Entry {
    std::vector<hcl::BlockSchema> blocks;
    hcl::BodySchema schema;
  };

  // A rule that holds itself finds its own entry. Where the tools differ in a block's body, the first rule of it
  // counts.
  const hcl::BodySchema& add(const BodyRule& rule) {
    const auto [place, added] = entries_.try_emplace(&rule);
    Entry& entry = place->second;
    if (added) {
      for (const BlockRule& block : rule.blocks) {
        entry.blocks.push_back({block.type, block.label_count(), block.body != nullptr ? &add(*block.body) : nullptr});
      }
      entry.schema.blocks = entry.blocks;
    }
    return entry.schema;
  }

  std::map<const BodyRule*, Entry> entries_;
  const hcl::BodySchema& root_;
};

}  // namespace

const hcl::BodySchema& module_file_schema() {
  static const SchemaSet kSchemas(module_file_rule());
  return kSchemas.root();
}

const hcl::BodySchema& test_file_schema() {
  static const SchemaSet kSchemas(test_file_rule());
  return kSchemas.root();
}

}  // namespace modlock
