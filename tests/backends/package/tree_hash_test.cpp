#include "backends/package/tree_hash.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <functional>

#include "backends/base/digest.h"
#include "protocol/base/json.h"
#include "tests/support/temporary_directory.h"

using namespace modlock;
using modlock::test::read_text;
using modlock::test::TemporaryDirectory;
using modlock::test::write_text;
namespace fs = std::filesystem;

namespace {

std::string h1_of(const fs::path& root) {
  const auto h1 = hash_tree(root, Context{});
  BOOST_REQUIRE_MESSAGE(h1.has_value(), (h1 ? "" : h1.error().message));
  return *h1;
}

// The h1 of the directory that a provider package is unpacked to.
Result<std::string> h1_of_provider(const fs::path& directory) {
  MODLOCK_TRY(const auto entries, list_tree(directory, TreeRules::provider_package));
  return summarise_entries(entries, {}, Context{}).map([](const TreeSummary& summary) { return summary.h1(); });
}

// The bytes of a member of a test vector (tests/vectors/README.md).
std::string bytes_of(const Json::Value& entry, const std::string& name) {
  return entry.isMember(name) ? entry[name].asString() : decode_base64(entry[name + "_base64"].asString()).value();
}

void put_vector(const fs::path& root, const Json::Value& tree) {
  for (const Json::Value& entry : tree) {
    const fs::path path = root / bytes_of(entry, "path");
    fs::create_directories(path.parent_path());
    if (entry.isMember("content")) {
      write_text(path, decode_base64(entry["content"].asString()).value());
      fs::permissions(path, fs::perms(std::stoul(entry.get("mode", "0644").asString(), nullptr, 8)));
    } else if (entry.isMember("directory")) {
      fs::create_directories(path);
    } else if (entry.isMember("pipe")) {
      BOOST_REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
    } else {
      fs::create_symlink(bytes_of(entry, "link"), path);
    }
  }
}

void put_plain_tree(const fs::path& root) {
  write_text(root / "main.tf", "resource {}\n");
  write_text(root / "empty.tf", "");
  write_text(root / "a/b", std::string_view("\0\1\377", 3));
  write_text(root / "a-b/c", "x");
  write_text(root / "a.txt", "y");
  write_text(root / ".hidden", "hid");
  write_text(root / "sp ace/\xc3\xbc.tf", "u");
  write_text(root / "Z", "z");
  fs::create_directory(root / "empty");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(tree_hash)

BOOST_AUTO_TEST_CASE(the_hash_of_0_1_left_out_version_control) {
  struct Row {
    const char* name;
    const char* file;
    bool is_left_out;
  };
  for (const Row& row : {Row{"Subversion", ".svn/x", true}, Row{"CVS, nested", "a/CVS/Root", true},
                         Row{"Mercurial", ".hg/x", true}, Row{"Bazaar", ".bzr/x", true}, Row{"Darcs", "_darcs/x", true},
                         Row{"a file of this name", "a/CVS", true}, Row{"another letter case", "cvs/Root", false},
                         Row{"a longer name", ".svnignore", false}, Row{"a directory", "modules/x.tf", false}}) {
    BOOST_TEST_CONTEXT(row.name) {
      const TemporaryDirectory root;
      write_text(root / "main.tf", "# x\n");
      const std::string before = h1_of(root.path());
      BOOST_TEST(former_hash_of_tree(root.path(), Context{}).value() == before);
      write_text(root / row.file, "1");
      BOOST_TEST((former_hash_of_tree(root.path(), Context{}).value() == before) == row.is_left_out);
      BOOST_TEST(h1_of(root.path()) != before);
    }
  }
}

// What dirhash.HashDir(directory, "", dirhash.Hash1) of golang.org/x/mod v0.42.0 prints for the same trees.
BOOST_AUTO_TEST_CASE(hashes_as_go_does) {
  struct Row {
    const char* name;
    std::function<void(const fs::path&)> make;
    const char* h1;
  };
  const Row rows[] = {
      {"nothing", [](const fs::path&) {}, "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="},
      {"names that sort bytewise", put_plain_tree, "h1:ACgDyE2e0+afGebzyAgavbysaiL40KOxjcUTU1T+IFU="},
      {"many files, so several threads",
       [](const fs::path& root) {
         for (int i = 0; i < 200; ++i) {
           write_text(root / fmt::format("d{}/f{}.tf", i % 7, i), fmt::format("file {}\n", i));
         }
       },
       "h1:jbapPCTx5t7AK+tHnJDNTHSzd97rut7rjCJTOeNfa7A="},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const TemporaryDirectory root;
      row.make(root.path());
      BOOST_TEST(h1_of(root.path()) == row.h1);
    }
  }
}

// scripts/check-lock reads the same files (tests/vectors/check_lock_test.py).
BOOST_AUTO_TEST_CASE(hashes_the_test_vectors) {
  std::size_t count = 0;
  for (const auto& file : fs::directory_iterator(MODLOCK_VECTORS "/trees")) {
    BOOST_TEST_CONTEXT(file.path().filename()) {
      ++count;
      const Json::Value vector = parse_json(read_text(file.path())).value();
      const TemporaryDirectory root;
      put_vector(root.path(), vector["tree"]);
      const auto summary = summarise_tree(root.path(), Context{});
      BOOST_TEST(summary.has_value() == vector.isMember("h1"));
      if (!summary) {
        const bool is_unreadable = vector["refused"] == "a link to a file with a slash at its end";
        BOOST_TEST((summary.error().code == (is_unreadable ? Code::io_error : Code::archive_unsafe)));
        continue;
      }
      BOOST_TEST(summary->h1() == vector["h1"].asString());
      std::string list;
      for (const Json::Value& line : vector.isMember("list") ? vector["list"] : vector["list_base64"]) {
        list += (vector.isMember("list") ? line.asString() : decode_base64(line.asString()).value()) + "\n";
      }
      BOOST_TEST(summary->text() == list);
    }
  }
  BOOST_TEST(count >= 60U);
}

BOOST_AUTO_TEST_CASE(lists_what_counts_in_bytewise_order) {
  const TemporaryDirectory root;
  put_plain_tree(root.path());
  write_text(root / ".git/config", "");
  write_text(root / "a/.git", "");
  write_text(root / "a/_darcs/x", "");
  write_text(root / "a/.gitignore", "");
  fs::create_symlink("b", root / "a/link");
  fs::create_symlink("../a", root / "a/up");
  fs::create_symlink("none", root / "a/dangling");
  const auto entries = list_tree(root.path());
  BOOST_REQUIRE(entries.has_value());
  std::string listed;
  for (const TreeEntry& entry : *entries) {
    constexpr const char* kTypes[] = {"", "@", "?"};
    listed += entry.name + kTypes[static_cast<int>(entry.type)] + "\n";
    BOOST_TEST(entry.path == root.path() / entry.name);
  }
  BOOST_TEST(listed ==
             ".hidden\nZ\na-b/c\na.txt\na/.gitignore\na/_darcs/x\na/b\na/dangling?\na/link@\na/up?\nempty.tf\nmain.tf\n"
             "sp ace/\xc3\xbc.tf\n");
}

BOOST_AUTO_TEST_CASE(modes_are_hashed_apart_from_content) {
  struct Row {
    const char* name;
    std::function<void(const fs::path&)> change;
    bool same_modes;
    bool copied;
  };
  const auto chmod = [](const char* name, unsigned mode) {
    return [=](const fs::path& root) { fs::permissions(root / name, fs::perms{mode}); };
  };
  const Row rows[] = {
      {"nothing", [](const fs::path&) {}, true, true},
      {"executable", chmod("main.tf", 0755), false, true},
      {"not executable", chmod("run.sh", 0644), false, true},
      {"writable by everybody", chmod("main.tf", 0666), true, false},
      {"private", chmod("main.tf", 0600), true, false},
      {"executable by its owner", chmod("run.sh", 0700), true, false},
      {"executable by others", chmod("main.tf", 0655), true, false},
      {"a directory", chmod("sub", 0700), true, true},
      {"a link in place of a file",
       [](const fs::path& root) {
         fs::remove(root / "copy.tf");
         fs::create_symlink("main.tf", root / "copy.tf");
       },
       false, true},
  };
  const auto make = [](const fs::path& root) {
    for (const char* name : {"main.tf", "copy.tf", "run.sh", "sub/main.tf"}) {
      write_text(root / name, "content");
      fs::permissions(root / name, fs::perms{0644U});
    }
    fs::permissions(root / "run.sh", fs::perms{0755U});
  };
  const TemporaryDirectory plain;
  make(plain.path());
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const TemporaryDirectory root;
      make(root.path());
      row.change(root.path());
      BOOST_TEST(h1_of(root.path()) == h1_of(plain.path()));
      const auto entries = list_tree(root.path()).value();
      BOOST_TEST((hash_modes(entries) == hash_modes(list_tree(plain.path()).value())) == row.same_modes);
      BOOST_TEST(has_copied_modes(entries) == row.copied);
    }
  }
}

BOOST_AUTO_TEST_CASE(links_count_as_content_or_as_text) {
  struct Row {
    const char* name;
    const char* target;
    const char* same_as_content;
  };
  const Row rows[] = {{"to a file", "a.tf", "content"},
                      {"to a directory", "sub", "sub"},
                      {"to nothing", "none/x", "none/x"},
                      {"to version control", ".git/config", ".git/config"}};
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const TemporaryDirectory root;
      for (const char* tree : {"linked", "plain"}) {
        write_text(root / tree / "a.tf", "content");
        write_text(root / tree / "sub/b.tf", "");
        write_text(root / tree / ".git/config", "[core]");
      }
      fs::create_symlink(row.target, root / "linked/link");
      write_text(root / "plain/link", row.same_as_content);
      BOOST_TEST(h1_of(root / "linked") == h1_of(root / "plain"));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_copy_has_the_same_hash) {
  const TemporaryDirectory root;
  put_plain_tree(root / "from");
  write_text(root / "from/.git/config", "x");
  fs::create_symlink(".git/config", root / "from/to-git");
  fs::create_symlink("a/b", root / "from/to-file");
  fs::create_symlink("a", root / "from/to-directory");
  BOOST_REQUIRE(copy_tree(root / "from", root / "to").has_value());
  BOOST_TEST(h1_of(root / "from") == h1_of(root / "to"));
  fs::create_directory_symlink("from", root / "link");
  BOOST_TEST(h1_of(root / "link") == h1_of(root / "from"));
  write_text(root / "to/a/b", "other");
  BOOST_TEST(h1_of(root / "from") != h1_of(root / "to"));
}

BOOST_AUTO_TEST_CASE(what_is_refused) {
  struct Row {
    const char* name;
    std::function<void(const fs::path&)> make;
    const char* message;
  };
  const Row rows[] = {
      {"a line break", [](const fs::path& root) { write_text(root / "a\nb", ""); },
       "the entry \"a\\x0ab\" of the package has a line ending in its name"},
      {"a line break in a directory", [](const fs::path& root) { write_text(root / "a\nb/c", ""); },
       "the entry \"a\\x0ab\" of the package has a line ending in its name"},
      {"a pipe", [](const fs::path& root) { ::mkfifo((root / "pipe").c_str(), 0600); },
       "the entry \"pipe\" of the package is a device, a pipe or a socket"},
      {"a link out", [](const fs::path& root) { fs::create_symlink("../x", root / "link"); },
       "the link \"link\" of the package points outside it"},
      {"a circle", [](const fs::path& root) { fs::create_symlink("link", root / "link"); },
       "the link \"link\" of the package points into a cycle of links"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const TemporaryDirectory root;
      row.make(root.path());
      const auto h1 = hash_tree(root.path(), Context{});
      BOOST_REQUIRE(!h1.has_value());
      BOOST_TEST(to_string(h1.error().code) == "ARCHIVE_UNSAFE");
      BOOST_TEST(h1.error().message == row.message);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_root_that_cannot_be_read) {
  const TemporaryDirectory root;
  write_text(root / "file", "");
  const auto none = hash_tree(root / "none", Context{});
  BOOST_REQUIRE(!none.has_value());
  BOOST_TEST(to_string(none.error().code) == "IO_ERROR");
  BOOST_TEST(none.error().message ==
             "cannot read the directory \"" + (root / "none").string() + "\": No such file or directory");
  BOOST_TEST(hash_tree(root / "file", Context{}).error().message ==
             "cannot read the directory \"" + (root / "file").string() + "\": Not a directory");
}

BOOST_AUTO_TEST_CASE(stops_when_it_should) {
  const TemporaryDirectory root;
  put_plain_tree(root.path());
  std::stop_source stop;
  stop.request_stop();
  Context context;
  context.stop = stop.get_token();
  const auto h1 = hash_tree(root.path(), context);
  BOOST_REQUIRE(!h1.has_value());
  BOOST_TEST(to_string(h1.error().code) == "REQUEST_CANCELLED");
}

// A tree that was moved or is another one is read, whatever is known of files of the same name.
BOOST_AUTO_TEST_CASE(takes_known_digests_by_path) {
  const TemporaryDirectory root;
  root.write("a", "1");
  root.write("b", "2");
  const FileDigests known = {{(root / "a").string(), {0xAA}}, {"b", {0xBB}}, {"/elsewhere/b", {0xBB}}};
  const auto summary = summarise_entries(list_tree(root.path()).value(), known, Context{});
  BOOST_REQUIRE(summary.has_value());
  BOOST_TEST(summary->files[0].sha256 == "aa" + std::string(62, '0'));
  BOOST_TEST(summary->files[1].sha256 == sha256_hex("2"));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(tree_summary)

BOOST_AUTO_TEST_CASE(text_is_read_back) {
  const TreeSummary summary{.files = {{"a b", std::string(64, '0')}, {"c/d.tf", std::string(64, 'f')}}};
  BOOST_TEST(summary.text() == std::string(64, '0') + "  a b\n" + std::string(64, 'f') + "  c/d.tf\n");
  const auto read = parse_tree_summary(summary.text());
  BOOST_REQUIRE(read.has_value());
  BOOST_TEST(read->text() == summary.text());
  BOOST_TEST(read->h1() == summary.h1());
  BOOST_TEST(parse_tree_summary("")->h1() == "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
}

BOOST_AUTO_TEST_CASE(other_text_is_refused) {
  const std::string digest(64, '0');
  for (const std::string& text : {std::string("x"), std::string("\n"), digest + "  a", digest + "  \n",
                                  digest + " a b\n", digest.substr(1) + "  a\n", digest + "  a\n\n"}) {
    BOOST_TEST_CONTEXT(text) {
      BOOST_TEST(!parse_tree_summary(text).has_value());
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(provider_directory)

// What dirhash.HashDir(directory, "", dirhash.Hash1) of golang.org/x/mod prints for the same trees; the second is a
// fixture of OpenTofu's own tests.
BOOST_AUTO_TEST_CASE(hashes_as_go_does) {
  struct Row {
    const char* name;
    std::function<void(const fs::path&)> make;
    const char* h1;
  };
  const Row rows[] = {
      {"nothing", [](const fs::path&) {}, "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="},
      {"OpenTofu's placeholder of null 2.0.0",
       [](const fs::path& root) {
         write_text(root / "terraform-provider-null",
                    "# This is just a placeholder file for discovery testing, not a real provider plugin.\n");
       },
       "h1:qjsREM4DqEWECD43FcPqddZ9oxCG+IaMTxvWPciS05g="},
      {"a program and a text",
       [](const fs::path& root) {
         write_text(root / "terraform-provider-null", "x");
         write_text(root / "README.md", "read me\n");
       },
       "h1:sw4rMOaEaUImHPyPa9XI3jIZ592WswOd6MhTtXCe8uA="},
      {"what a module would leave out",
       [](const fs::path& root) {
         write_text(root / "terraform-provider-null", "x");
         write_text(root / ".git/HEAD", "ref: refs/heads/main\n");
         write_text(root / "CVS/Entries", "e");
         write_text(root / ".gitignore", "g");
       },
       "h1:E+27IjBj6/KiVmNlJq/7aTdbDBDZvgRUgb1C9w3ZR2c="},
      {"links within and out of the package",
       [](const fs::path& root) {
         write_text(root.parent_path() / "outside", "outside");
         write_text(root / "in/a", "x");
         fs::create_symlink("in/a", root / "b");
         fs::create_symlink("../outside", root / "c");
       },
       "h1:Ftowb9IFN17t/RrbBxxp5exFbyCxUjN/DBakidU4hGE="},
      {"empty directories",
       [](const fs::path& root) {
         write_text(root / "f", "x");
         fs::create_directories(root / "a/b");
       },
       "h1:6T8Gic8M4DDwTY8+oTN+owaR301vlr/vcfPMRvifVVM="},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const TemporaryDirectory directory;
      const fs::path package = directory / "package";
      fs::create_directory(package);
      row.make(package);
      BOOST_TEST(h1_of_provider(package).value() == row.h1);
      fs::create_directory_symlink("package", directory / "link");
      BOOST_TEST(h1_of_provider(directory / "link").value() == row.h1);
    }
  }
}

BOOST_AUTO_TEST_CASE(names_what_cannot_be_hashed) {
  struct Row {
    const char* name;
    std::function<void(const fs::path&)> make;
    Code code;
    const char* message;  // "@" is the package
  };
  const Row rows[] = {
      {"a link to a directory",
       [](const fs::path& root) {
         fs::create_directory(root / "d");
         fs::create_directory_symlink("d", root / "link");
       },
       Code::io_error, "cannot read the target of the link \"@/link\": Is a directory"},
      {"a dangling link", [](const fs::path& root) { fs::create_symlink("nothing", root / "link"); }, Code::io_error,
       "cannot follow the link \"@/link\": No such file or directory"},
      {"a link to a pipe",
       [](const fs::path& root) {
         BOOST_REQUIRE(::mkfifo((root.parent_path() / "pipe").c_str(), 0600) == 0);
         fs::create_symlink("../pipe", root / "link");
       },
       Code::io_error, "cannot read the target of the link \"@/link\": Invalid argument"},
      {"a pipe", [](const fs::path& root) { BOOST_REQUIRE(::mkfifo((root / "pipe").c_str(), 0600) == 0); },
       Code::archive_unsafe, "the entry \"pipe\" of the package is a device, a pipe or a socket"},
      {"a line break in a name", [](const fs::path& root) { write_text(root / "a\nb", ""); }, Code::archive_unsafe,
       "the entry \"a\\x0ab\" of the package has a line ending in its name"},
      {"no directory",
       [](const fs::path& root) {
         fs::remove(root);
         write_text(root, "");
       },
       Code::io_error, "cannot read the directory \"@\": Not a directory"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const TemporaryDirectory directory;
      const fs::path package = directory / "package";
      fs::create_directory(package);
      row.make(package);
      const auto hash = h1_of_provider(package);
      BOOST_REQUIRE(!hash);
      BOOST_TEST((hash.error().code == row.code));
      std::string expected = row.message;
      if (const auto at = expected.find('@'); at != std::string::npos) {
        expected.replace(at, 1, package.string());
      }
      BOOST_TEST(hash.error().message == expected);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
