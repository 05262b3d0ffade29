// The same bytes, unpacked by us and by a stock client.
#include <fmt/format.h>
#include <sys/stat.h>

#include <boost/test/unit_test.hpp>

#include "backends/package/tree_hash.h"
#include "tests/backends/package/unpack_fixture.h"
#include "tests/support/module_registry.h"
#include "tests/support/needs.h"
#include "tests/support/run.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

// Takes away what unpack.h says is otherwise.
void level(const fs::path& tree) {
  fs::remove_all(tree / ".git");
  for (const auto& entry : fs::recursive_directory_iterator(tree)) {
    const auto kept = entry.status().permissions() & fs::perms(0777);
    fs::permissions(entry.path(), kept | (entry.is_directory() ? fs::perms(0700) : fs::perms(0400)));
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(unpack_client)

BOOST_AUTO_TEST_CASE(makes_the_tree_of_a_client, *needs("tofu or terraform")) {
  struct Row {
    const char* name;
    std::string bytes;
    ArchiveFormat format;
  };
  const std::string pax = make_tar(ordinary_tar_entries(), {.global_comment = "0123456789abcdef"});
  const Row rows[] = {
      {"x.zip", make_zip(ordinary_zip_entries()), ArchiveFormat::zip},
      {"y.zip", zip_with_unicode_path(), ArchiveFormat::zip},
      {"x.tar.gz", compress("gzip", pax), ArchiveFormat::tar_gz},
      {"x.tar.xz", compress("xz", pax), ArchiveFormat::tar_xz},
      {"x.tar.bz2", compress("bzip2", make_tar(ordinary_tar_entries(), {.dialect = TarDialect::gnu})),
       ArchiveFormat::tar_bz2},
  };
  ModuleRegistry server;
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      server.serve(fmt::format("/{}", row.name), {.body = row.bytes, .type = "application/octet-stream"});
      const TemporaryDirectory root;
      root.write("main.tf", fmt::format("module \"m\" {{\n  source = \"{}/{}\"\n}}\n", server.url(), row.name));
      root.write("client.rc", "");
      run({clients().front(), "init", "-no-color", "-input=false"}, root.path(),
          {{"TF_CLI_CONFIG_FILE", (root / "client.rc").string()},
           {"CHECKPOINT_DISABLE", "1"},
           {"NO_PROXY", "127.0.0.1"},
           {"no_proxy", "127.0.0.1"}});
      const fs::path theirs = root / ".terraform/modules/m";
      level(theirs);

      Unpacking ours(row.bytes);
      BOOST_REQUIRE(ours.run(row.format).has_value());
      BOOST_TEST(describe_tree(ours.tree) == describe_tree(theirs));
      const auto our_hash = hash_tree(ours.tree, Context{});
      const auto their_hash = hash_tree(theirs, Context{});
      BOOST_REQUIRE((our_hash.has_value() && their_hash.has_value()));
      BOOST_TEST(*our_hash == *their_hash);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
