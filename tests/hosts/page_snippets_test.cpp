// The snippets of the section "Integrations" of the README, unchanged, each in an empty directory.
#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "tests/hosts/terragrunt_scene.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

// The code blocks of that section, in order.
std::vector<std::string> snippets() {
  const std::string readme = read_text(MODLOCK_README);
  std::string section = readme.substr(readme.find("## Integrations\n"));
  section.resize(section.find("## Commands\n"));
  std::vector<std::string> blocks;
  for (std::size_t at = section.find("```"); at != std::string::npos; at = section.find("```", at)) {
    const std::size_t start = section.find('\n', at) + 1;
    const std::size_t end = section.find("```", start);
    blocks.push_back(section.substr(start, end - start));
    at = end + 3;
  }
  return blocks;
}

// What is typed behind the prompt.
std::string typed(const std::string& block) {
  std::string text;
  for (std::size_t at = 0; at < block.size();) {
    const std::size_t end = block.find('\n', at) + 1;
    const std::string line = block.substr(at, end - at);
    text += line.starts_with("$ ") ? line.substr(2) : line;
    at = end;
  }
  return text;
}

std::string with(std::string text, const std::string& what, const std::string& other) {
  BOOST_REQUIRE(text.find(what) != std::string::npos);
  return text.replace(text.find(what), what.size(), other);
}

BOOST_FIXTURE_TEST_SUITE(readme, TerragruntScene)

BOOST_AUTO_TEST_CASE(the_hooks) {
  write("live/vpc/terragrunt.hcl", snippets().at(0));
  const Ran ran = terragrunt({"plan"});
  BOOST_TEST(ran.exit_code == 0, ran.err);
  BOOST_TEST(shown(unit_lock()).find("\"git:<1.0.0>\"") != std::string::npos, unit_lock());
}

BOOST_AUTO_TEST_CASE(the_wrapper) {
  write_text(path("bin/sudo"), "#!/bin/sh\nexec \"$@\"\n");
  fs::permissions(path("bin/sudo"), fs::perms::owner_all);
  fs::create_directories(path("real"));
  fs::copy_file(client, path("real/tofu"));
  fs::create_directories(path("first"));
  environment["PATH"] = path("first").string() + ":" + path("real").string() + ":" + environment["PATH"];
  std::string text = with(typed(snippets().at(1)), "/opt/tofu-modlock/bin/tofu", path("first/tofu").string());
  text = with(std::move(text), "scripts/", std::string(MODLOCK_SCRIPTS) + "/");
  write("catalog/.tofu-modlock.hcl", module_rule("vpc", "~> 1.0"));
  const Ran ran = program({"/bin/sh", "-c", "cd catalog\n" + text});
  BOOST_TEST(ran.exit_code == 0, ran.err);
  BOOST_TEST(ran.out.find("client: <init> <-get=false>\n") != std::string::npos, ran.out);
  BOOST_TEST(has("catalog/.terraform/modules/vpc/main.tf"));
}

BOOST_AUTO_TEST_CASE(the_protocol) {
  write("catalog/.tofu-modlock.hcl", module_rule("vpc", "~> 1.0"));
  const std::string text = with(typed(snippets().at(2)), "/repo/live", (root() / "catalog").string());
  const Ran ran = program({"/bin/sh", "-c", text});
  BOOST_TEST(ran.exit_code == 0, ran.err);
  BOOST_TEST(ran.out.find("\"id\":2,\"result\":{") != std::string::npos, ran.out);
  BOOST_TEST(ran.out.find("git:<1.0.0>") != std::string::npos, ran.out);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::test
