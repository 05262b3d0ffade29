#include "tests/e2e/scene.h"

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <stdexcept>

#include "protocol/base/json.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

fs::file_time_type long_ago() {
  return fs::file_time_type(std::chrono::hours(24));
}

void replace_all(std::string& text, const std::string& what, const std::string& with) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
}

}  // namespace

Scene::Scene() : binary(MODLOCK_BINARY) {
  fs::create_directories(root());
  fs::create_directories(directory_ / "home");
  const char* path = std::getenv("PATH");
  environment = {{"HOME", (directory_ / "home").string()},
                 {"TOFU_MODLOCK_IMPLEMENTATION", "opentofu"},
                 {"TOFU_MODLOCK_IMPLEMENTATION_VERSION", "1.12.6"},
                 {"XDG_CACHE_HOME", (directory_ / "xdg-cache").string()},
                 {"XDG_CONFIG_HOME", (directory_ / "home/.config").string()},
                 {"TOFU_MODLOCK_CACHE_DIR", cache().string()},
                 {"GIT_CONFIG_NOSYSTEM", "1"},
                 {"CHECKPOINT_DISABLE", "1"},
                 {"LC_ALL", "C.UTF-8"},
                 {"PATH", path == nullptr ? "" : path}};
  name_text(directory_.path().string(), "<dir>");
}

GitRepository& Scene::repository(const std::string& name) {
  return repositories_.emplace_back(repositories() / name);
}

std::string Scene::release(GitRepository& repository, const std::string& version, GitRepository::Files files) {
  files.insert({"main.tf", "output \"version\" {\n  value = \"" + version + "\"\n}\n"});
  const std::string id = repository.commit(files);
  repository.tag("v" + version);
  name_id(id, version);
  return id;
}

void Scene::name_id(const std::string& id, const std::string& name) {
  name_text(id, "<" + name + ">");
  name_text(id.substr(0, 12), "<" + name + "...>");
}

std::string Scene::shown(std::string text) const {
  for (const auto& [what, with] : names_) {
    replace_all(text, what, with);
  }
  return text;
}

void Scene::age_lock() const {
  fs::last_write_time(root() / ".terraform.lock.hcl", long_ago());
}

bool Scene::lock_is_aged() const {
  return fs::last_write_time(root() / ".terraform.lock.hcl") == long_ago();
}

Ran Scene::program(std::vector<std::string> argv, std::string input) const {
  Command command{.argv = std::move(argv)};
  command.directory = root();
  command.set_environment = environment;
  command.unset_environment = {
      "GIT_*",      "SSL_CERT_*",  "CURL_CA_BUNDLE", "TF_*",        "TG_CTX_TF_PATH", "TOFU_MODLOCK_*",
      "http_proxy", "https_proxy", "HTTP_PROXY",     "HTTPS_PROXY", "ALL_PROXY",      "all_proxy",
      "CI"};
  command.input = std::move(input);
  Context context;
  context.children.memory = std::uint64_t{8} << 30U;  // several programs at once, each with its sanitizers
  auto finished = run_command(command, context);
  if (!finished) {
    throw std::runtime_error(finished.error().message);
  }
  return {finished->exit_code, shown(finished->output), shown(finished->error_output)};
}

void Scene::let_pass(int hours) const {
  for (const auto& entry : fs::directory_iterator(cache() / "v2/seen")) {
    std::istringstream lines(read_text(entry.path()));
    std::string later;
    for (std::string line; std::getline(lines, line);) {
      const std::size_t space = line.find(' ');
      later += std::to_string(std::stoll(line.substr(0, space)) - hours * 3600) + line.substr(space) + "\n";
    }
    write_text(entry.path(), later);
  }
}

Ran Scene::modlock(std::vector<std::string> arguments, std::string input) const {
  arguments.insert(arguments.begin(), binary);
  return program(std::move(arguments), std::move(input));
}

Json::Value Scene::json(std::vector<std::string> arguments, int exit_code) const {
  arguments.emplace_back("--json");
  const Ran ran = modlock(std::move(arguments));
  BOOST_TEST(ran.exit_code == exit_code, ran.err);
  auto value = parse_json(ran.out);
  BOOST_TEST(value.has_value(), "no JSON: " << ran.out);
  return value ? *value : Json::Value();
}

void check_ran(const Ran& ran, int exit_code, const std::string& out, const std::string& err) {
  BOOST_TEST(ran.exit_code == exit_code);
  BOOST_TEST(ran.out == out);
  BOOST_TEST(ran.err == err);
}

std::size_t occurrences(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) {
    ++found;
  }
  return found;
}

std::string module_call(const std::string& name, const std::string& source, const std::string& version) {
  const std::string constraint = version.empty() ? "" : "  version = \"" + version + "\"\n";
  return "module \"" + name + "\" {\n  source = \"" + source + "\"\n" + constraint + "}\n";
}

std::string required_cloud(const std::string& constraint) {
  return "terraform {\n  required_providers {\n    cloud = {\n      source  = \"acme/cloud\"\n      version = \"" +
         constraint + "\"\n    }\n  }\n}\n";
}

std::string module_rule(const std::string& key, const std::string& version) {
  return "module \"" + key + "\" {\n  version = \"" + version + "\"\n}\n";
}

Commits locked_commits(const Scene& scene) {
  constexpr std::string_view kModule = "module \"";
  constexpr std::string_view kCommit = "    \"git:";
  std::map<std::string, std::string> commits;
  std::istringstream lines(scene.shown(scene.lock()));
  std::string key;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(kModule)) {
      key = line.substr(kModule.size(), line.rfind('"') - kModule.size());
      commits[key];
    } else if (line.starts_with(kCommit)) {
      commits[key] = line.substr(kCommit.size(), line.rfind('"') - kCommit.size());
    }
  }
  return commits;
}

}  // namespace modlock::test
