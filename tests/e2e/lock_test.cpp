#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "tests/e2e/scene.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;
struct Locking : Scene {
  Locking() : vpc(repository("vpc.git")) {
    release(vpc, "1.0.0");
    write("main.tf", module_call("vpc", "git::" + vpc.url()));
    write(".tofu-modlock.hcl", module_rule("vpc", "~> 1.0"));
  }
  GitRepository& vpc;
};

constexpr const char* kHeader =
    "# This file is maintained automatically by \"tofu init\".\n# Manual edits may be lost in future updates.\n";
constexpr const char* kNullProvider = R"(
provider "registry.opentofu.org/hashicorp/null" {
  version     = "3.2.1"
  constraints = "~> 3.0"
  hashes = [
    "h1:FbGfc+muBsC17Ohy5g806iuI1hQc4SIexpYCrQHQd8w=",
  ]
}
)";

std::string with_crlf(std::string text) {
  for (std::size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 2)) {
    text.insert(at, 1, '\r');
  }
  return text;
}

BOOST_FIXTURE_TEST_SUITE(lock_command, Locking)

BOOST_AUTO_TEST_CASE(a_second_lock_changes_no_byte_and_no_time) {
  BOOST_TEST(modlock({"lock"}).exit_code == 0);
  const std::string before = lock();
  age_lock();
  release(vpc, "1.1.0");  // newer tags are ignored
  BOOST_TEST(modlock({"lock"}).exit_code == 0);
  BOOST_TEST(lock() == before);
  BOOST_TEST(lock_is_aged());
}

// Only the first lock of a repository in which no setting decides names what the placement costs.
BOOST_AUTO_TEST_CASE(the_first_inline_blocks_name_the_command_that_moves_them) {
  const std::string rule = module_rule("vpc", "~> 1.0");
  struct Row {
    const char* name;
    std::string settings;
    std::string other;  // the lock file of another root module
    std::vector<std::string> flags;
    bool is_named;
  };
  const std::string locked = modlock({"lock", "--include", "modules"}).exit_code == 0 ? lock() : "";
  const Row rows[] = {
      {"no setting", rule, "", {}, true},
      {"a preview", rule, "", {"--dry-run"}, false},
      {"inline", "module_lock_file = \"inline\"\n" + rule, "", {}, false},
      {"sidecar", "module_lock_file = \"sidecar\"\n" + rule, "", {}, false},
      {"another root module is inline", rule, locked, {}, false},
      {"another root module has only providers", rule, kHeader + std::string(kNullProvider), {}, true},
      {"JSON", rule, "", {"--json"}, false},
  };
  const std::string text =
      "The module locks are inline: for repositories in which everyone runs the wrapper, the hooks or ci,\n"
      "because a bare client drops the locks when it changes providers. If someone runs it, use the\n"
      "sidecar, one more file to commit:\n"
      "  echo 'module_lock_file = \"sidecar\"' >> .tofu-modlock.hcl && tofu-modlock lock\n";
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      for (const char* name : {".terraform.lock.hcl", ".terraform.modules.lock.hcl", "other/.terraform.lock.hcl"}) {
        fs::remove(root() / name);
      }
      if (!row.other.empty()) {
        write("other/.terraform.lock.hcl", row.other);
      }
      write(".tofu-modlock.hcl", row.settings);
      std::vector<std::string> command = {"lock"};
      command.insert(command.end(), row.flags.begin(), row.flags.end());
      const Ran ran = modlock(command);
      BOOST_TEST(ran.exit_code == 0, ran.err);
      BOOST_TEST((ran.out.find(text) != std::string::npos) == row.is_named, ran.out);
      if (!row.is_named) {
        continue;
      }
      BOOST_TEST(modlock({"lock"}).out == "The lock file is up to date.\n");
    }
  }
  fs::remove(root() / "other/.terraform.lock.hcl");
  fs::remove(root() / ".terraform.lock.hcl");
  write(".tofu-modlock.hcl", rule);
  const std::string out = modlock({"lock"}).out;
  const std::size_t at = out.find("  echo ");
  BOOST_REQUIRE(at != std::string::npos);
  const std::string moves = out.substr(at, out.find('\n', at) - at);
  const std::string path_of_binary = "PATH=" + fs::path(binary).parent_path().string() + ":$PATH;";
  BOOST_TEST(program({"sh", "-c", path_of_binary + moves}).exit_code == 0);
  BOOST_TEST(read(".terraform.modules.lock.hcl").find("module \"vpc\"") != std::string::npos);
  BOOST_TEST(!has(".terraform.lock.hcl"));
}

BOOST_AUTO_TEST_CASE(an_upgrade_that_finds_nothing_new_changes_nothing_either) {
  modlock({"lock"});
  age_lock();
  BOOST_TEST(modlock({"upgrade"}).exit_code == 0);
  BOOST_TEST(lock_is_aged());
}

BOOST_AUTO_TEST_CASE(frozen_exits_3_and_writes_nothing) {
  const Ran created = modlock({"lock", "--frozen"});
  BOOST_TEST(created.exit_code == 3);
  BOOST_TEST(created.out.empty());
  BOOST_TEST(created.err.find("[FROZEN]") != std::string::npos, created.err);
  BOOST_TEST(created.err.find("module.vpc") != std::string::npos, created.err);
  BOOST_TEST(!has(".terraform.lock.hcl"));

  modlock({"lock"});
  BOOST_TEST(modlock({"lock", "--frozen"}).exit_code == 0);
  age_lock();
  write(".tofu-modlock.hcl", module_rule("vpc", "~> 1.0.0"));
  BOOST_TEST(modlock({"lock", "--frozen"}).exit_code == 3);
  BOOST_TEST(lock_is_aged());
}

BOOST_AUTO_TEST_CASE(module_blocks_after_a_provider_block_go_first_again) {
  write(".terraform.lock.hcl", kHeader + std::string(kNullProvider));
  BOOST_TEST(modlock({"lock", "--include", "modules"}).exit_code == 0);
  const std::string modules = lock().substr(std::string(kHeader).size());
  const std::string block = modules.substr(0, modules.find("\nprovider "));
  struct Row {
    const char* name;
    std::string before;
    std::string named;  // in the message of FROZEN; empty: the file stays as it is
    std::string printed;
    std::string after;
  };
  const std::string host_block = "\nmodule \"terragrunt:source\" {\n  source = \"git::https://example.com/a.git\"\n}\n";
  const std::string reason = " (the block is after a provider block)";
  const std::string in_order = kHeader + block + kNullProvider;
  const Row rows[] = {
      {"before the provider", in_order, "", "", in_order},
      {"after the provider", kHeader + std::string(kNullProvider) + block, "module.vpc" + reason,
       "module.vpc  1.0.0  reordered  (~> 1.0)\n", in_order},
      {"the block of a calling program", kHeader + block + kNullProvider + host_block,
       "module.terragrunt:source" + reason, "module.terragrunt:source  its content  reordered\n",
       kHeader + host_block + block + kNullProvider},
      {"both, with CRLF", with_crlf(kHeader + std::string(kNullProvider) + block + host_block),
       "module.terragrunt:source" + reason + ", module.vpc" + reason,
       "module.terragrunt:source  its content  reordered\nmodule.vpc                1.0.0        reordered  (~> 1.0)\n",
       with_crlf(kHeader + host_block + block + kNullProvider)},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      write(".terraform.lock.hcl", row.before);
      const Ran frozen = modlock({"lock", "--frozen", "--include", "modules"});
      BOOST_TEST(frozen.exit_code == (row.named.empty() ? 0 : 3));
      BOOST_TEST((row.named.empty() || frozen.err.find("[FROZEN]") != std::string::npos), frozen.err);
      BOOST_TEST(frozen.err.find(row.named) != std::string::npos, frozen.err);
      BOOST_TEST(lock() == row.before);
      BOOST_TEST(modlock({"install"}).exit_code == 0);
      const Ran ran = modlock({"lock", "--include", "modules"});
      BOOST_TEST(ran.exit_code == 0, ran.err);
      BOOST_TEST(ran.out.substr(0, row.printed.size()) == row.printed);
      BOOST_TEST(lock() == row.after);
      BOOST_TEST(modlock({"lock", "--frozen", "--include", "modules"}).exit_code == 0);
    }
  }
}

BOOST_AUTO_TEST_CASE(frozen_as_json_lists_the_changes) {
  const Json::Value error = json({"lock", "--frozen"}, 3)["error"];
  BOOST_TEST(error["data"]["code"].asString() == "FROZEN");
  BOOST_REQUIRE(error["data"]["changes"].size() == 1U);
  BOOST_TEST(error["data"]["changes"][0]["subject"].asString() == "module.vpc");
  BOOST_TEST(error["data"]["changes"][0]["action"].asString() == "added");
}

BOOST_AUTO_TEST_CASE(dry_run_writes_nothing_at_all) {
  const Ran ran = modlock({"lock", "--dry-run"});
  BOOST_TEST(ran.exit_code == 0);
  BOOST_TEST(ran.out.find("+module \"vpc\" {\n") != std::string::npos, ran.out);
  BOOST_TEST(!has(".terraform.lock.hcl"));
  BOOST_TEST(!has(".terraform"));
}

BOOST_AUTO_TEST_CASE(a_difference_is_coloured_where_that_is_asked_for) {
  const Ran ran = modlock({"lock", "--dry-run", "--color", "always"});
  BOOST_TEST(
      ran.out.find("\x1b[1m--- .terraform.lock.hcl\x1b[0m\n\x1b[1m+++ .terraform.lock.hcl\x1b[0m\n\x1b[36m@@ ") !=
          std::string::npos,
      ran.out);
  BOOST_TEST(ran.out.find("\x1b[32m+module \"vpc\" {\x1b[0m\n") != std::string::npos, ran.out);
  for (const char* mode : {"auto", "never"}) {
    BOOST_TEST(modlock({"lock", "--dry-run", "--color", mode}).out.find('\x1b') == std::string::npos);
  }
}

BOOST_AUTO_TEST_CASE(a_call_that_disappeared_is_removed) {
  GitRepository& other = repository("other.git");
  release(other, "2.0.0");
  write("main.tf", module_call("vpc", "git::" + vpc.url()) + module_call("other", "git::" + other.url()));
  modlock({"lock"});
  BOOST_TEST((locked_commits(*this) == Commits{{"other", "<2.0.0>"}, {"vpc", "<1.0.0>"}}));
  write("main.tf", module_call("vpc", "git::" + vpc.url()));
  const Ran ran = modlock({"lock"});
  BOOST_TEST(ran.exit_code == 0);
  BOOST_TEST(ran.out.find("module.other  removed (was commit <2.0.0...>)\n") == 0U, ran.out);
  BOOST_TEST((locked_commits(*this) == Commits{{"vpc", "<1.0.0>"}}));
}

BOOST_AUTO_TEST_CASE(a_version_that_no_longer_satisfies_is_resolved_anew) {
  modlock({"lock"});
  release(vpc, "2.0.0");
  write(".tofu-modlock.hcl", module_rule("vpc", "~> 2.0"));
  const Json::Value result = json({"lock"});
  BOOST_REQUIRE(result["changes"].size() == 1U);
  BOOST_TEST(result["changes"][0]["from"]["version"].asString() == "1.0.0");
  BOOST_TEST(result["changes"][0]["to"]["version"].asString() == "2.0.0");
  BOOST_TEST(result["changes"][0]["reason"].asString().find("constraints-changed") == 0U);
}

BOOST_AUTO_TEST_CASE(what_others_wrote_survives_byte_for_byte) {
  struct Row {
    const char* name;
    std::string before;
    bool crlf;
  };
  const std::string odd_provider = "\nprovider   \"example.com/a/b\" { # kept\n\tversion=\"1.0.0\"\n}\n";
  for (const Row& row : {Row{"LF", kHeader + std::string(kNullProvider), false},
                         Row{"CRLF", with_crlf(kHeader + std::string(kNullProvider)), true},
                         Row{"odd formatting", kHeader + odd_provider + kNullProvider, false}}) {
    BOOST_TEST_CONTEXT(row.name) {
      write(".terraform.lock.hcl", row.before);
      BOOST_TEST(modlock({"lock", "--include", "modules"}).exit_code == 0);
      std::string after = shown(lock());
      const std::size_t start = after.find("module \"vpc\"");
      const std::size_t end = after.find(row.crlf ? "\r\n}\r\n" : "\n}\n", start) + (row.crlf ? 5 : 3);
      const std::size_t blank = row.crlf ? 2 : 1;
      BOOST_TEST(after.substr(0, start - blank) + after.substr(end) == row.before);
      BOOST_TEST((after.find("\r\n") != std::string::npos) == row.crlf);
      fs::remove_all(root() / ".terraform");
    }
  }
}

BOOST_AUTO_TEST_CASE(a_removed_last_call_leaves_the_providers_alone) {
  const std::string before = kHeader + std::string(kNullProvider);
  write(".terraform.lock.hcl", before);
  modlock({"lock", "--include", "modules"});
  write("main.tf", "");
  fs::remove(root() / ".tofu-modlock.hcl");
  BOOST_TEST(modlock({"lock", "--include", "modules"}).exit_code == 0);
  BOOST_TEST(lock() == before);
}

BOOST_AUTO_TEST_CASE(json_of_each_command_is_valid) {
  const Json::Value locked = json({"lock"});
  BOOST_TEST(locked["edits"]["documents"][0]["op"].asString() == "create");
  BOOST_TEST(locked["edits"]["documents"][0]["newText"].asString() == shown(lock()));
  BOOST_TEST(locked["modules"][0]["key"].asString() == "vpc");
  BOOST_TEST(json({"lock"})["edits"]["documents"].empty());
  BOOST_TEST(json({"install"})["installed"][0]["dir"].asString() == ".terraform/modules/vpc");
  BOOST_TEST(json({"verify"})["ok"].asBool());
  BOOST_TEST(json({"inspect"})["modules"][0]["key"].asString() == "vpc");
  BOOST_TEST(json({"versions", "git::" + vpc.url()})["versions"][0]["version"].asString() == "1.0.0");
  BOOST_TEST(json({"cache", "info"})["sizes"]["packages"].asInt() == 1);
  BOOST_TEST(json({"upgrade", "--target", "module.nope"}, 2)["error"]["code"].asInt() == -32602);
}

BOOST_AUTO_TEST_CASE(several_directories_end_with_the_worst_exit_code) {
  fs::create_directories(path("good"));
  write_text(path("good") / "main.tf", module_call("vpc", "git::" + vpc.url() + "?ref=v1.0.0"));
  write_text(path("none") / "main.tf", module_call("vpc", "git::" + vpc.url()));
  write_text(path("none") / ".tofu-modlock.hcl", module_rule("vpc", "~> 9.0"));
  write_text(path("broken") / "main.tf", "module \"vpc\" {\n");
  const std::string good = path("good").string();
  const std::string none = path("none").string();
  const std::string broken = path("broken").string();
  BOOST_TEST(modlock({"lock", good}).exit_code == 0);
  BOOST_TEST(modlock({"lock", good, none}).exit_code == 6);
  const Ran ran = modlock({"lock", none, broken, good});
  BOOST_TEST(ran.exit_code == 8);
  BOOST_TEST(ran.out.find("<dir>/good:\n") != std::string::npos, ran.out);
  const Json::Value all = json({"lock", none, good}, 6);
  BOOST_REQUIRE(all["results"].size() == 2U);
  BOOST_TEST(all["results"][0]["root"].asString() == "<dir>/good");
  BOOST_TEST(all["results"][1]["error"]["data"]["code"].asString() == "NO_MATCHING_VERSION");
}

BOOST_AUTO_TEST_CASE(recursive_takes_every_directory_with_a_lock) {
  modlock({"lock"});
  for (const char* name : {"a/one", "a/two"}) {
    write_text(root() / name / "main.tf", module_call("vpc", "git::" + vpc.url()));
    BOOST_TEST(modlock({"lock", "--chdir", name}).exit_code == 0);
  }
  const Ran ran = modlock({"verify", "--recursive"});
  BOOST_TEST(ran.exit_code == 3);
  BOOST_TEST(ran.out.find(".:\n") != std::string::npos, ran.out);
  BOOST_TEST(ran.out.find("\na/one and a/two:\n") != std::string::npos, ran.out);
}

BOOST_AUTO_TEST_CASE(a_lock_of_providers_alone_leaves_modules_and_their_copy) {
  BOOST_TEST(modlock({"lock"}).exit_code == 0);
  const std::string copy = read(".terraform/tofu-modlock/lock.hcl");
  write("main.tf", "");
  write(".tofu-modlock.hcl", "");
  const Ran ran = modlock({"lock", "--include", "providers"});
  BOOST_TEST(ran.exit_code == 0);
  BOOST_TEST(ran.out == "The lock file is up to date.\n");
  BOOST_TEST(read(".terraform/tofu-modlock/lock.hcl") == copy);
  BOOST_TEST(modlock({"lock", "--include", "stars"}).exit_code == 2);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::test
