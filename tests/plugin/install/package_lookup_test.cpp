#include "plugin/install/package_lookup.h"

#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "backends/address/source.h"
#include "tests/support/temporary_directory.h"

using namespace modlock;
using namespace modlock::test;

namespace fs = std::filesystem;

BOOST_AUTO_TEST_SUITE(package_lookup)

// Two packages have the same files, and only their modes differ. The one that was fetched from the source of the call
// is found by its record, so no other package is looked at.
BOOST_AUTO_TEST_CASE(the_package_of_a_source_is_found_by_its_record) {
  struct Row {
    std::string source;
    std::string id;    // of the record
    std::string hash;  // of the lock entry
  };
  const std::string commit(40, 'c');
  const std::string digest = "sha256:" + std::string(64, 'd');
  for (const Row& row : {
           Row{"git::https://example.com/vpc.git?ref=main", commit, "git:" + commit},
           Row{"oci://example.com/vpc", digest, "oci:" + digest},
       }) {
    BOOST_TEST_CONTEXT(row.source) {
      for (const bool is_executable : {true, false}) {
        const TemporaryDirectory directory;
        const Context context;
        const Store store = Store::open(directory / "cache").value();
        ModuleNode node;
        node.key = "vpc";
        node.address = parse_source(row.source).value();
        const auto admit = [&](const std::string& source, bool executable) {
          const fs::path tree = store.make_temporary().value();
          write_text(tree / "run.sh", "#!/bin/sh\n");
          fs::permissions(tree / "run.sh", fs::perms::owner_exec,
                          executable ? fs::perm_options::add : fs::perm_options::remove);
          return store
              .admit(parse_source(source).value().source, {.id = row.id, .directory = tree, .warnings = {}}, context)
              .value();
        };
        const Package own = admit(row.source, is_executable);
        admit("git::https://example.com/other.git", !is_executable);
        LockFile lock;
        lock.modules.emplace(
            "vpc", ModuleLock{.key = "vpc", .source = node.address.source.identity(), .hashes = {own.h1, row.hash}});
        BOOST_TEST(stored_package(node, lock, store, context).directory == own.directory);
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
