// The same release served to stock clients and to us: the same hashes, or refused by both.

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <set>

#include "backends/base/digest.h"
#include "backends/base/files.h"
#include "tests/backends/providers/source_fixture.h"
#include "tests/support/certificates.h"
#include "tests/support/needs.h"
#include "tests/support/run.h"
#include "tests/support/zip_builder.h"

namespace modlock {
namespace {

using namespace test;
using provider_registry::ClientRules;
using Signing = PublishedProvider::Signing;
using Hashes = std::set<std::string>;

// A registry with one release, and a client beside ours.
class Scene {
 public:
  Scene(std::string client, const PublishedProvider& release) : client_(std::move(client)) {
    fixture_.registry.publish(release);
    host_ = client_ == "tofu" ? "registry.opentofu.org" : "registry.terraform.io";
    fixture_.client.hosts[host_] = {.services = {{"providers.v1", fixture_.registry.providers_url()}}, .from = "test"};
    if (client_ == "terraform") {
      fixture_.rules = ClientRules::terraform;
    }
  }

  // nullopt: refused.
  std::optional<Hashes> ours() {
    const auto release = fixture_.release(host_ + "/acme/x", "1.0.0", {Platform::current().to_string()});
    if (!release) {
      said_ = words(release.error());
      return std::nullopt;
    }
    Hashes hashes(release->published.begin(), release->published.end());
    const ProviderPackage& package = release->packages.begin()->second;
    hashes.insert(package.recorded.begin(), package.recorded.end());
    return hashes;
  }

  std::optional<Hashes> of_client() {
    const std::filesystem::path root = fixture_.directory.path() / "root";
    std::filesystem::create_directories(root);
    fixture_.directory.write("cli.tfrc", fixture_.registry.host_block(host_));
    fixture_.directory.write("root/main.tf", "terraform {\n  required_providers {\n    x = {\n      source = \"" +
                                                 host_ + "/acme/x\"\n    }\n  }\n}\n");
    std::map<std::string, std::string> environment;
    for (const char* name : {"PATH", "HOME"}) {
      environment[name] = std::getenv(name);
    }
    environment["TF_CLI_CONFIG_FILE"] = (fixture_.directory.path() / "cli.tfrc").string();
    environment["CHECKPOINT_DISABLE"] = "1";
    try {
      run({client_, "init", "-input=false", "-no-color"}, root, environment);
    } catch (const std::runtime_error& error) {
      said_ = error.what();
      return std::nullopt;
    }
    Hashes hashes;
    std::istringstream lines(read_file(root / ".terraform.lock.hcl").value());
    for (std::string line; std::getline(lines, line);) {
      if (const std::size_t quote = line.find("\"h1:") + line.find("\"zh:") + 1; quote < line.size()) {
        hashes.insert(line.substr(quote + 1, line.rfind('"') - quote - 1));
      }
    }
    return hashes;
  }

  // What was said of the last refusal.
  const std::string& said() const { return said_; }

 private:
  std::string client_;
  std::string host_;
  SourceFixture fixture_;
  std::string said_;
};

void compare(const std::string& client, const PublishedProvider& release, bool is_stricter = false) {
  Scene scene(client, release);
  const auto theirs = scene.of_client();
  const std::string they_said = theirs ? "" : scene.said();
  const auto ours = scene.ours();
  const std::string said = "client: " + they_said + "\nours: " + (ours ? "" : scene.said());
  if (is_stricter) {
    BOOST_TEST(!ours.has_value(), said);
    return;
  }
  BOOST_TEST(ours.has_value() == theirs.has_value(), said);
  if (ours && theirs) {
    BOOST_TEST(*ours == *theirs, boost::test_tools::per_element());
  }
}

PublishedProvider release_with(const std::string& bytes) {
  return {.name = "acme/x",
          .version = "1.0.0",
          .platforms = {Platform::current().to_string()},
          .edit_archive = [bytes](PublishedArchive& archive) {
            archive.bytes = bytes;
            archive.zh = "zh:" + sha256_hex(bytes);
          }};
}

BOOST_AUTO_TEST_SUITE(provider_client_comparison_test, *needs("openssl, tofu or terraform"))

BOOST_AUTO_TEST_CASE(archives) {
  using Descriptor = ZipMember::Descriptor;
  const ZipMember program{.name = "terraform-provider-x_v1.0.0", .content = "program"};
  const ZipMember other{.name = "a", .content = noisy_bytes(100'000)};
  struct Row {
    const char* name;
    std::string bytes;
    bool is_stricter = false;  // we refuse what the client may take
  };
  const Row rows[] = {
      {"ordinary", build_zip({other, program})},
      {"stored with a descriptor",
       build_zip({{.name = "a", .content = "a", .is_deflated = false, .descriptor = Descriptor::plain}, program})},
      {"unmarked descriptors", build_zip({{.name = "a", .content = "a", .descriptor = Descriptor::unmarked}, program})},
      {"64 bits", build_zip({{.name = "a", .content = "a", .is_large = true}, program}, {.is_large = true})},
      {"a comment", build_zip({program}, {.comment = "comment"})},
      {"a long comment", build_zip({program}, {.comment = std::string(60'000, 'c')})},
      {"an end in the comment", build_zip({program}, {.comment = "PK\x05\x06 is no end"})},
      {"an end in a long comment", build_zip({program}, {.comment = "PK\x05\x06" + std::string(100, '\xFF')})},
      {"bytes behind the end", build_zip({program}, {.behind = "\r\n"})},
      {"something in front, counted", build_zip({other, program}, {.prefix = "#!/bin/sh\nexit 1\n"})},
      {"something in front, not counted",
       build_zip({other, program}, {.prefix = "#!/bin/sh\nexit 1\n", .counts_prefix = false})},
      {"something between", build_zip({other, {.name = program.name, .content = "p", .before = "gap"}})},
      {"something in front of the directory", build_zip({program}, {.gap = "gap"})},
      {"a file that is not listed", build_zip({program, {.name = "h", .content = "h", .is_listed = false}})},
      {"directories",
       build_zip({{.name = "d/", .is_deflated = false, .attributes = 040755U << 16U}, program, {.name = "d/f"}})},
      {"a directory by its mode", build_zip({{.name = "d", .attributes = 040755U << 16U}, program})},
      {"a directory of FAT", build_zip({{.name = "d", .attributes = 0x10, .system = 0}, program})},
      {"names that are not clean", build_zip({{.name = "./a//b", .content = "b"}, {.name = "/" + program.name}})},
      {"a name twice", build_zip({{.name = "a", .content = "1"}, program, {.name = "a", .content = "2"}})},
      {"a name twice, spelled otherwise",
       build_zip({{.name = "a", .content = "1"}, program, {.name = "./a", .content = "2"}})},
      {"a link",
       build_zip({{.name = "l", .content = "a", .is_deflated = false, .attributes = 0120777U << 16U}, program})},
      {"a pipe", build_zip({{.name = "p", .attributes = 010644U << 16U}, program})},
      {"a backslash", build_zip({{.name = "a\\b", .content = "b"}, program})},
      {"version control", build_zip({{.name = ".git/config", .content = "b"}, program})},
      {"a name of Latin-1", build_zip({{.name = "a\xE4", .content = "b"}, program})},
      {"no program", build_zip({other})},
      {"a program of another name", build_zip({{.name = "terraform-provider-xy"}})},
      {"a program below", build_zip({{.name = "bin/terraform-provider-x"}})},
      {"a program that is a directory", build_zip({{.name = "terraform-provider-x/"}})},
      {"nothing", build_zip({})},
      {"no archive", "<html>"},
      {"cut off", build_zip({other, program}).substr(0, 50'000)},
      {"more files than said", build_zip({other, program}, {.entries = 1})},
      {"another checksum", build_zip({{.name = "a", .content = "a", .listed_crc = 1}, program})},
      {"another size", build_zip({{.name = "a", .content = "a", .listed_size = 2}, program})},
      {"another packed size", build_zip({{.name = "a", .content = "aaaaaaaaaaaaaaaa", .listed_packed = 2}, program})},
      {"bzip2", build_zip({{.name = "a", .content = "a", .method = 12}, program})},
      {"a way out", build_zip({{.name = "../a", .content = "a"}, program})},
      {"a way out with backslashes", build_zip({{.name = "a\\..\\b", .content = "a"}, program})},
      {"two dots in a name", build_zip({{.name = "a..b", .content = "a"}, program})},
      {"a line end", build_zip({{.name = "a\nb", .content = "a"}, program})},
      {"a NUL", build_zip({{.name = std::string("a\0b", 3), .content = "a"}, program})},
      {"no name", build_zip({{.name = "", .content = "a"}, program})},
      {"a long name", build_zip({{.name = std::string(256, 'a'), .content = "a"}, program})},
      {"a file below a file", build_zip({{.name = "a"}, {.name = "a/b"}, program})},
      {"a file for a directory", build_zip({{.name = "a/b"}, {.name = "a"}, program})},
      {"a directory for a file", build_zip({{.name = "a"}, {.name = "a/"}, program})},
      {"another name where it stands", build_zip({{.name = "a", .content = "a", .local_name = "b"}, program}), true},
      {"a bomb", build_zip({{.name = "a", .content = dull_bytes(20'000'000)}, program}), true},
  };
  for (const std::string& client : clients()) {
    for (const Row& row : rows) {
      BOOST_TEST_CONTEXT(client << ": " << row.name) {
        compare(client, release_with(row.bytes), row.is_stricter);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(registries) {
  const std::string platform = Platform::current().to_string();
  const auto release = [&](auto edit) {
    PublishedProvider published{.name = "acme/x", .version = "1.0.0", .platforms = {platform, "plan9_mips"}};
    edit(published);
    return published;
  };
  const auto with_sums = [&](auto edit) { return release([&](auto& r) { r.edit_checksums = edit; }); };
  const auto with_answer = [&](auto edit) {
    return release([&](auto& r) { r.edit_download = [edit](Json::Value& body, const std::string&) { edit(body); }; });
  };
  const auto with_packages = [&](auto edit) {
    return release([&](auto& r) {
      r.lists_packages = true;
      r.edit_download = [edit, platform](Json::Value& body, const std::string& asked) {
        if (asked == platform) {
          edit(body["packages"], body["packages"][platform]);
        }
      };
    });
  };
  struct Row {
    const char* name;
    PublishedProvider release;
  };
  std::vector<Row> rows = {
      {"signed", release([](auto&) {})},
      {"packages", with_packages([](auto&, auto&) {})},
      {"packages, not signed", release([](auto& r) {
         r.lists_packages = true;
         r.signing = Signing::unsigned_release;
       })},
      {"packages with directories", release([](auto& r) {
         r.lists_packages = true;
         r.entries = {{.name = "d/", .type = ArchiveEntry::Type::directory}};
       })},
      {"packages without this platform",
       with_packages([platform](Json::Value& all, Json::Value&) { all.removeMember(platform); })},
      {"packages without a size", with_packages([](auto&, Json::Value& one) { one.removeMember("package_size"); })},
      {"packages of another size", with_packages([](auto&, Json::Value& one) { one["package_size"] = 17; })},
      {"packages with another scheme", with_packages([](auto&, Json::Value& one) { one["hashes"].append("h2:x"); })},
      {"packages without h1", with_packages([](auto&, Json::Value& one) {
         Json::Value zh(Json::arrayValue);
         for (const Json::Value& hash : one["hashes"]) {
           if (hash.asString().starts_with("zh:")) {
             zh.append(hash);
           }
         }
         one["hashes"] = zh;
       })},
      {"packages with two h1", with_packages([](auto&, Json::Value& one) { one["hashes"].append("h1:other="); })},
      {"packages with another zh",
       with_packages([](auto&, Json::Value& one) { one["hashes"].append("zh:" + std::string(64, 'a')); })},
      {"packages without zh",
       with_packages([](auto&, Json::Value& one) { one["hashes"] = Json::Value(Json::arrayValue); })},
      {"packages of no platform",
       with_packages([](Json::Value& all, Json::Value&) { all["linux"] = Json::Value(Json::objectValue); })},
      {"packages with no hash", with_packages([](auto&, Json::Value& one) { one["hashes"].append("x"); })},
      {"a line of one field", with_sums([](std::string& sums) { sums += "short\n"; })},
      {"a line that is no hash", with_sums([](std::string& sums) { sums += "short  file\n"; })},
      {"a hash in upper case", with_sums([](std::string& sums) { sums += std::string(64, 'A') + "  file\n"; })},
      {"a hash of no file of ours", with_sums([](std::string& sums) { sums += std::string(64, 'b') + " x y\n"; })},
      {"carriage returns", with_sums([](std::string& sums) {
         for (std::size_t at = sums.find('\n'); at != std::string::npos; at = sums.find('\n', at + 2)) {
           sums.insert(at, "\r");
         }
       })},
      {"no line end", with_sums([](std::string& sums) { sums.pop_back(); })},
      {"a blank line inside", with_sums([](std::string& sums) { sums.insert(sums.find('\n'), "\n"); })},
      {"a blank line at the end", with_sums([](std::string& sums) { sums += "\n"; })},
      {"an empty list", with_sums([](std::string& sums) { sums.clear(); })},
      {"another hash in the list", with_sums([](std::string& sums) { sums[3] = sums[3] == 'a' ? 'b' : 'a'; })},
      {"protocol 4", release([](auto& r) { r.protocols = {"4.0"}; })},
      {"protocols 4 and 5", release([](auto& r) {
         r.protocols = {"4.0", "5.1"};
       })},
      {"protocol 6", release([](auto& r) { r.protocols = {"6.0"}; })},
      {"protocol 7", release([](auto& r) { r.protocols = {"7.0"}; })},
      {"no protocols", release([](auto& r) { r.protocols = {}; })},
      {"a protocol that is none", release([](auto& r) { r.protocols = {"five"}; })},
      {"a protocol before its release", release([](auto& r) { r.protocols = {"5.0-beta"}; })},
      {"another system", with_answer([](Json::Value& body) { body["os"] = "beos"; })},
      {"a checksum in upper case", with_answer([](Json::Value& body) {
         std::string sum = body["shasum"].asString();
         std::transform(sum.begin(), sum.end(), sum.begin(),
                        [](char c) { return c >= 'a' ? static_cast<char>(c - 32) : c; });
         body["shasum"] = sum;
       })},
      {"no checksum", with_answer([](Json::Value& body) { body["shasum"] = ""; })},
      {"another file name", with_answer([](Json::Value& body) { body["filename"] = "other.zip"; })},
      {"another archive", release([](auto& r) { r.edit_served_archive = [](std::string& bytes) { bytes += "x"; }; })},
      {"a file URL", with_answer([](Json::Value& body) { body["download_url"] = "file:///etc/passwd"; })},
      {"a second key that cannot be read", with_answer([](Json::Value& body) {
         Json::Value key;
         key["ascii_armor"] = "none";
         body["signing_keys"]["gpg_public_keys"].append(key);
       })},
  };
  for (const Signing signing :
       {Signing::unsigned_release, Signing::bad_signature, Signing::unknown_key, Signing::expired_key,
        Signing::expired_signature, Signing::late_signature, Signing::malformed}) {
    rows.push_back({"signing", release([signing](auto& r) { r.signing = signing; })});
  }
  for (const std::string& client : clients()) {
    for (const Row& row : rows) {
      BOOST_TEST_CONTEXT(client << ": " << row.name << ' ' << static_cast<int>(row.release.signing)) {
        compare(client, row.release);
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock
