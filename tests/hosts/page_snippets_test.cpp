// The first snippets of the pages about integrations, each in an empty directory.
#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "tests/hosts/terragrunt_scene.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

// The first code block of a page in `language`.
std::string snippet(const std::string& page, const std::string& language) {
  const std::string text = read_text(fs::path(MODLOCK_DOCS) / page);
  const std::string fence = "```" + language + "\n";
  const std::size_t start = text.find(fence);
  BOOST_REQUIRE(start != std::string::npos);
  const std::size_t end = text.find("```", start + fence.size());
  return text.substr(start + fence.size(), end - start - fence.size());
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

BOOST_FIXTURE_TEST_SUITE(page_snippets, TerragruntScene)

BOOST_AUTO_TEST_CASE(the_hooks) {
  write("live/vpc/terragrunt.hcl", with(snippet("terragrunt.md", "hcl"), "/catalog/vpc", "/catalog"));
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
  std::string text =
      with(typed(snippet("wrapper.md", "console")), "/opt/tofu-modlock/bin/tofu", path("first/tofu").string());
  text = with(std::move(text), "scripts/", std::string(MODLOCK_SCRIPTS) + "/");
  write("catalog/.tofu-modlock.hcl", module_rule("vpc", "~> 1.0"));
  const Ran ran = program({"/bin/sh", "-c", "cd catalog\n" + text});
  BOOST_TEST(ran.exit_code == 0, ran.err);
  BOOST_TEST(ran.out.find("client: <init> <-get=false>\n") != std::string::npos, ran.out);
  BOOST_TEST(has("catalog/.terraform/modules/vpc/main.tf"));
}

BOOST_AUTO_TEST_CASE(the_protocol) {
  write("catalog/.tofu-modlock.hcl", module_rule("vpc", "~> 1.0"));
  const std::string text =
      with(typed(snippet("protocol.md", "console")), "/path/to/root", (root() / "catalog").string());
  const Ran ran = program({"/bin/sh", "-c", text});
  BOOST_TEST(ran.exit_code == 0, ran.err);
  BOOST_TEST(ran.out.find("\"id\":2,\"result\":{") != std::string::npos, ran.out);
  BOOST_TEST(ran.out.find("git:<1.0.0>") != std::string::npos, ran.out);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::test
