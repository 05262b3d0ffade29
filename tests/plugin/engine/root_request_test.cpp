// Which directories a request may read, as every method with a root has it.

#include "plugin/engine/open_root.h"

#include "tests/plugin/engine/engine_fixture.h"

using namespace modlock;
using namespace modlock::test;

namespace fs = std::filesystem;

BOOST_FIXTURE_TEST_SUITE(engine_roots, EngineFixture)

BOOST_AUTO_TEST_CASE(roots_that_are_refused) {
  const std::string with_control = (directory / "root").string() + std::string("\0x", 2);
  struct Row {
    const char* name;
    messages::RootParams params;
    std::string outcome;
  };
  const auto rooted = [](const std::string& root) {
    messages::RootParams params;
    params.root = root;
    return params;
  };
  const auto with_data = [&](const std::string& place) {
    messages::RootParams params = rooted((directory / "root").string());
    params.data_dir = place;
    return params;
  };
  messages::RootParams document = rooted((directory / "root").string());
  document.documents = {{"a\nb.tf", ""}};
  const std::string not_here =
      "INVALID_PARAMS: invalid path of the root module: expected a file:// URI of this machine, found ";
  const Row rows[] = {
      {"relative", rooted("root"), "INVALID_PARAMS: decode: expected an absolute path at params.root, found \"root\""},
      {"no directory", rooted((directory / "gone").string()),
       fmt::format("INVALID_PARAMS: the root {} is not a directory", (directory / "gone").string())},
      {"a control character", rooted(with_control),
       "INVALID_PARAMS: the path of the root module contains control characters"},
      {"an escaped control character", rooted("file:///root%00x"),
       "INVALID_PARAMS: the path of the root module contains control characters"},
      {"a URI of another machine", rooted("file://host/root"), not_here + "\"file://host/root\""},
      {"a URI with a bad escape", rooted("file:///%zz"), not_here + "\"file:///%zz\""},
      {"a URI without a directory", rooted("file:root"), not_here + "\"file:root\""},
      {"a URI of no directory", rooted("file:///gone%20away"),
       "INVALID_PARAMS: the root /gone away is not a directory"},
      {"one in the data directory", with_data(with_control),
       "INVALID_PARAMS: the path of the data directory contains control characters"},
      {"one in the path of a document", document, "INVALID_PARAMS: the path of a document contains control characters"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(outcome(call(&Engine::inspect, row.params)) == row.outcome);
    }
  }
}

BOOST_AUTO_TEST_CASE(roots_are_named_by_paths_and_uris) {
  fs::create_directory_symlink(directory / "root", directory / "a b");
  const std::string root_path = (directory / "root").string();
  struct Row {
    const char* name;
    std::string root;
  };
  const Row rows[] = {
      {"a path", root_path},
      {"a URI", "file://" + root_path},
      {"a slash at its end", "file://" + root_path + "/"},
      {"an encoded URI of a link", "file://" + directory.path().string() + "/%61%20b"},
      {"localhost", "FILE://LocalHost" + root_path},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      messages::RootParams params;
      params.root = row.root;
      params.documents = {{row.root + "/more.tf", "module \"more\" {\n  source = \"./more\"\n}\n"}};
      BOOST_TEST(succeed(&Engine::inspect, params).modules.size() == 2U);
    }
  }
}

BOOST_AUTO_TEST_CASE(workspace_roots_bound_what_is_read_and_anchor_relative_roots) {
  directory.write("outside/main.tf", "");
  options.workspace_roots = {directory / "root"};
  open();
  messages::RootParams params;
  params.root = ".";
  BOOST_TEST(succeed(&Engine::inspect, params).modules.size() == 1U);
  params.root = (directory / "outside").string();
  BOOST_TEST(outcome(call(&Engine::inspect, params)) ==
             fmt::format("PATH_OUTSIDE_ROOT: the path \"{}\" is outside \"{}\"", (directory / "outside").string(),
                         (directory / "root").string()));
  write("main.tf", "module \"out\" {\n  source = \"../outside\"\n}\n");
  write(kSettings, "");
  params.root = ".";
  BOOST_TEST(
      lines_of(succeed(&Engine::inspect, params).diagnostics) ==
      "error PATH_OUTSIDE_ROOT: the local source \"../outside\" of module \"out\" points outside the directories "
      "that may be read\n");
  options.extra_workspace_roots = {directory / "outside"};
  open();
  BOOST_TEST(lines_of(succeed(&Engine::inspect, params).diagnostics) == "");
}

BOOST_AUTO_TEST_CASE(a_workspace_selects_values) {
  write("main.tf", "module \"vpc\" {\n  source = \"./${terraform.workspace}\"\n}\n");
  fs::remove(directory / "root/.tofu-modlock.hcl");
  for (const char* name : {"default", "prod", "test"}) {
    fs::create_directories(directory.path() / "root" / name);
  }
  messages::RootParams params = of_root<messages::LockPlanParams>().root;
  const auto source = [&] { return succeed(&Engine::inspect, params).modules.at(0).source.value_or(""); };
  BOOST_TEST(source() == "./default");
  write(".terraform/environment", "prod\n");
  BOOST_TEST(source() == "./prod");
  params.workspace = "test";
  BOOST_TEST(source() == "./test");
}

BOOST_AUTO_TEST_SUITE_END()
