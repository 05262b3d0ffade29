// The names of module calls and providers that a user may write.

#include <fmt/format.h>

#include <boost/test/unit_test.hpp>

#include "tests/e2e/scene.h"
#include "tests/support/provider_registry.h"

namespace modlock::test {
namespace {

// Two calls, one of which has the name of a provider, and that provider with one of another namespace.
struct Subjects : Scene {
  Subjects() : vpc(repository("vpc.git")), dns(repository("dns.git")) {
    for (const char* version : {"1.0.0", "1.1.0", "2.0.0"}) {
      release(vpc, version);
      release(dns, version);
      for (const char* name : {"acme/cloud", "acme/dns"}) {
        registry.publish({.name = name, .version = version, .platforms = {"linux_amd64"}});
      }
    }
    write_text(path("tofurc"), registry.host_block("registry.opentofu.org"));
    environment["TF_CLI_CONFIG_FILE"] = path("tofurc").string();
    environment["TOFU_MODLOCK_IMPLEMENTATION"] = "opentofu";
    write("main.tf", "terraform {\n  required_providers {\n" + required("cloud") + required("dns") + "  }\n}\n" +
                         module_call("network", "git::" + vpc.url()) + module_call("dns", "git::" + dns.url()));
    write(".tofu-modlock.hcl", module_rule("network", "~> 1.0.0") + module_rule("dns", "~> 1.0.0"));
    BOOST_REQUIRE(modlock({"lock"}).exit_code == 0);
  }
  static std::string required(const std::string& type) {
    return fmt::format("    {0} = {{\n      source  = \"acme/{0}\"\n      version = \"~> 1.0.0\"\n    }}\n", type);
  }
  ProviderRegistry registry;
  GitRepository& vpc;
  GitRepository& dns;
};

constexpr const char* kCloud = "provider.registry.opentofu.org/acme/cloud";
constexpr const char* kDns = "provider.registry.opentofu.org/acme/dns";

BOOST_FIXTURE_TEST_SUITE(subject, Subjects)

BOOST_AUTO_TEST_CASE(bare_name_is_the_subject_that_has_it) {
  struct Row {
    const char* name;
    const char* full;
  };
  for (const Row& row : {Row{"network", "module.network"}, Row{"acme/cloud", kCloud}, Row{"cloud", kCloud},
                         Row{"registry.opentofu.org/acme/dns", kDns}, Row{"acme/dns", kDns},
                         Row{"provider.acme/cloud", "provider.acme/cloud"}}) {
    BOOST_TEST_CONTEXT(row.name) {
      const std::string name = row.name;
      const std::string full = row.full;
      BOOST_TEST(modlock({"why", name}).out.starts_with(full + "  1.0.0\n"));
      for (const auto& [with, without] :
           {std::pair<std::vector<std::string>, std::vector<std::string>>{{"outdated", name}, {"outdated", full}},
            {{"upgrade", "--dry-run", "--target", name}, {"upgrade", "--dry-run", "--target", full}},
            {{"update", "--dry-run", name + "=2.0.0"}, {"update", "--dry-run", full + "=2.0.0"}}}) {
        const Ran ran = modlock(with);
        BOOST_TEST(ran.exit_code == 0, ran.err);
        BOOST_TEST(!ran.out.empty());
        BOOST_TEST(ran.out == modlock(without).out);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(address_that_a_client_prints_names_the_call) {
  write("local/main.tf", module_call("nested", "git::" + vpc.url() + "?ref=v1.0.0"));
  write("more.tf", module_call("local", "./local"));
  BOOST_REQUIRE(modlock({"lock"}).exit_code == 0);
  struct Row {
    const char* address;
    const char* subject;
  };
  for (const Row& row : {Row{"module.local.module.nested", "module.local.nested"},
                         Row{"module.local[0].module.nested[\"a.b\"]", "module.local.nested"},
                         Row{"module.network[\"a\"]", "module.network"}}) {
    BOOST_TEST_CONTEXT(row.address) {
      for (const std::vector<std::string>& words :
           {std::vector<std::string>{"why"}, {"outdated"}, {"upgrade", "--dry-run", "--target"}}) {
        std::vector<std::string> by_address = words;
        by_address.emplace_back(row.address);
        std::vector<std::string> by_subject = words;
        by_subject.emplace_back(row.subject);
        const Ran ran = modlock(by_address);
        BOOST_TEST(ran.exit_code == 0, ran.err);
        BOOST_TEST(ran.out.find(words.front() == "upgrade" ? "The lock file is up to date.\n" : row.subject) == 0U,
                   ran.out);
        BOOST_TEST(ran.err == modlock(by_subject).err);
      }
    }
  }
  const Ran bare = modlock({"why", "nested"});
  BOOST_TEST(bare.exit_code == 2, bare.err);
  BOOST_TEST(bare.err.find("  hint: did you mean module.local.nested?\n") != std::string::npos, bare.err);
  const Ran ran = modlock({"update", "module.local.module.nested=1.1.0"});
  BOOST_TEST(ran.exit_code == 0, ran.err);
  BOOST_TEST(read("local/main.tf").find("?ref=v1.1.0") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(source_as_written_names_its_call) {
  BOOST_TEST(modlock({"why", "git::" + vpc.url()}).out.starts_with("module.network  1.0.0\n"));
}

BOOST_AUTO_TEST_CASE(name_of_several_or_none_is_an_error) {
  struct Row {
    const char* name;
    const char* err;
  };
  const Row rows[] = {
      {"dns",
       "Error: \"dns\" is ambiguous: it may be module.dns or provider.registry.opentofu.org/acme/dns [INVALID_PARAMS]\n"
       "  hint: write one of these subjects\n"},
      {"netwrok",
       "Error: \"netwrok\" matches no module call or provider [INVALID_PARAMS]\n"
       "  hint: did you mean \"network\"?\n"},
      {"clod",
       "Error: \"clod\" matches no module call or provider [INVALID_PARAMS]\n"
       "  hint: did you mean \"cloud\"?\n"},
      {"something",
       "Error: \"something\" matches no module call or provider [INVALID_PARAMS]\n"
       "  hint: `tofu-modlock inspect` lists them\n"},
  };
  for (const Row& row : rows) {
    const std::string name = row.name;
    for (const std::vector<std::string>& words : {std::vector<std::string>{"why", name},
                                                  {"outdated", name},
                                                  {"upgrade", "--target", name},
                                                  {"update", name + "=1.1.0"}}) {
      BOOST_TEST_CONTEXT(words.front() << " " << name) {
        const Ran ran = modlock(words);
        BOOST_TEST(ran.exit_code == 2);
        BOOST_TEST(ran.out.empty());
        BOOST_TEST(ran.err == row.err);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(unknown_subject_names_the_nearest) {
  struct Row {
    std::vector<std::string> words;
    const char* nearest;
  };
  for (const Row& row :
       {Row{{"why", "module.netwrok"}, "module.network"}, Row{{"why", "provider.acme/clud"}, "provider.acme/cloud"},
        Row{{"why", "acme/clud"}, "provider.acme/cloud"}, Row{{"outdated", "module.dms"}, "module.dns"},
        Row{{"outdated", "provider.acme/clud"}, kCloud}, Row{{"update", "module.netwrk=1.1.0"}, "module.network"},
        Row{{"upgrade", "--target", "module.netwrk"}, "module.network"},
        Row{{"upgrade", "--target", "provider.acme/clod"}, "provider.acme/cloud"}}) {
    BOOST_TEST_CONTEXT(row.words.back()) {
      const Ran ran = modlock(row.words);
      BOOST_TEST(ran.exit_code == 2);
      BOOST_TEST(ran.err.ends_with(fmt::format("  hint: did you mean \"{}\"?\n", row.nearest)), ran.err);
    }
  }
}

BOOST_AUTO_TEST_CASE(bare_target_need_not_be_in_every_root_module) {
  write_text(root() / "other/main.tf", module_call("vpc", "git::" + vpc.url(), "~> 1.0.0"));
  BOOST_TEST(modlock({"upgrade", "--recursive", "--target", "network"}).exit_code == 0);
  const Ran ran = modlock({"upgrade", "--recursive", "--target", "netwrok"});
  BOOST_TEST(ran.exit_code == 2);
  BOOST_TEST(ran.err.find("\"netwrok\" matches no module call or provider") != std::string::npos, ran.err);
}

BOOST_AUTO_TEST_CASE(bare_name_respects_include) {
  const Ran ran = modlock({"update", "cloud=1.1.0", "--include", "modules"});
  BOOST_TEST(ran.exit_code == 2);
  BOOST_TEST(ran.err ==
             fmt::format("Error: --include excludes {} [INVALID_PARAMS]\n  hint: add --include providers\n", kCloud));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::test
