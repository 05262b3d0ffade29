// OCI image layouts on disk: written once, read again, and nothing outside of them is read.
#include "backends/remote/layout.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <boost/test/unit_test.hpp>
#include <fstream>
#include <functional>

#include "backends/base/process.h"
#include "tests/support/archive_writer.h"
#include "tests/support/closures_of.h"
#include "tests/support/needs.h"
#include "tests/support/small_disk.h"
#include "tests/support/temporary_directory.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;
using remote::Blob;
using remote::Layout;
using remote::LayoutWriter;

struct LayoutFixture {
  LayoutFixture() {
    fs::create_directories(directory / "work");
    fs::create_directories(directory / "extracted");
  }
  Result<void> create(const std::string& name) {
    LayoutWriter writer(directory / "work");
    blob = writer.add("content of a package").value();
    return finish(writer, blob, name);
  }
  // Writes a layout with one package, whose layer is `layer`.
  Result<void> finish(LayoutWriter& writer, const Blob& layer, const std::string& name) {
    remote::BundledPackage package{.source = "git::https://git.example.com/network.git",
                                   .origin = "git:" + std::string(40, 'c'),
                                   .h1 = "h1:" + std::string(43, 'A') + "=",
                                   .layer = layer};
    package.manifest = remote::blob_of(remote::write_package_manifest(package));
    return writer.add_closure({"closure-1", {.packages = {package}}}).and_then([&] {
      return writer.finish(directory / name, Context{});
    });
  }
  Result<Layout> open(const std::string& name) {
    fs::remove_all(directory / "extracted");
    fs::create_directories(directory / "extracted");
    return Layout::open(directory / name, directory / "extracted", Context{});
  }
  fs::path file_of(const Blob& of) const { return directory / ("out/blobs/sha256/" + of.digest.substr(7)); }

  TemporaryDirectory directory;
  Blob blob;
};

std::string code_of(const auto& result) {
  return result ? "none" : std::string(to_string(result.error().code));
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(layout, LayoutFixture)

BOOST_AUTO_TEST_CASE(directory_and_archive_are_read_again) {
  for (const char* name : {"out", "out.tar"}) {
    BOOST_TEST_CONTEXT(name) {
      const auto created = create(name);
      BOOST_REQUIRE_MESSAGE(created.has_value(), (created ? std::string() : created.error().message));
      const auto layout = open(name);
      BOOST_REQUIRE_MESSAGE(layout.has_value(), (layout ? std::string() : layout.error().message));
      BOOST_TEST(layout->read(blob).value_or("none") == "content of a package");
      const auto closures = closures_of(*layout);
      BOOST_REQUIRE(closures.has_value());
      BOOST_REQUIRE(closures->size() == 1);
      BOOST_TEST(closures->front().tag == "closure-1");
    }
  }
}

BOOST_AUTO_TEST_CASE(layout_without_packages_is_read_again) {
  LayoutWriter writer(directory / "new");
  BOOST_REQUIRE(writer.add_closure({"closure-1", {}}).has_value());
  BOOST_REQUIRE(writer.finish(directory / "out", Context{}).has_value());
  BOOST_TEST(closures_of(open("out").value()).value().size() == 1U);
}

BOOST_AUTO_TEST_CASE(the_same_content_has_the_same_bytes) {
  BOOST_REQUIRE(create("a.tar").has_value());
  BOOST_REQUIRE(create("b.tar").has_value());
  BOOST_TEST((read_text(directory / "a.tar") == read_text(directory / "b.tar")));
}

BOOST_AUTO_TEST_CASE(only_an_archive_is_replaced) {
  directory.write("out.tar", "older");
  BOOST_TEST(create("out.tar").has_value());
  BOOST_TEST(open("out.tar").has_value());
  fs::create_directory(directory / "empty");
  BOOST_TEST(create("empty").has_value());
  directory.write("full/mine", "mine");
  const auto refused = create("full");
  BOOST_TEST(code_of(refused) == "INVALID_PARAMS");
  BOOST_TEST(read_text(directory / "full/mine") == "mine");
}

BOOST_AUTO_TEST_CASE(foreign_entries_are_ignored) {
  BOOST_REQUIRE(create("out").has_value());
  const std::string blob_text = read_text(file_of(blob));
  const std::string name = "blobs/sha256/" + blob.digest.substr(7);
  std::vector<ArchiveEntry> entries = {
      {.name = "oci-layout", .content = read_text(directory / "out/oci-layout")},
      {.name = "index.json", .content = read_text(directory / "out/index.json")},
      {.name = "/" + name, .content = "absolute"},
      {.name = (directory / "outside").string(), .content = "absolute"},
      {.name = "../outside", .content = "above"},
      {.name = "blobs/sha256/../../../outside", .content = "above"},
      {.name = "blobs/sha512/" + std::string(128, 'a'), .content = "another algorithm"},
      {.name = "README", .content = "foreign"},
      {.name = name, .content = "/etc/passwd", .type = ArchiveEntry::Type::symbolic_link},
      {.name = "./" + name, .content = blob_text},
  };
  for (const auto& entry : fs::directory_iterator(directory / "out/blobs/sha256")) {
    if (entry.path() != file_of(blob)) {
      entries.push_back(
          {.name = "blobs/sha256/" + entry.path().filename().string(), .content = read_text(entry.path())});
    }
  }
  directory.write("foreign.tar", make_tar(entries));
  const auto layout = open("foreign.tar");
  BOOST_REQUIRE_MESSAGE(layout.has_value(), (layout ? std::string() : layout.error().message));
  BOOST_TEST(layout->read(blob).value_or("none") == "content of a package");
  BOOST_TEST(!fs::exists(directory / "outside"));
  BOOST_TEST(!fs::exists(directory / "extracted/README"));
}

BOOST_AUTO_TEST_CASE(only_blobs_that_an_index_names_are_written) {
  BOOST_REQUIRE(create("out").has_value());
  const std::string name = "blobs/sha256/" + blob.digest.substr(7);
  const std::string other = "blobs/sha256/" + std::string(64, 'a');
  std::vector<ArchiveEntry> entries = {{.name = other, .content = "no index names it"}};
  for (const auto& entry : fs::recursive_directory_iterator(directory / "out")) {
    if (entry.is_regular_file()) {
      const std::string below = entry.path().lexically_relative(directory / "out").string();
      entries.push_back({.name = below, .content = read_text(entry.path())});
    }
  }
  entries.push_back({.name = name, .content = "content of a package and more"});
  directory.write("more.tar", make_tar(entries));
  const auto layout = open("more.tar");
  BOOST_REQUIRE_MESSAGE(layout.has_value(), (layout ? std::string() : layout.error().message));
  BOOST_TEST(layout->read(blob).value_or("none") == "content of a package");
  BOOST_TEST(!fs::exists(directory / "extracted" / other));
}

BOOST_AUTO_TEST_CASE(sparse_files_are_not_written) {
  const Blob large{.digest = "sha256:" + std::string(64, 'a'), .size = std::uint64_t{3} << 30U};
  LayoutWriter writer(directory / "work");
  BOOST_REQUIRE(finish(writer, large, "out").has_value());
  write_text(file_of(large), "");
  fs::resize_file(file_of(large), large.size - 1);
  std::ofstream(file_of(large), std::ios::app) << 'x';
  for (const char* format : {"gnu", "posix"}) {
    BOOST_TEST_CONTEXT(format) {
      const Command pack{.argv = {"tar", "--sparse", fmt::format("--format={}", format), "-cf",
                                  (directory / "sparse.tar").string(), "-C", (directory / "out").string(), "."}};
      BOOST_REQUIRE(run_command(pack, Context{}).value().exit_code == 0);
      BOOST_TEST(fs::file_size(directory / "sparse.tar") < 100'000U);
      BOOST_TEST(code_of(open("sparse.tar")) == "LIMIT_EXCEEDED");
      std::uintmax_t written = 0;
      for (const auto& entry : fs::recursive_directory_iterator(directory / "extracted")) {
        written += entry.is_regular_file() ? entry.file_size() : 0;
      }
      BOOST_TEST(written < 100'000U);
    }
  }
}

BOOST_AUTO_TEST_CASE(places_that_are_not_read) {
  struct Row {
    const char* name;
    std::function<void(const fs::path& out)> spoil;
    const char* why;
  };
  const auto link = [](const fs::path& place) {
    fs::rename(place, place.string() + ".moved");
    fs::create_directory_symlink(place.string() + ".moved", place);
  };
  const Row rows[] = {
      {"a link to all blobs", [&](const fs::path& out) { link(out / "blobs"); }, "\"blobs\" is a link"},
      {"a link to the blobs", [&](const fs::path& out) { link(out / "blobs/sha256"); }, "\"blobs/sha256\" is a link"},
      {"a pipe",
       [](const fs::path& out) {
         fs::remove_all(out);
         BOOST_REQUIRE(::mkfifo(out.c_str(), 0600) == 0);
       },
       "it is neither a directory nor a file"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      fs::remove_all(directory / "out");
      BOOST_REQUIRE(create("out").has_value());
      row.spoil(directory / "out");
      const auto layout = open("out");
      BOOST_TEST(code_of(layout) == "SOURCE_INVALID");
      BOOST_TEST((layout ? "" : layout.error().message) ==
                 fmt::format("\"{}\" is not a bundle: {}", (directory / "out").string(), row.why));
    }
  }
}

// An index cannot contain its own digest; one that names `index.json` or another closure is not followed.
BOOST_AUTO_TEST_CASE(index_that_names_itself_is_refused) {
  BOOST_REQUIRE(create("out").has_value());
  const std::string index = read_text(directory / "out/index.json");
  const Blob own = remote::blob_of(index);
  write_text(file_of(own), index);
  write_text(directory / "out/index.json", remote::write_layout_index({{"closure-1", own}}, {}));
  const auto layout = open("out");
  BOOST_REQUIRE(layout.has_value());
  BOOST_TEST(code_of(closures_of(*layout)) == "SOURCE_INVALID");
}

BOOST_AUTO_TEST_CASE(sizes_that_are_not_those_of_the_blobs) {
  BOOST_REQUIRE(create("out").has_value());
  const Layout layout = open("out").value();
  for (const std::uint64_t size : {std::uint64_t{0}, blob.size - 1, blob.size + 1}) {
    BOOST_TEST(code_of(layout.find({blob.digest, size})) == "HASH_MISMATCH");
  }
  BOOST_TEST(code_of(layout.read({blob.digest, std::uint64_t{1} << 40U})) == "SOURCE_INVALID");
}

BOOST_AUTO_TEST_CASE(closure_of_too_many_packages_is_refused) {
  LayoutWriter writer(directory / "work");
  remote::Closure closure;
  for (int i = 0; i < 10'000; ++i) {
    closure.packages.push_back({.source = "git::https://git.example.com/modules/network.git?ref=v" + std::to_string(i),
                                .origin = "git:" + std::string(40, 'c'),
                                .h1 = "h1:" + std::string(43, 'A') + "=",
                                .layer = remote::blob_of(std::to_string(i)),
                                .manifest = remote::blob_of(std::to_string(i))});
  }
  const auto refused = writer.add_closure({"closure-1", closure});
  BOOST_TEST(code_of(refused) == "LIMIT_EXCEEDED");
  BOOST_TEST(refused.error().message == "the index of 10000 packages is larger than 4 MiB");
}

BOOST_AUTO_TEST_CASE(full_disk_leaves_nothing, *needs(kMount)) {
  const SmallDisk disk;
  for (const char* name : {"out.tar", "out"}) {
    BOOST_TEST_CONTEXT(name) {
      LayoutWriter writer(directory / fmt::format("work-{}", name));
      BOOST_REQUIRE(writer.add(std::string(100'000, 'x')).has_value());
      BOOST_REQUIRE(writer.add_closure({"closure-1", {}}).has_value());
      const auto refused = writer.finish(disk / name, Context{});
      BOOST_TEST(code_of(refused) == "IO_ERROR");
      BOOST_TEST(refused.error().message.find("No space left on device") != std::string::npos, refused.error().message);
      BOOST_TEST(fs::is_empty(disk.path()));
    }
  }
  LayoutWriter writer(disk.path());
  const auto refused = writer.add(std::string(100'000, 'x'));
  BOOST_TEST(code_of(refused) == "IO_ERROR");
  BOOST_TEST(refused.error().message.find("No space left on device") != std::string::npos, refused.error().message);
}

BOOST_AUTO_TEST_CASE(damaged_blob_is_refused) {
  struct Row {
    const char* name;
    std::function<void(const fs::path&)> spoil;
    const char* code;
  };
  const Row rows[] = {
      {"missing", [](const fs::path& file) { fs::remove(file); }, "SOURCE_INVALID"},
      {"other content", [](const fs::path& file) { write_text(file, "Content of a package"); }, "HASH_MISMATCH"},
      {"longer", [](const fs::path& file) { write_text(file, "content of a package and more"); }, "HASH_MISMATCH"},
      {"a link to the same content",
       [](const fs::path& file) {
         fs::rename(file, file.string() + ".moved");
         fs::create_symlink(file.string() + ".moved", file);
       },
       "SOURCE_INVALID"},
      {"a directory",
       [](const fs::path& file) {
         fs::remove(file);
         fs::create_directory(file);
       },
       "SOURCE_INVALID"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      fs::remove_all(directory / "out");
      BOOST_REQUIRE(create("out").has_value());
      row.spoil(file_of(blob));
      const auto layout = open("out");
      BOOST_REQUIRE(layout.has_value());
      BOOST_TEST(code_of(layout->find(blob)) == row.code);
    }
  }
}

BOOST_AUTO_TEST_CASE(what_is_no_bundle_is_refused) {
  struct Row {
    const char* name;
    std::function<void(const TemporaryDirectory&)> prepare;
    const char* code;
  };
  const Row rows[] = {
      {"missing", [](const TemporaryDirectory&) {}, "INVALID_PARAMS"},
      {"empty directory", [](const TemporaryDirectory& at) { fs::create_directory(at / "x"); }, "SOURCE_INVALID"},
      {"a file", [](const TemporaryDirectory& at) { at.write("x", "not an archive"); }, "SOURCE_INVALID"},
      {"no index", [](const TemporaryDirectory& at) { at.write("x/oci-layout", "{}"); }, "SOURCE_INVALID"},
      {"layout of other images",
       [](const TemporaryDirectory& at) {
         at.write("x/oci-layout", "{}");
         at.write("x/index.json", R"({"schemaVersion":2,"manifests":[]})");
       },
       "SOURCE_INVALID"},
      {"index is a link",
       [](const TemporaryDirectory& at) {
         at.write("x/oci-layout", "{}");
         fs::create_symlink("/dev/zero", at / "x/index.json");
       },
       "SOURCE_INVALID"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const LayoutFixture fixture;
      row.prepare(fixture.directory);
      const auto opened = Layout::open(fixture.directory / "x", fixture.directory / "extracted", Context{});
      BOOST_TEST(code_of(opened) == row.code);
    }
  }
}

// Lock files with the same modules share a closure.
BOOST_AUTO_TEST_CASE(closures_of_one_tag_are_merged) {
  LayoutWriter writer(directory / "work");
  const auto provider = [&](const char* version) {
    return remote::BundledProvider{.address = "registry.example.test/acme/cloud",
                                   .version = version,
                                   .archives = {{"linux_amd64", {writer.add(version).value(), "h1:A"}}}};
  };
  remote::BundledPackage package{.source = "git::https://git.example.com/vpc.git", .origin = "git:1", .h1 = "h1:AAAA="};
  package.layer = writer.add("the package").value();
  package.manifest = remote::blob_of(write_package_manifest(package));
  BOOST_REQUIRE(writer.add_closure({"closure-1", {{package}, {provider("1.0.0")}}}).has_value());
  BOOST_REQUIRE(writer.add_closure({"closure-1", {{package}, {provider("2.0.0")}}}).has_value());
  std::string written;
  const auto add = [&](const remote::NamedClosure& one) {
    written += fmt::format("{} {}", one.tag, one.closure.packages.size());
    for (const remote::BundledProvider& found : one.closure.providers) {
      written += " " + found.version;
    }
  };
  BOOST_REQUIRE(writer.for_each_closure(add).has_value());
  BOOST_TEST(written == "closure-1 1 1.0.0 2.0.0");
  BOOST_REQUIRE(writer.finish(directory / "out", Context{}).has_value());
  std::size_t blobs = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(directory / "out/blobs/sha256")) {
    ++blobs;
  }
  // The package, two archives, the config, one closure, and the manifests of the package and of each provider.
  BOOST_TEST(blobs == 1U + 2U + 1U + 1U + 1U + 4U);
}

// Such a lock file has an entry without a call.
BOOST_AUTO_TEST_CASE(an_index_of_two_closures_stays_if_one_of_them_grows) {
  LayoutWriter writer(directory / "work");
  const auto package = [&](const char* name) {
    remote::BundledPackage made{
        .source = fmt::format("git::https://git.example.com/{}.git", name), .origin = "git:1", .h1 = "h1:AAAA="};
    made.layer = writer.add(name).value();
    made.manifest = remote::blob_of(write_package_manifest(made));
    return made;
  };
  const auto one = package("one");
  const auto two = package("two");
  BOOST_REQUIRE(writer.add_closure({"closure-1", {{one}}}).has_value());
  BOOST_REQUIRE(writer.add_closure({"closure-2", {{one}}}).has_value());
  BOOST_REQUIRE(writer.add_closure({"closure-1", {{two}}}).has_value());
  BOOST_REQUIRE(writer.finish(directory / "out", Context{}).has_value());
  const auto closures = closures_of(open("out").value());
  BOOST_REQUIRE_MESSAGE(closures.has_value(), (closures ? "" : closures.error().message));
  BOOST_TEST(closures->at(0).closure.packages.size() == 2U);
  BOOST_TEST(closures->at(1).closure.packages.size() == 1U);
}

BOOST_AUTO_TEST_CASE(two_archives_of_one_provider_are_an_error) {
  LayoutWriter writer(directory / "work");
  std::vector<remote::NamedClosure> closures;
  for (const char* content : {"one", "two"}) {
    const auto layer = writer.add(content).value();
    closures.push_back({fmt::format("closure-{}", content),
                        {.packages = {},
                         .providers = {{.address = "registry.example.test/acme/cloud",
                                        .version = "1.0.0",
                                        .archives = {{"linux_amd64", {layer, "h1:A"}}}}}}});
  }
  for (const remote::NamedClosure& one : closures) {
    BOOST_REQUIRE(writer.add_closure(one).has_value());
  }
  const auto written = writer.finish(directory / "bundle", Context{});
  BOOST_REQUIRE(!written);
  BOOST_TEST(to_string(written.error().code) == "HASH_MISMATCH");
  BOOST_TEST(written.error().message ==
             fmt::format("two lock files have different archives of registry.example.test/acme/cloud 1.0.0 for "
                         "linux_amd64: {} and {}",
                         remote::blob_of("one").digest, remote::blob_of("two").digest));
  BOOST_TEST(!fs::exists(directory / "bundle"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
