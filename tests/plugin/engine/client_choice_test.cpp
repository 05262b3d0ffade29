// Which client a root module is checked for, and what its checkout at another revision declares.

#include "plugin/engine/open_root.h"

#include <algorithm>

#include "backends/base/process.h"
#include "tests/plugin/engine/engine_fixture.h"
#include "tests/support/run.h"

using namespace modlock;
using namespace modlock::test;

namespace fs = std::filesystem;

struct GitProgram {
  fs::path program = *find_program("git");  // before the fixture changes PATH
};

struct Repository : GitProgram, EngineFixture {
  Repository() {
    fs::create_directory(directory / "no-programs");
    fs::create_symlink(GitProgram::program, directory / "no-programs/git");
    git_in_root({"init", "--quiet", "--template=", "--initial-branch=main"});
  }
  void git_in_root(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"git", "-c", "user.name=n", "-c", "user.email=e"});
    test::run(std::move(arguments), directory / "root",
              {{"GIT_CONFIG_GLOBAL", "/dev/null"}, {"GIT_CONFIG_NOSYSTEM", "1"}});
  }
  void commit() const {
    git_in_root({"add", "--all"});
    git_in_root({"commit", "--quiet", "--allow-empty", "--message=m"});
  }
  // Programs on PATH besides git: "tofu", "terraform".
  void set_clients(const std::vector<std::string>& names) const {
    for (const char* const known : {"tofu", "terraform"}) {
      fs::remove(directory / "no-programs" / known);
    }
    for (const std::string& name : names) {
      directory.write("no-programs/" + name, "#!/bin/sh\nexit 1\n");
      fs::permissions(directory / "no-programs" / name, fs::perms::owner_all);
    }
  }
  // Of `lock --frozen` and of `verify`, which find the same: "ok", "checked for opentofu (lock file)", or the error.
  std::string check(bool is_frozen) {
    const auto said = [](const std::optional<messages::CheckedFor>& checked) {
      return checked ? fmt::format("checked for {} ({})", checked->client, checked->from) : "ok";
    };
    if (is_frozen) {
      const auto planned = call(&Engine::plan, plan_params("frozen"));
      return planned ? said(planned->checked_for) : planned.error().message;
    }
    const auto verified = succeed(&Engine::verify, of_root<messages::LockVerifyParams>());
    const auto error = std::find_if(verified.diagnostics.begin(), verified.diagnostics.end(),
                                    [](const Diagnostic& one) { return one.what.code == Code::frozen; });
    return error != verified.diagnostics.end() ? error->what.message : said(verified.checked_for);
  }
  // As if only the checkout decided.
  void decide_nothing() {
    options.implementation.reset();
    open();
  }
  // Locks the files for the client of the header.
  void lock_files(const std::vector<std::pair<std::string, std::string>>& files, const std::string& client) {
    for (const char* const name : {"main.tf", "main.tofu", "x.tofu", "x.tofutest.hcl", kLock, kSidecar, kSettings}) {
      fs::remove(directory / "root" / name);
    }
    for (const auto& [name, text] : files) {
      write(name, text);
    }
    options.implementation = client;
    options.base.clear();
    open();
    lock();
    install();
    decide_nothing();
  }

  // "implementation, first line of the lock", or the error.
  std::string base(const std::string& revision, const std::string& below = "") {
    options.base = revision;
    open();
    auto params = of_root<messages::LockPlanParams>();
    params.root.root += below;
    const auto root = open_root(params.root, *engine, Run());
    BOOST_REQUIRE(root.has_value());
    const auto state = read_base(*root, engine->options(), Context{});
    if (!state) {
      return outcome(state);
    }
    return !*state ? "no base"
                   : fmt::format("{}, {}", (*state)->settings.implementation.value_or("none"),
                                 (*state)->lock_text.value_or("no lock"));
  }
};

BOOST_FIXTURE_TEST_SUITE(client_choice, Repository)

BOOST_AUTO_TEST_CASE(a_checkout_at_its_base) {
  BOOST_TEST(base("") == "no base");
  fs::remove(directory / "root/.tofu-modlock.hcl");
  write("live/main.tf", "");
  write("live/.terraform.lock.hcl", "# old");
  commit();
  write(".tofu-modlock.hcl", "implementation = \"terraform\"\n");
  write("live/.terraform.lock.hcl", "# new");
  commit();
  BOOST_TEST(base("main", "/live") == "terraform, # new");
  BOOST_TEST(base("main^", "/live") == "none, # old");
  BOOST_TEST(base("main") == "terraform, no lock");
  write(".tofu-modlock.hcl", "implementation = \"none\"\n");
  commit();
  write(".tofu-modlock.hcl", "");
  BOOST_TEST(base("main", "/live") == "none, # new");  // a change may repair them
  BOOST_TEST(base("v9").starts_with("INVALID_PARAMS: revision \"v9\" not found in the repository "));
}

std::string call_of(const std::string& name, const std::string& ref = "v1.0.0") {
  return fmt::format("module \"{}\" {{\n  source = \"{}?ref={}\"\n}}\n", name, kVpc, ref);
}

BOOST_AUTO_TEST_CASE(who_decides_the_client) {
  fs::remove(directory / "root/.tofu-modlock.hcl");
  const std::string user = (directory / "config.hcl").string();
  const auto client = [&] {
    open();
    const auto root = open_root(of_root<messages::LockPlanParams>().root, *engine, Run());
    return root ? fmt::format("{}, {}", to_string(root->implementation.tool), root->implementation.from)
                : outcome(root);
  };
  options.implementation.reset();
  BOOST_TEST(client() == "opentofu, default");
  set_clients({"terraform"});
  BOOST_TEST(client() == "terraform, PATH");
  write("x.tofu", "");
  BOOST_TEST(client() == "opentofu, a .tofu file");
  write(kLock, "# This file is maintained automatically by \"terraform init\".\n");
  BOOST_TEST(client() == "terraform, lock file");
  write(kSettings, "implementation = \"opentofu\"\n");
  BOOST_TEST(client() == "opentofu, .tofu-modlock.hcl");
  write_text(user, "implementation = \"terraform\"\n");
  options.user_settings = user;
  BOOST_TEST(client() == "terraform, your settings");
  const ScopedEnvironment unknown("TG_CTX_TF_PATH", "/opt/runner");
  BOOST_TEST(client() == "terraform, your settings");
  const ScopedEnvironment running("TG_CTX_TF_PATH", "/opt/tofu-1.12");
  BOOST_TEST(client() == "opentofu, TG_CTX_TF_PATH");
  options.implementation = "terraform";
  BOOST_TEST(client() == "terraform, options");
}

// The lock file is for the first client.
BOOST_AUTO_TEST_CASE(files_that_only_the_other_client_reads) {
  git.add_tag(kVpc, "v2.0.0", {{"main.tf", "# 2\n"}});
  struct Row {
    const char* name;
    const char* client;
    std::vector<std::pair<std::string, std::string>> files;
    const char* unlocked;  // "": none
  };
  const Row rows[] = {
      {"a .tofu file with a call", "terraform", {{"main.tf", call_of("a")}, {"x.tofu", call_of("b")}}, "b"},
      {"a twin with another call", "terraform", {{"main.tf", call_of("a")}, {"main.tofu", call_of("b")}}, "b"},
      {"a twin with another version",
       "terraform",
       {{"main.tf", call_of("a")}, {"main.tofu", call_of("a", "v2.0.0")}},
       "a"},
      {"a twin that OpenTofu does not read", "opentofu", {{"main.tf", call_of("b")}, {"main.tofu", call_of("a")}}, "b"},
      {"a test of OpenTofu",
       "terraform",
       {{"main.tf", call_of("a")},
        {"x.tofutest.hcl", fmt::format("run \"r\" {{\n  module {{\n    source = \"{}?ref=v2.0.0\"\n  }}\n}}\n", kVpc)}},
       "test.x.tofutest.hcl.r"},
      {"harmless: no call in it", "terraform", {{"main.tf", call_of("a")}, {"x.tofu", "locals {\n}\n"}}, ""},
      {"harmless: the same call", "terraform", {{"main.tf", call_of("a")}, {"main.tofu", call_of("a")}}, ""},
      {"harmless: fewer calls", "opentofu", {{"main.tf", ""}, {"main.tofu", call_of("a")}}, ""},
      {"harmless: broken for the other",
       "opentofu",
       {{"main.tf", call_of("a")}, {"x.tofu", "terraform {\n  required_version = \">= 1\"\n}\n"}},
       ""},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      lock_files(row.files, row.client);
      write(kSettings, fmt::format("implementation = \"{}\"\n", row.client));
      for (const bool is_frozen : {true, false}) {
        const std::string found = check(is_frozen);
        BOOST_TEST(
            found ==
            (*row.unlocked == '\0'
                 ? "ok"
                 : fmt::format("{} calls module \"{}\" here, and the lock file is for {} "
                               "(.tofu-modlock.hcl) and does not have it",
                               row.client == std::string_view("terraform") ? "OpenTofu" : "Terraform", row.unlocked,
                               row.client == std::string_view("terraform") ? "Terraform" : "OpenTofu")));
      }
      options.implementation = row.client;  // the user decides
      open();
      BOOST_TEST(check(true) == "ok");
      BOOST_TEST(check(false) == "ok");
    }
  }
}

const char* const kHostless = "module \"net\" {\n  source  = \"acme/net/aws\"\n  version = \"1.0.0\"\n}\n";

BOOST_AUTO_TEST_CASE(addresses_without_host) {
  registry.add_tag("registry.opentofu.org/modules/acme/net/aws", "1.0.0", {{"main.tf", "# 1\n"}});
  registry.add_tag("registry.terraform.io/modules/acme/net/aws", "1.0.0", {{"main.tf", "# 1\n"}});
  const std::string with_host =
      "module \"net\" {\n  source  = \"registry.opentofu.org/acme/net/aws\"\n  version = \"1.0.0\"\n}\n";
  struct Row {
    const char* name;
    std::string text;
    std::vector<std::string> on_path;
    const char* found;
  };
  const std::string frozen =
      "\"acme/net/aws\" has no host, so its registry depends on the client: .tofu-modlock.hcl declares OpenTofu, and "
      "only "
      "terraform is on PATH";
  const Row rows[] = {
      {"both", kHostless, {"tofu", "terraform"}, "checked for opentofu (.tofu-modlock.hcl)"},
      {"none", kHostless, {}, "checked for opentofu (.tofu-modlock.hcl)"},
      {"the declared one", kHostless, {"tofu"}, "ok"},
      {"the other one", kHostless, {"terraform"}, frozen.c_str()},
      {"harmless: a host", with_host, {"terraform"}, "ok"},
      {"harmless: git", call_of("a"), {"terraform"}, "ok"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      lock_files({{"main.tf", row.text}}, "opentofu");
      write(kSettings, "implementation = \"opentofu\"\n");
      set_clients(row.on_path);
      open();
      BOOST_TEST(check(true) == row.found);
      BOOST_TEST(check(false) == row.found);
      const auto planned = succeed(&Engine::plan, plan_params("missing"));  // only a warning
      BOOST_TEST(lines_of(planned.diagnostics) ==
                 (row.found == frozen ? fmt::format("warning FROZEN: {}\n", frozen) : ""));
      options.implementation = "opentofu";
      open();
      BOOST_TEST(check(true) == "ok");
    }
  }
}

BOOST_AUTO_TEST_CASE(a_declaration_that_a_change_alters) {
  for (const char* const host : {"registry.opentofu.org", "registry.terraform.io"}) {
    registry.add_tag(fmt::format("{}/modules/acme/net/aws", host), "1.0.0", {{"main.tf", "# 1\n"}});
  }
  for (const bool is_hostless : {true, false}) {
    BOOST_TEST_CONTEXT(is_hostless) {
      const std::string text = is_hostless ? kHostless : call_of("a");
      lock_files({{"main.tf", text}}, "opentofu");
      write(kSettings, "implementation = \"opentofu\"\n");
      commit();
      lock_files({{"main.tf", text}}, "terraform");
      write(kSettings, "implementation = \"terraform\"\n");
      options.base = "main";
      open();
      const std::string altered =
          "\"acme/net/aws\" has no host, so its registry depends on the client, and the change replaces OpenTofu "
          "(.tofu-modlock.hcl at main) by Terraform (.tofu-modlock.hcl)";
      BOOST_TEST(check(true) == (is_hostless ? altered : "ok"));
      BOOST_TEST(check(false) == (is_hostless ? altered : "ok"));
      commit();
      BOOST_TEST(check(true) == (is_hostless ? "checked for terraform (.tofu-modlock.hcl)" : "ok"));
      options.base = "main^";
      options.implementation = "terraform";  // the user decides
      open();
      BOOST_TEST(check(true) == "ok");
      options.base = "v9";
      open();
      BOOST_TEST(check(true).starts_with("revision \"v9\" not found in the repository "));
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
