#include "tests/survival/survival_scene.h"

#include <algorithm>
#include <cstdint>
#include <system_error>

#include "backends/package/tree_hash.h"
#include "backends/store/store.h"
#include "protocol/base/json.h"
#include "tests/support/archive_writer.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

std::string zip_of(const SurvivalScene::Files& files) {
  std::vector<ArchiveEntry> entries;
  for (const auto& [name, content] : files) {
    entries.push_back({.name = name, .content = content});
  }
  return make_zip(entries);
}

bool is_hidden(const std::string& name) {
  return fs::path(name).filename().string().starts_with('.');
}

// By their relative paths; none where the directory is not there.
SurvivalScene::Files files_below(const fs::path& directory) {
  SurvivalScene::Files files;
  if (fs::is_directory(directory)) {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(directory)) {
      if (!entry.is_directory()) {
        files[entry.path().lexically_relative(directory).generic_string()] = read_text(entry.path());
      }
    }
  }
  return files;
}

// What modules.json records of a module; null where it does not.
Json::Value record_of(const SurvivalScene& scene, const std::string& key) {
  if (scene.has(".terraform/modules/modules.json")) {
    const auto manifest = parse_json(scene.read(".terraform/modules/modules.json"));
    BOOST_TEST_REQUIRE(manifest.has_value());
    for (const Json::Value& record : (*manifest)["Modules"]) {
      if (record["Key"].asString() == key) {
        return record;
      }
    }
  }
  return {};
}

}  // namespace

boost::test_tools::assertion_result may_trace(boost::unit_test::test_unit_id) {
  const auto ran = run_command({.argv = {MODLOCK_FAULT_AT_CALL, "--calls", "rename", "--", "true"}}, Context{});
  boost::test_tools::assertion_result result(ran && ran->exit_code == 0);
  result.message() << "needs the permission to trace processes: " << (ran ? ran->error_output : ran.error().message);
  return result;
}

std::string differences(const SurvivalScene::Files& have, const SurvivalScene::Files& want) {
  std::string text;
  for (const auto& [name, content] : have) {
    const auto other = want.find(name);
    if (other == want.end() || other->second != content) {
      text += (other == want.end() ? "too much: " : "changed: ") + name + "\n";
    }
  }
  for (const auto& [name, content] : want) {
    text += have.count(name) == 0 ? "too little: " + name + "\n" : "";
  }
  return text;
}

InMemory::InMemory() {
  constexpr std::uintmax_t kRoom = std::uintmax_t{256} << 20U;
  std::error_code error;
  if (const fs::space_info memory = fs::space("/dev/shm", error); !error && memory.available > kRoom) {
    temporary.emplace("TMPDIR", "/dev/shm");
  }
}

SurvivalScene::SurvivalScene() {
  write_text(path("tofurc"), registry.host_block(kRegistryHost));
  environment["TF_CLI_CONFIG_FILE"] = path("tofurc").string();
  // LeakSanitizer does not work in a program that is traced.
  environment["ASAN_OPTIONS"] = "detect_leaks=0";
  name_text(registry.authority(), "<registry>");
  write("main.tf", module_call("vpc", std::string(kRegistryHost) + "/acme/vpc/aws", "~> 1.0"));
}

void SurvivalScene::publish(const std::string& version) {
  auto& package = packages_[version];
  package["vpc"] = {{"main.tf", module_call("label", std::string(kRegistryHost) + "/acme/label/aws", version)},
                    {"policies/a.json", "{}\n"},
                    {"policies/b.json", "{\"version\": \"" + version + "\"}\n"}};
  package["vpc.label"] = {{"main.tf", "output \"version\" {\n  value = \"" + version + "\"\n}\n"}};
  for (const auto& [key, files] : package) {
    const std::string name = key == "vpc" ? "vpc" : "label";
    const std::string archive = "/" + name + "-" + version + ".zip";
    registry.serve(archive, {.status = 200, .body = zip_of(files), .type = "application/zip"});
    registry.add_version("acme/" + name + "/aws", version, ModuleRegistry::by_header(registry.url() + archive));
    registry.serve("/v1/modules/acme/" + name + "/aws/versions",
                   {.status = 200, .body = listing(), .headers = {{"ETag", "\"" + version + "\""}}});
  }
}

// With a validator, so that the store keeps it.
std::string SurvivalScene::listing() const {
  std::string versions;
  for (const auto& [version, package] : packages_) {
    versions += (versions.empty() ? "" : ",") + ("{\"version\":\"" + version + "\"}");
  }
  return "{\"modules\":[{\"versions\":[" + versions + "]}]}";
}

Faulted SurvivalScene::modlock_with(const Fault& fault, std::vector<std::string> arguments) const {
  arguments.insert(arguments.begin(), binary);
  return with(fault, arguments);
}

Faulted SurvivalScene::with(const Fault& fault, const std::vector<std::string>& program_and_arguments) const {
  const std::string report = path("met").string();
  std::vector<std::string> argv = {MODLOCK_FAULT_AT_CALL,    "--calls",  fault.calls, "--at",
                                   std::to_string(fault.at), "--report", report};
  const auto add = [&argv](const std::string& name, const std::string& value) {
    if (!value.empty()) {
      argv.insert(argv.end(), {name, value});
    }
  };
  add("--below", fault.below.string());
  add("--kill", fault.kill);
  add("--error", fault.error == 0 ? "" : std::to_string(fault.error));
  add("--run", fault.run);
  if (fault.lasting) {
    argv.emplace_back("--lasting");
  }
  argv.emplace_back("--");
  argv.insert(argv.end(), program_and_arguments.begin(), program_and_arguments.end());
  Faulted faulted{program(std::move(argv)), {}};
  faulted.met = shown(read_text(report));
  return faulted;
}

void SurvivalScene::save() const {
  for (const fs::path& directory : {root(), cache()}) {
    const fs::path kept = directory.string() + ".kept";
    fs::remove_all(kept);
    if (fs::exists(directory)) {
      fs::copy(directory, kept, fs::copy_options::recursive);
    }
  }
}

void SurvivalScene::restore() const {
  for (const fs::path& directory : {root(), cache()}) {
    const fs::path kept = directory.string() + ".kept";
    fs::remove_all(directory);
    if (fs::exists(kept)) {
      fs::copy(kept, directory, fs::copy_options::recursive);
    }
  }
}

SurvivalScene::Files SurvivalScene::files_of_root() const {
  return files_below(root());
}

SurvivalScene::Files SurvivalScene::files_of_store() const {
  const fs::path packages = cache() / "v2/packages";
  if (fs::is_directory(packages)) {
    for (const fs::directory_entry& package : fs::directory_iterator(packages)) {
      const auto h1 = hash_tree(package.path() / "tree", Context{});
      BOOST_TEST_REQUIRE(h1.has_value(), shown(package.path().string()) << " is no package");
      const auto entries = list_tree(package.path() / "tree");
      BOOST_TEST(package.path().filename().string() == content_key(*h1, hash_modes(*entries)));
    }
  }
  Files files;
  for (const char* name : {"packages", "identities"}) {
    for (auto& [file, content] : files_below(cache() / "v2" / name)) {
      if (!is_hidden(file)) {  // a temporary file
        files[std::string(name) + "/" + file] = content;
      }
    }
  }
  return files;
}

std::string SurvivalScene::installed_version(const std::string& key) const {
  const fs::path place = root() / ".terraform/modules" / key;
  if (!fs::exists(place)) {
    return {};
  }
  const Files files = files_below(place);
  for (const auto& [version, package] : packages_) {
    if (package.at(key) == files) {
      return version;
    }
  }
  BOOST_ERROR("what is installed as " << key << " is no whole package");
  return {};
}

int SurvivalScene::exit_of_verify(const std::string& locked) const {
  if (locked.empty()) {
    return 3;  // not-locked
  }
  int exit_code = 0;
  for (const std::string& key : called_) {
    const std::string installed = packages_.empty() ? std::string() : installed_version(key);
    if (!installed.empty() && installed != locked) {
      exit_code = 3;  // stale
    }
    const Json::Value record = record_of(*this, key);
    const bool is_of_registry = !packages_.empty();  // only those have a version in the manifest
    if (!fs::exists(root() / ".terraform/modules" / key) || record.isNull() ||
        (is_of_registry && record["Version"].asString() != locked)) {
      exit_code = 3;  // missing
    }
  }
  return exit_code;
}

void SurvivalScene::check_truth(const Files& locks) const {
  const std::string text = has(".terraform.lock.hcl") ? lock() : std::string();
  const auto known = std::find_if(locks.begin(), locks.end(), [&](const auto& entry) { return entry.second == text; });
  BOOST_TEST_REQUIRE((known != locks.end()), "the lock is none that was ever meant: " << text);
  const Ran verified = modlock({"verify"});
  BOOST_TEST(verified.exit_code == exit_of_verify(known->first), verified.out << verified.err);
}

}  // namespace modlock::test
