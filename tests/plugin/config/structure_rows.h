#pragma once

#include <boost/test/unit_test.hpp>
#include <string_view>

#include "plugin/config/config_schema.h"
#include "tests/plugin/config/config_texts.h"

namespace modlock::test {

// What check_structure() says of files; nothing where they are fine.
struct StructureRow {
  const char* name;
  Texts files;
  std::string_view diagnostics;
};

template <std::size_t kCount>
void check_rows(const StructureRow (&rows)[kCount], ClientKind tool = ClientKind::opentofu) {
  for (const StructureRow& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto files = read_texts(row.files, tool);
      BOOST_TEST(describe(check_structure(files, tool), files) == row.diagnostics);
    }
  }
}

}  // namespace modlock::test
