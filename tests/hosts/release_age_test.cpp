// minimum_release_age of providers: each way to a lock, with each source of providers, while the newest release is
// young.

#include <fmt/chrono.h>

#include <boost/test/unit_test.hpp>
#include <functional>

#include "backends/address/provider_address.h"
#include "tests/fidelity/mirrors.h"
#include "tests/hosts/terragrunt_scene.h"
#include "tests/support/needs.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

constexpr const char* kOld = "2026-05-01T00:00:00Z";
constexpr const char* kRule = "provider \"*\" {\n  minimum_release_age = \"3d\"\n}\n";

enum class Origin { trusted_registry, registry, lying_registry, network_mirror, filesystem_mirror, oci_mirror };

const std::vector<std::pair<Origin, const char*>> kOrigins = {
    {Origin::trusted_registry, "a registry with trusted dates, and an empty cache"},
    {Origin::registry, "a registry without dates"},
    {Origin::lying_registry, "a registry with dates that are not trusted"},
    {Origin::network_mirror, "a network mirror"},
    {Origin::filesystem_mirror, "a filesystem mirror"},
    {Origin::oci_mirror, "an OCI mirror"},
};

// The provider has the versions 1.0.0, which is locked, 1.1.0, which is old enough, and 1.2.0, which was just released.
struct YoungRelease : TerragruntScene {
  explicit YoungRelease(Origin origin, const std::string& client = "tofu", bool has_rule = true) : origin_(origin) {
    const bool is_terraform = client == "terraform";
    host = is_terraform ? "registry.terraform.io" : "registry.opentofu.org";
    environment["TOFU_MODLOCK_IMPLEMENTATION"] = is_terraform ? "terraform" : "opentofu";
    environment["TF_CLI_CONFIG_FILE"] = path("tofurc").string();
    environment["TF_CLI_ARGS"] = "";
    environment["SSL_CERT_FILE"] = authority.certificate().string();
    // `serve`, which lock-bot starts, knows only the cache of the user.
    fs::create_directories(path("xdg-cache"));
    fs::create_directory_symlink(cache(), path("xdg-cache/tofu-modlock"));
    write_text(path("home/.gitconfig"), "[user]\n\tname = user\n\temail = user@example.test\n");
    write_text(path("home/.config/tofu-modlock/config.hcl"),
               fmt::format("trust_publication_dates = [{}]\n",
                           origin == Origin::trusted_registry ? "\"" + host + "\"" : std::string()));
    const bool has_dates = origin == Origin::trusted_registry || origin == Origin::lying_registry;
    publish("1.0.0", has_dates ? kOld : "");
    publish("1.1.0", has_dates ? kOld : "");
    fs::create_directories(root() / "r/.git");  // the top of the repository, as far as settings are concerned
    configure("1.0.0");
    BOOST_TEST(lock_root().exit_code == 0);
    if (origin == Origin::trusted_registry) {
      fs::remove_all(cache() / "v2");
    } else {
      let_pass(73);
    }
    const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
    publish("1.2.0", origin == Origin::lying_registry     ? kOld
                     : origin == Origin::trusted_registry ? fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", now)
                                                          : "");
    write("r/.tofu-modlock.hcl", has_rule ? kRule : "");
    write("live/vpc/.tofu-modlock.hcl", module_rule("vpc", "~> 1.0") + (has_rule ? kRule : ""));
  }

  void publish(const std::string& version, const std::string& discovered,
               PublishedProvider::Signing signing = PublishedProvider::Signing::valid) {
    registry.publish({.name = "acme/cloud", .version = version, .discovered = discovered, .signing = signing});
    versions_.push_back(version);
    const std::vector<fidelity::Offer> offers = {{"acme/cloud", versions_, {"linux_amd64"}}};
    std::string method;
    if (origin_ == Origin::network_mirror) {
      method = fmt::format("network_mirror {{\n    url = \"{}\"\n  }}",
                           fidelity::serve_mirror(registry, offers, network_mirror, {host}));
    } else if (origin_ == Origin::filesystem_mirror) {
      fidelity::fill_mirror(registry, offers, path("mirror"), {host});
      method = fmt::format("filesystem_mirror {{\n    path = \"{}\"\n  }}", path("mirror").string());
    } else if (origin_ == Origin::oci_mirror) {
      method = fmt::format("oci_mirror {{\n    repository_template = \"{}\"\n  }}",
                           fidelity::push_mirror(registry, offers, oci_mirror, {host}));
    }
    write_text(path("tofurc"), registry.host_block(host) +
                                   (method.empty() ? "" : fmt::format("provider_installation {{\n  {}\n}}\n", method)));
  }

  void configure(const std::string& constraint) const { write("r/main.tf", required_cloud(constraint)); }
  Ran in_root(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"--chdir", (root() / "r").string()});
    return modlock(arguments);
  }
  Ran lock_root() const { return in_root({"lock"}); }

  void git(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"git", "-C", (root() / "r").string()});
    const Ran ran = program(arguments);
    BOOST_TEST(ran.exit_code == 0, ran.err);
  }
  // The root as the only directory of a repository, with the lock of 1.0.0.
  void commit(const std::string& constraint) const {
    configure(constraint);
    fs::remove_all(root() / "r/.git");
    git({"init", "-q", "-b", "main"});
    git({"add", "-A"});
    git({"commit", "-q", "-m", "first"});
  }
  Ran from_file(const std::string& entry) const {
    commit("~> 1.0.0");
    write("data.json", fmt::format("[{{\"depName\": \"acme/cloud\", \"depType\": \"required_provider\", "
                                   "\"currentValue\": \"~> 1.0.0\", {}}}]",
                                   entry));
    return in_root({"update", "--from-file", (root() / "data.json").string()});
  }

  // The version of the provider in a lock file.
  static std::string version_in(const std::string& lock) {
    const std::size_t block = lock.find("/acme/cloud\" {");
    const std::size_t start = lock.find('"', lock.find("version ", std::min(block, lock.size())));
    return block == std::string::npos ? "none" : lock.substr(start + 1, lock.find('"', start + 1) - start - 1);
  }

  // Checks that `init` of a client accepts the lock, and does not change it.
  void check_client(const std::string& name, const fs::path& directory) const {
    const std::string before = read_text(directory / ".terraform.lock.hcl");
    for (const char* flag : {"-lockfile=readonly", "-input=false"}) {
      const Ran init = program({name, "-chdir=" + directory.string(), "init", "-get=false", "-no-color", flag});
      BOOST_TEST(init.exit_code == 0, init.out << init.err);
      BOOST_TEST(read_text(directory / ".terraform.lock.hcl") == before);
    }
  }

  std::string host;
  TemporaryDirectory certificates;
  CertificateAuthority authority{certificates.path()};
  ServerCertificate certificate = authority.issue("mirror");
  ProviderRegistry registry;
  ModuleRegistry network_mirror{certificate};
  OciRegistry oci_mirror{certificate};

 private:
  const Origin origin_;
  std::vector<std::string> versions_;
};

struct WayIn {
  const char* name;
  std::function<Ran(YoungRelease&)> run;
  std::string file = "r/.terraform.lock.hcl";
};

const std::vector<WayIn> kWaysIn = {
    {"lock",
     [](YoungRelease& scene) {
       scene.configure("~> 1.0");
       fs::remove(scene.root() / "r/.terraform.lock.hcl");
       return scene.lock_root();
     }},
    {"upgrade",
     [](YoungRelease& scene) {
       scene.configure("~> 1.0");
       return scene.in_root({"upgrade"});
     }},
    {"update of a provider",
     [](YoungRelease& scene) {
       scene.configure("~> 1.0");
       return scene.in_root({"update", "provider.acme/cloud"});
     }},
    {"update --from-diff",
     [](YoungRelease& scene) {
       scene.commit("~> 1.0.0");
       scene.configure("~> 1.1");
       return scene.in_root({"update", "--from-diff", "HEAD"});
     }},
    {"update --from-file with a constraint",
     [](YoungRelease& scene) { return scene.from_file("\"newValue\": \"~> 1.1\""); }},
    {"lock-bot",
     [](YoungRelease& scene) {
       scene.commit("~> 1.0");
       const Ran ran = scene.program({"python3", std::string(MODLOCK_SCRIPTS) + "/lock-bot", "--binary", scene.binary,
                                      (scene.root() / "r").string()});
       scene.git({"checkout", "-q", "tofu-modlock/updates"});
       return ran;
     }},
    {"hook of Terragrunt at a first lock",
     [](YoungRelease& scene) {
       scene.write("catalog/versions.tf", required_cloud("~> 1.0"));
       write_text(scene.client, "#!/bin/sh\nexit 0\n");
       return scene.terragrunt({"init"});
     },
     "live/vpc/.terraform.lock.hcl"},
};

}  // namespace

BOOST_AUTO_TEST_SUITE(release_age_of_providers)

// Without the rule each way locks 1.2.0, so the table below cannot pass by accident.
BOOST_AUTO_TEST_CASE(without_a_rule_the_newest_is_locked) {
  for (const WayIn& way : kWaysIn) {
    BOOST_TEST_CONTEXT(way.name) {
      YoungRelease scene(Origin::registry, "tofu", false);
      const Ran ran = way.run(scene);
      BOOST_TEST(ran.exit_code == 0, ran.err);
      const bool is_of_client = way.file.starts_with("live");  // without a rule the hook leaves providers to the client
      BOOST_TEST(YoungRelease::version_in(scene.read(way.file)) == (is_of_client ? "none" : "1.2.0"));
    }
  }
}

BOOST_AUTO_TEST_CASE(no_way_in_locks_a_young_release) {
  for (const auto& [origin, name] : kOrigins) {
    for (const WayIn& way : kWaysIn) {
      BOOST_TEST_CONTEXT(way.name << ", " << name) {
        YoungRelease scene(origin);
        const Ran ran = way.run(scene);
        BOOST_TEST(ran.exit_code == 0, ran.err);
        BOOST_TEST(YoungRelease::version_in(scene.read(way.file)) == "1.1.0", ran.out << ran.err);
        BOOST_TEST(ran.exit_code == 0, ran.out << ran.err);
      }
    }
  }
}

// The variable replaces the ages of the settings in each command. lock-bot is a host: it reads none.
BOOST_AUTO_TEST_CASE(the_variable_applies_to_each_way) {
  for (const WayIn& way : kWaysIn) {
    for (const bool is_longer : {true, false}) {
      if (way.name == std::string("lock-bot")) {
        continue;
      }
      BOOST_TEST_CONTEXT(way.name << (is_longer ? ", 3d without a rule" : ", 0s with a rule")) {
        YoungRelease scene(Origin::registry, "tofu", !is_longer);
        scene.write("s/main.tf", module_call("vpc", "git::" + scene.vpc.url()));  // the module of the unit
        scene.write("s/.tofu-modlock.hcl", module_rule("vpc", "~> 1.0"));
        BOOST_TEST(scene.modlock({"lock", "s"}).exit_code == 0);
        scene.let_pass(73);
        scene.environment["TOFU_MODLOCK_MINIMUM_RELEASE_AGE"] = is_longer ? "3d" : "0s";
        const Ran ran = way.run(scene);
        BOOST_TEST(ran.exit_code == 0, ran.err);
        BOOST_TEST(YoungRelease::version_in(scene.read(way.file)) == (is_longer ? "1.1.0" : "1.2.0"), ran.err);
      }
    }
  }
  YoungRelease scene(Origin::registry, "tofu", false);
  scene.configure("~> 1.0");
  BOOST_TEST(scene.in_root({"update", "provider.acme/cloud"}).exit_code == 0);
  BOOST_TEST(scene.in_root({"verify", "--age"}).exit_code == 2);  // there is no age
  scene.environment["TOFU_MODLOCK_MINIMUM_RELEASE_AGE"] = "3d";
  for (const char* command : {"verify", "ci"}) {
    const Ran ran = scene.in_root({command, "--age"});
    BOOST_TEST(ran.exit_code == 3);
    BOOST_TEST((ran.out + ran.err).find("too-new") != std::string::npos, command << ran.out << ran.err);
  }
  scene.write("r/.tofu-modlock.hcl", kRule);
  scene.environment["TOFU_MODLOCK_MINIMUM_RELEASE_AGE"] = "0s";
  BOOST_TEST(scene.in_root({"verify", "--age"}).out.find("too-new") == std::string::npos);
  scene.environment["TOFU_MODLOCK_MINIMUM_RELEASE_AGE"] = "3 days";
  const Ran wrong = scene.in_root({"verify", "--age"});
  BOOST_TEST(wrong.exit_code == 2);
  BOOST_TEST(wrong.err.find("must be a duration, found \"3 days\"") != std::string::npos, wrong.err);
}

BOOST_AUTO_TEST_CASE(clients_accept_each_lock, *needs("tofu or terraform")) {
  for (const std::string& client : clients()) {
    for (const auto& [origin, name] : kOrigins) {
      if (client == "terraform" && origin == Origin::oci_mirror) {
        continue;  // Terraform has none
      }
      for (const WayIn& way : kWaysIn) {
        if (&way != &kWaysIn.front() && origin != Origin::registry) {
          continue;  // the lock is the same
        }
        BOOST_TEST_CONTEXT(client << ", " << way.name << ", " << name) {
          YoungRelease scene(origin, client);
          BOOST_TEST(way.run(scene).exit_code == 0);
          BOOST_TEST(YoungRelease::version_in(scene.read(way.file)) == "1.1.0");
          scene.check_client(client, way.file.starts_with("r/") ? scene.root() / "r" : scene.working_directory());
        }
      }
    }
  }
}

// A version that is named exactly is an exception, and the plan names it.
BOOST_AUTO_TEST_CASE(what_a_bot_names_is_locked) {
  struct Row {
    const char* entry;
    const char* locked;
    bool is_exception;
  };
  for (const Row& row : {Row{"\"newValue\": \"~> 1.1\", \"newVersion\": \"1.1.0\"", "1.1.0", false},
                         Row{"\"newValue\": \"~> 1.2\", \"newVersion\": \"1.2.0\"", "1.2.0", true},
                         Row{"\"newValue\": \"1.2.0\"", "1.2.0", true}}) {
    BOOST_TEST_CONTEXT(row.entry) {
      YoungRelease scene(Origin::registry);
      const Ran ran = scene.from_file(row.entry);
      BOOST_TEST(ran.exit_code == 0, ran.err);
      BOOST_TEST(YoungRelease::version_in(scene.read("r/.terraform.lock.hcl")) == row.locked);
      BOOST_TEST((ran.err.find("is newer than minimum_release_age allows: first seen at 2") != std::string::npos) ==
                     row.is_exception,
                 ran.err);
    }
  }
}

// A cache that is new in each run never makes a locked version too young, and a first lock fails and says what helps.
BOOST_AUTO_TEST_CASE(empty_cache_each_time) {
  YoungRelease scene(Origin::registry);
  scene.configure("~> 1.0");
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"lock"}, {"lock", "--frozen"}, {"install"}, {"upgrade"}}) {
    fs::remove_all(scene.cache());
    const Ran ran = scene.in_root(arguments);
    BOOST_TEST(ran.exit_code == 0, arguments.front() << ": " << ran.err);
    BOOST_TEST(YoungRelease::version_in(scene.read("r/.terraform.lock.hcl")) == "1.0.0");
  }
  fs::remove(scene.root() / "r/.terraform.lock.hcl");
  fs::remove_all(scene.cache());
  const Ran ran = scene.lock_root();
  BOOST_TEST(ran.exit_code == 6);
  BOOST_TEST(ran.err.find("all matching versions of provider registry.opentofu.org/acme/cloud are newer than "
                          "minimum_release_age (3d): ") != std::string::npos,
             ran.err);
  BOOST_TEST(ran.err.find("hint: wait until 20") != std::string::npos, ran.err);
  BOOST_TEST(!scene.has("r/.terraform.lock.hcl"));
  BOOST_TEST(scene.in_root({"lock", "--minimum-release-age", "0s"}).exit_code == 0);
}

// install never locks: a new provider or call is an error that names the command.
BOOST_AUTO_TEST_CASE(install_of_a_new_call_locks_nothing) {
  YoungRelease scene(Origin::registry);
  const std::string before = scene.read("r/.terraform.lock.hcl");
  scene.write("r/main.tf", required_cloud("~> 1.0") + module_call("vpc", "git::" + scene.vpc.url(), "~> 1.0"));
  const Ran ran = scene.in_root({"install"});
  BOOST_TEST(ran.exit_code == 3, ran.err);
  BOOST_TEST(scene.read("r/.terraform.lock.hcl") == before);
}

// A lock that another program wrote: each source, before and after the age.
BOOST_AUTO_TEST_CASE(verify_finds_a_young_release) {
  for (const auto& [origin, name] : kOrigins) {
    BOOST_TEST_CONTEXT(name) {
      YoungRelease scene(origin);
      scene.configure("~> 1.0");
      const auto verdict = [&] {
        const std::string out = scene.in_root({"verify", "--age"}).out;
        return out.substr(0, out.find(' '));
      };
      BOOST_TEST(verdict() == "missing");  // 1.0.0 is old enough, and not installed
      BOOST_TEST(scene.in_root({"update", "provider.acme/cloud=1.2.0"}).exit_code == 0);
      BOOST_TEST(verdict() == "too-new");
      const Ran ran = scene.in_root({"verify", "--age"});
      BOOST_TEST(ran.exit_code == 3);
      BOOST_TEST(ran.err.find("/acme/cloud: first seen at 20") != std::string::npos, ran.out << ran.err);
      BOOST_TEST(ran.err.find("; the minimum release age is 3d, until 20") != std::string::npos, ran.out << ran.err);
      scene.let_pass(73);
      // A trusted date counts instead of that of the cache.
      BOOST_TEST(verdict() == (origin == Origin::trusted_registry ? "too-new" : "missing"));
    }
  }
}

// A version that only the program chose is no exception: the date of its commit or signature holds it, too.
BOOST_AUTO_TEST_CASE(the_date_of_a_chosen_version_counts) {
  struct Row {
    const char* name;
    std::string configuration;
    std::string subject;
    std::string shown;
  };
  YoungRelease scene(Origin::registry);
  scene.publish("1.3.0", "", PublishedProvider::Signing::young_signature);
  scene.release(scene.vpc, "1.3.0");
  const std::string date = std::to_string(std::time(nullptr)) + " +0000";
  const std::string commit =
      scene.vpc.git({"hash-object", "-t", "commit", "-w", "--stdin"},
                    fmt::format("tree {}\nparent {}\nauthor a <a@b.test> {}\ncommitter a <a@b.test> {}\n\nyoung\n",
                                scene.vpc.id("v1.3.0^{tree}"), scene.vpc.id("v1.0.0"), date, date));
  scene.vpc.git({"tag", "--force", "v1.3.0", commit});
  scene.vpc.branch("main", commit);
  const std::string source = "git::" + scene.vpc.url();
  const std::string provider = "provider." + scene.host + "/acme/cloud";
  for (const Row& row :
       {Row{"provider", required_cloud("~> 1.0"), provider, "provider registry.opentofu.org/acme/cloud"},
        Row{"provider with an exact version", required_cloud("1.0.0"), provider,
            "provider registry.opentofu.org/acme/cloud"},
        Row{"module with a constraint", module_call("vpc", source), "module.vpc", "module \"vpc\""},
        Row{"module with a tag", module_call("vpc", source + "?ref=v1.0.0"), "module.vpc", "module \"vpc\""}}) {
    BOOST_TEST_CONTEXT(row.name) {
      const bool has_rule = row.name == std::string("module with a constraint");
      scene.write("r/main.tf", row.configuration);
      scene.write("r/.tofu-modlock.hcl", (has_rule ? module_rule("vpc", "= 1.0.0") : "") +
                                             "source \"*\" {\n  minimum_release_age = \"3d\"\n}\n" + kRule);
      fs::remove(scene.root() / "r/.terraform.lock.hcl");
      BOOST_TEST(scene.in_root({"lock", "--minimum-release-age", "0s"}).exit_code == 0);
      if (row.subject == provider) {
        BOOST_TEST(scene.in_root({"update", provider + "=1.0.0"}).exit_code == 0);
      }
      scene.in_root({"outdated"});  // sees all versions
      scene.let_pass(73);
      const std::string before = scene.read("r/.terraform.lock.hcl");
      const std::string held = "the selected version of " + row.shown +
                               " is newer than minimum_release_age allows: its publisher dates it to 20";
      const Ran ran = scene.in_root({"update", row.subject});
      BOOST_TEST(ran.exit_code == 0, ran.err);
      BOOST_TEST(ran.err.find("Info: " + held) != std::string::npos, ran.out << ran.err);
      BOOST_TEST(scene.read("r/main.tf") == row.configuration);
      BOOST_TEST(scene.read("r/.terraform.lock.hcl") == before);
      // lock-bot names what the lookup found, not what a person chose.
      fs::remove_all(scene.root() / "r/.git");
      scene.git({"init", "-q", "-b", "main"});
      scene.git({"add", "-A"});
      scene.git({"commit", "-q", "-m", "first"});
      const Ran bot = scene.program({"python3", std::string(MODLOCK_SCRIPTS) + "/lock-bot", "--binary", scene.binary,
                                     (scene.root() / "r").string()});
      BOOST_TEST(bot.exit_code == 1);
      BOOST_TEST(bot.err.find(row.subject + " to 1.3.0: " + held) != std::string::npos, bot.out << bot.err);
      // A person may.
      const Ran named = scene.in_root({"update", row.subject + "=1.3.0"});
      BOOST_TEST(named.exit_code == 0, named.err);
      BOOST_TEST(named.err.find("Warning: " + held) != std::string::npos, named.err);
      BOOST_TEST(scene.read("r/.terraform.lock.hcl") != before);
    }
  }
}

// docs/terragrunt.md: in CI a hook locks nothing, leaves providers to the client, and knows no age.
BOOST_AUTO_TEST_CASE(a_hook_in_ci_checks_no_age) {
  YoungRelease scene(Origin::registry);
  BOOST_TEST(kWaysIn.back().run(scene).exit_code == 0);
  scene.write("live/vpc/.tofu-modlock.hcl", module_rule("vpc", "~> 1.0") +
                                                "source \"*\" {\n  minimum_release_age = \"52w\"\n}\n" +
                                                "provider \"*\" {\n  minimum_release_age = \"52w\"\n}\n");
  scene.environment["CI"] = "true";
  const std::string locked = scene.unit_lock();
  const std::string without_provider = locked.substr(0, locked.find("provider \""));
  BOOST_TEST_REQUIRE(YoungRelease::version_in(without_provider) == "none");
  for (const std::string& lock : {locked, without_provider}) {
    scene.write("live/vpc/.terraform.lock.hcl", lock);
    fs::remove_all(scene.root() / "live/vpc/.terragrunt-cache");
    scene.registry.forget_requests();
    const Ran ran = scene.terragrunt({"init", "-lockfile=readonly"});
    BOOST_TEST(ran.exit_code == 0, ran.out << ran.err);
    BOOST_TEST(scene.unit_lock() == lock);
    BOOST_TEST(scene.registry.requests().total() == 0);
  }
}

// What the lock file holds is judged before a client runs, whichever command it is.
BOOST_AUTO_TEST_CASE(ci_judges_before_the_client) {
  YoungRelease scene(Origin::registry);
  scene.configure("~> 1.0");
  BOOST_TEST(scene.in_root({"update", "provider.acme/cloud=1.2.0"}).exit_code == 0);
  const auto ci = [&] {
    return scene.modlock(
        {"ci", "--age", "--chdir", (scene.root() / "r").string(), "--", "/bin/sh", "-c", "touch started"});
  };
  const Ran young = ci();
  BOOST_TEST(young.exit_code == 3);
  BOOST_TEST(young.out.find("too-new  provider.registry.opentofu.org/acme/cloud  1.2.0  newer than minimum_release_age"
                            "\n\n0 verified, 1 too-new\n") != std::string::npos,
             young.out);
  BOOST_TEST(!scene.has("r/started"));
  // A checkout cannot hide it behind a package that was changed.
  const std::string planted = "r/.terraform/providers/registry.opentofu.org/acme/cloud/1.2.0/";
  scene.write(planted + Platform::current().to_string() + "/terraform-provider-cloud_v1.2.0", "junk");
  BOOST_TEST(ci().exit_code != 0);
  BOOST_TEST(!scene.has("r/started"));
  fs::remove_all(scene.root() / "r/.terraform");
  scene.let_pass(73);
  const Ran old = ci();
  BOOST_TEST(old.exit_code == 0, old.out << old.err);
  BOOST_TEST(scene.has("r/started"));
}

BOOST_AUTO_TEST_CASE(verify_records_a_version_that_no_registry_lists) {
  YoungRelease scene(Origin::registry);
  scene.write("r/.terraform.lock.hcl",
              "provider \"registry.opentofu.org/acme/cloud\" {\n  version = \"0.9.0\"\n  hashes = [\"h1:x\"]\n}\n");
  scene.configure("~> 0.9");
  const auto verdict = [&] { return scene.in_root({"verify", "--age"}).out.substr(0, 7); };
  BOOST_TEST(verdict() == "too-new");
  scene.let_pass(73);
  BOOST_TEST(verdict() == "missing");
  // A lock file cannot make a version known before its source lists it.
  scene.publish("0.9.0", "");
  BOOST_TEST(verdict() == "too-new");
}

BOOST_AUTO_TEST_CASE(verify_leaves_out_dev_overrides) {
  YoungRelease scene(Origin::registry);
  scene.configure("~> 1.0");
  BOOST_TEST(scene.in_root({"update", "provider.acme/cloud=1.2.0"}).exit_code == 0);
  write_text(scene.path("tofurc"),
             scene.registry.host_block(scene.host) +
                 "provider_installation {\n  dev_overrides {\n    \"acme/cloud\" = \"/built\"\n  }\n  direct {}\n}\n");
  scene.registry.forget_requests();
  const Ran ran = scene.in_root({"verify", "--age"});
  BOOST_TEST(ran.exit_code == 0, ran.out << ran.err);
  BOOST_TEST(
      ran.err.find("provider registry.opentofu.org/acme/cloud is not verified: a client takes it from a directory "
                   "that dev_overrides names") != std::string::npos,
      ran.err);
  BOOST_TEST(scene.registry.requests().total() == 0);
}

BOOST_AUTO_TEST_CASE(queries_know_the_age) {
  YoungRelease scene(Origin::registry);
  scene.configure("~> 1.0");
  const Ran listed = scene.in_root({"update", "--list"});
  BOOST_TEST(listed.out.find("/acme/cloud  1.0.0  (~> 1.0)  -> 1.1.0 (lock only, minor)") != std::string::npos,
             listed.out);
  const Ran explained = scene.in_root({"explain", "provider.acme/cloud"});
  BOOST_TEST(explained.out.find("  minimum_release_age = \"3d\"  at r/.tofu-modlock.hcl:2:25\n"
                                "    keeps 1.1.0, 1.0.0\n"
                                "    rejects 1.2.0: first seen at 20") != std::string::npos,
             explained.out);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
