#include "plugin/config/config_schema.h"

#include <boost/test/unit_test.hpp>
#include <string>

using namespace modlock;

namespace {

// The block at a path of types, "a/b", or null.
const hcl::BlockSchema* find(const hcl::BodySchema& root, std::string_view path) {
  const hcl::BodySchema* body = &root;
  const hcl::BlockSchema* found = nullptr;
  while (body != nullptr && !path.empty()) {
    const std::string_view type = path.substr(0, path.find('/'));
    path.remove_prefix(std::min(path.size(), type.size() + 1));
    found = nullptr;
    for (const hcl::BlockSchema& block : body->blocks) {
      if (block.type == type) {
        found = &block;
        break;
      }
    }
    body = found != nullptr ? found->body : nullptr;
  }
  return path.empty() ? found : nullptr;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(config_schema)

BOOST_AUTO_TEST_CASE(blocks) {
  struct Row {
    const char* path;
    std::size_t labels;
    bool test_file = false;
  };
  const Row rows[] = {
      {"language/compatible_with", 0},
      {"provider", 1},
      {"variable/validation", 0},
      {"locals", 0},
      {"output/precondition", 0},
      {"module/provider", 1},
      {"module/lifecycle", 0},
      {"resource", 2},
      {"resource/lifecycle/postcondition", 0},
      {"resource/provisioner", 1},
      {"resource/provisioner/connection", 0},
      {"data", 2},
      {"ephemeral", 2},
      {"check", 1},
      {"check/data", 2},
      {"check/assert", 0},
      {"removed/provisioner", 1},
      {"terraform/backend", 1},
      {"terraform/required_providers", 0},
      {"terraform/provider_meta", 1},
      {"terraform/encryption/key_provider", 2},
      {"terraform/encryption/state/fallback/fallback/fallback", 0},
      {"terraform/encryption/remote_state_data_sources/remote_state_data_source", 1},
      {"run", 1, true},
      {"run/module", 0, true},
      {"provider", 1, true},
      {"mock_provider/mock_data", 1, true},
      {"override_module", 0, true},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.path) {
      const auto* block = find(row.test_file ? test_file_schema() : module_file_schema(), row.path);
      BOOST_TEST_REQUIRE(block != nullptr);
      BOOST_TEST(block->labels == row.labels);
    }
  }
}

BOOST_AUTO_TEST_CASE(attributes) {
  for (const char* path : {"module/providers", "resource/provider", "locals/x", "terraform/required_providers/aws",
                           "terraform/backend/path", "moved/from", "run"}) {
    BOOST_TEST_CONTEXT(path) {
      BOOST_TEST(find(module_file_schema(), path) == nullptr);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
