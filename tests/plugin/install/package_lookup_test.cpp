#include "plugin/install/package_lookup.h"

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <vector>

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
        KnownPackages known;
        BOOST_TEST(stored_package(node, lock, store, known, context).directory == own.directory);
      }
    }
  }
}

// Calls of a package share its check, which looks at each of its files.
BOOST_AUTO_TEST_CASE(a_package_is_checked_once_for_all_its_calls) {
  const TemporaryDirectory directory;
  const Context context;
  const Store store = Store::open(directory / "cache").value();
  const std::string commit(40, 'c');
  const fs::path tree = store.make_temporary().value();
  write_text(tree / "a/main.tf", "");
  write_text(tree / "b/main.tf", "");
  const Package package = store
                              .admit(parse_source("git::https://example.com/vpc.git").value().source,
                                     {.id = commit, .directory = tree, .warnings = {}}, context)
                              .value();
  LockFile lock;
  std::vector<ModuleNode> nodes(2);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    nodes[i].key = i == 0 ? "a" : "b";
    nodes[i].address = parse_source("git::https://example.com/vpc.git//" + nodes[i].key).value();
    lock.modules.emplace(nodes[i].key, ModuleLock{.key = nodes[i].key,
                                                  .source = nodes[i].address.source.identity(),
                                                  .hashes = {package.h1, "git:" + commit}});
  }
  KnownPackages known;
  BOOST_TEST(stored_package(nodes[0], lock, store, known, context).directory == package.directory);
  write_text(package.directory / "b/main.tf", "# changed\n");
  BOOST_TEST(stored_package(nodes[1], lock, store, known, context).directory == package.directory);
  KnownPackages none;
  BOOST_TEST(stored_package(nodes[1], lock, store, none, context).directory == "");
  lock.modules.at("b").hashes.front() = "h1:other";
  BOOST_TEST(stored_package(nodes[1], lock, store, known, context).directory == "");
}

BOOST_AUTO_TEST_SUITE_END()
