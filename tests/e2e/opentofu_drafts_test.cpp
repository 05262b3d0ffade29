// The two drafts of OpenTofu for module locks: the facts that they need, and repositories that have their files.

#include <fmt/ranges.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <map>
#include <regex>
#include <set>

#include "plugin/lock/lock_file.h"
#include "protocol/base/json.h"
#include "tests/e2e/scene.h"
#include "tests/support/archive_writer.h"
#include "tests/support/certificates.h"
#include "tests/support/module_registry.h"
#include "tests/support/needs.h"
#include "tests/support/oci_registry.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDraft = ".opentofu.lock.hcl";

struct Drafts : Scene {
  Drafts() : net(repository("net")), vpc(repository("vpc")) {
    write_text(path("tofurc"), registry.host_block(kRegistryHost));
    environment["TF_CLI_CONFIG_FILE"] = path("tofurc").string();
    // Else no registry may lead there.
    write_text(path("home/.gitconfig"), "[protocol \"file\"]\n\tallow = always\n");
    name_text(registry.authority(), "<registry>");
    publish("1.0.0");
  }

  void publish(const std::string& version) {
    const std::string output = "output \"version\" {\n  value = \"" + version + "\"\n}\n";
    name_id(net.commit({{"main.tf", output}, {"zone/main.tf", output}}), "net " + version);
    net.tag("v" + version);
    name_id(
        vpc.commit({{"main.tf", output}, {"aws/main.tf", module_call("inner", "git::" + net.url() + "?ref=v1.0.0")}}),
        "vpc " + version);
    vpc.tag("v" + version);
    registry.add_version("acme/vpc/aws", version,
                         ModuleRegistry::by_header("git::file://" + vpc.path().string() + "//aws?ref=v" + version));
  }

  std::string address() const { return std::string(kRegistryHost) + "/acme/vpc/aws"; }
  // The calls of a registry module, and of a git repository by its default branch.
  void write_calls(const std::string& constraint) const {
    write("main.tf", module_call("dns", "git::" + net.url() + "//zone") + module_call("vpc", address(), constraint));
  }
  // What draft o#4071 has for them while only 1.0.0 exists.
  std::string draft_of_calls() const {
    const auto block = [](const std::string& key, const std::string& source, const std::string& package) {
      return fmt::format(
          "module \"{}\" {{\n  source  = \"{}\"\n  package = \"{}\"\n  hashes = [\n    \"h1:x=\",\n  ]\n}}\n\n", key,
          source, package);
    };
    const std::string net_package = "git::" + net.url() + "?ref=" + net.git({"rev-parse", "v1.0.0"});
    return block("dns", "git::" + net.url() + "//zone", net_package) +
           block("vpc", address(), "git::" + vpc.url() + "?ref=" + vpc.git({"rev-parse", "v1.0.0"})) +
           block("vpc.inner", "git::" + net.url() + "?ref=v1.0.0", net_package);
  }

  ModuleRegistry registry;
  GitRepository& net;
  GitRepository& vpc;
};

// The two forms of a lock, written only from the lock file and the records of the cache. The `h1:` of a git package in
// draft o#4071 includes `.git`, so that only the client that made the checkout can compute it.
class DraftForms {
 public:
  explicit DraftForms(const Scene& scene) : lock_(parse_lock(scene.lock(), ".terraform.lock.hcl").value()) {
    for (const auto& entry : fs::recursive_directory_iterator(scene.cache() / "v2/identities")) {
      if (entry.is_regular_file()) {
        records_.push_back(parse_json(read_text(entry.path())).value());
      }
    }
  }

  // o#4071: a block for each call, by call path.
  std::string by_call() const {
    std::string text;
    for (const auto& [key, module] : lock_.modules) {
      const Source source = parse_identity(module.source).value();
      const std::string package = package_of(source, module);
      text += fmt::format("module \"{}\" {{\n  source = \"{}\"\n", key, written(source, source.subdir));
      text += source.is_registry() && module.constraints ? fmt::format("  constraints = \"{}\"\n", *module.constraints)
                                                         : "";
      text += package.empty() ? "  floating = true\n" : fmt::format("  package = \"{}\"\n", package);
      text += package.starts_with("registry::") ? fmt::format("  hashes = [\"h1:{}\"]\n", module.hash_value("h1")) : "";
      text += "}\n";
    }
    return text;
  }

  // o#3540: a block for each registry module, by source.
  std::string by_source() const {
    struct Block {
      std::string version;
      std::set<std::string> constraints;
      std::vector<std::string> hashes;
    };
    std::map<std::string, Block> blocks;
    for (const auto& [key, module] : lock_.modules) {
      const Source source = parse_identity(module.source).value();
      if (source.is_registry()) {
        Block& block = blocks[written(source, "")];
        block.version = module.version.value_or("");
        block.constraints.insert(module.constraints.value_or(""));
        for (const char* scheme : {"h1", "zh"}) {
          const std::string hash = module.hash_value(scheme);
          if (!hash.empty() && block.hashes.size() < 2 && (block.hashes.empty() || scheme == std::string("zh"))) {
            block.hashes.push_back(fmt::format("{}:{}", scheme, hash));
          }
        }
      }
    }
    std::string text;
    for (const auto& [label, block] : blocks) {
      text += fmt::format("module \"{}\" {{\n  version = \"{}\"\n  constraints = \"{}\"\n  hashes = [\"{}\"]\n}}\n",
                          label, block.version, fmt::join(block.constraints, ", "), fmt::join(block.hashes, "\", \""));
    }
    return text;
  }

 private:
  static std::string written(Source source, const std::string& subdir) {
    source.subdir.clear();
    const std::string text = source.is_registry() ? source.host + "/" + source.path : source.identity();
    const std::size_t query = std::min(text.find('?'), text.size());
    return text.substr(0, query) + (subdir.empty() ? "" : "//" + subdir) + text.substr(query);
  }
  std::string package_of(Source source, const ModuleLock& module) const {
    if (source.is_registry()) {
      const auto record = std::find_if(records_.begin(), records_.end(), [&](const Json::Value& each) {
        return each["source"] == source.package_identity() && each["ref"] == module.version.value_or("");
      });
      BOOST_REQUIRE(record != records_.end());
      return (*record)["package"].asString();
    }
    if (!source.has_tags()) {
      return {};
    }
    const bool is_git = source.has_commits();
    source.query = {{std::string(source.traits().id_argument), module.hash_value(is_git ? "git" : "oci")}};
    return written(source, "");
  }

  LockFile lock_;
  std::vector<Json::Value> records_;
};

BOOST_FIXTURE_TEST_SUITE(opentofu_drafts, Drafts)

BOOST_AUTO_TEST_CASE(lock_and_cache_hold_every_fact_of_both_drafts) {
  const std::string archive = make_zip({{.name = "main.tf", .content = "output \"x\" {\n  value = 1\n}\n"}});
  registry.serve("/zip.zip", {.status = 200, .body = archive, .type = "application/zip"});
  registry.add_version("acme/zip/aws", "2.0.0", ModuleRegistry::directly(registry.url() + "/zip.zip", false));
  write("main.tf", module_call("a", address(), "~> 1.0") + module_call("b", address(), ">= 1.0.0") +
                       module_call("dns", "git::" + net.url() + "//zone") +
                       module_call("hosted", std::string(kRegistryHost) + "/acme/zip/aws", "2.0.0") +
                       module_call("zip", registry.url() + "/zip.zip"));
  const Ran ran = modlock({"lock"});
  BOOST_REQUIRE_MESSAGE(ran.exit_code == 0, ran.err);
  const DraftForms forms(*this);
  const auto steady = [&](const std::string& text) {
    return std::regex_replace(shown(text), std::regex("(h1|zh):[A-Za-z0-9+/=]+"), "$1:…");
  };
  BOOST_TEST(steady(forms.by_call()) == R"(module "a" {
  source = "registry.example.test/acme/vpc/aws"
  constraints = "~> 1.0"
  package = "git::file://<dir>/repositories/vpc?ref=<vpc 1.0.0>"
}
module "a.inner" {
  source = "git::file://<dir>/repositories/net?ref=v1.0.0"
  package = "git::file://<dir>/repositories/net?ref=<net 1.0.0>"
}
module "b" {
  source = "registry.example.test/acme/vpc/aws"
  constraints = ">= 1.0.0"
  package = "git::file://<dir>/repositories/vpc?ref=<vpc 1.0.0>"
}
module "b.inner" {
  source = "git::file://<dir>/repositories/net?ref=v1.0.0"
  package = "git::file://<dir>/repositories/net?ref=<net 1.0.0>"
}
module "dns" {
  source = "git::file://<dir>/repositories/net//zone"
  package = "git::file://<dir>/repositories/net?ref=<net 1.0.0>"
}
module "hosted" {
  source = "registry.example.test/acme/zip/aws"
  constraints = "2.0.0"
  package = "registry::registry.example.test/acme/zip/aws@2.0.0"
  hashes = ["h1:…"]
}
module "zip" {
  source = "http://<registry>/zip.zip"
  floating = true
}
)");
  BOOST_TEST(steady(forms.by_source()) == R"(module "registry.example.test/acme/vpc/aws" {
  version = "1.0.0"
  constraints = ">= 1.0.0, ~> 1.0"
  hashes = ["h1:…"]
}
module "registry.example.test/acme/zip/aws" {
  version = "2.0.0"
  constraints = "2.0.0"
  hashes = ["h1:…", "zh:…"]
}
)");
}

BOOST_AUTO_TEST_CASE(the_file_of_a_draft_is_a_note) {
  write_calls("~> 1.0");
  write(kDraft, "module \"x\" {\n  source = \n}\n");
  const Ran first = modlock({"lock"});
  BOOST_TEST(first.exit_code == 0, first.err);
  BOOST_TEST(first.err.starts_with(
                 "Info: .opentofu.lock.hcl is not read: no release of OpenTofu writes this file [LOCK_INCOMPLETE]\n"
                 "  hint: nothing to do; .terraform.lock.hcl has the module locks\n"),
             first.err);
  BOOST_TEST(modlock({"lock"}).err == "");
}

BOOST_AUTO_TEST_CASE(blocks_of_a_draft_in_the_lock_file_are_never_rewritten) {
  write_calls("~> 1.0");
  const std::string by_source =
      "module \"" + address() + "\" {\n  version = \"1.0.0\"\n  hashes = [\"h1:x=\", \"zh:00\"]\n}\n";
  for (const std::string& form : {draft_of_calls(), by_source}) {
    write(".terraform.lock.hcl", form);
    for (const std::vector<std::string>& command :
         std::vector<std::vector<std::string>>{{"lock"}, {"lock", "--frozen"}, {"upgrade"}, {"install"}, {"verify"}}) {
      const Ran ran = modlock(command);
      BOOST_TEST(ran.exit_code == 8, command.front() << ran.out << ran.err);
      BOOST_TEST(ran.err.find("[LOCK_PARSE]") != std::string::npos, ran.err);
      BOOST_TEST(lock() == form);
    }
    write("base", "");
    write("theirs", "");
    write("ours", form);
    BOOST_TEST(modlock({"merge", "base", "ours", "theirs"}).exit_code != 0);
    BOOST_TEST(read("ours") == form);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::test
