// Faults as a user of the real binary meets them: the exit code, a lock file and a tree that stay as they were, and
// nothing of a secret anywhere.

#include <fmt/format.h>

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <map>

#include "tests/conformance/canaries.h"
#include "tests/conformance/world_of_suite.h"
#include "tests/e2e/scene.h"
#include "tests/support/faults.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLockBefore =
    "# made before\n\nprovider \"registry.opentofu.org/acme/cloud\" {\n  version = \"1.2.0\"\n}\n";
constexpr const char* kTreeBefore = R"({"Modules":[{"Key":"","Source":"","Dir":"."}]})";
constexpr const char* kFileOfTree = ".terraform/modules/modules.json";

// A user whose secrets are everywhere where secrets may be.
struct Endangered : Scene {
  Endangered() {
    const std::string host = world()->authority(Place::origin);
    world()->origin().lead(world()->base(Place::origin), {}, world()->base(Place::origin));
    world()->watch_processes(true);
    environment["SSL_CERT_FILE"] = environment["GIT_SSL_CAINFO"] = world()->authority_file().string();
    environment["TF_TOKEN_registry_example_test"] = kRegistryToken;
    environment["TF_CLI_CONFIG_FILE"] = path("tofurc").string();
    write_text(path("tofurc"), fmt::format("host \"{}\" {{\n  services = {{\n    \"modules.v1\" = \"{}/v1/modules/\"\n"
                                           "  }}\n}}\n",
                                           kRegistryHost, world()->base(Place::origin)));
    const std::string auth = basic_authorization(kOciPassword).substr(std::string("Basic ").size());
    write_text(path("home/.docker/config.json"), fmt::format(R"({{"auths":{{"{}":{{"auth":"{}"}}}}}})", host, auth));
    write_text(path("home/.netrc"), fmt::format("machine {} login {} password {}\n", host, kUser, kNetrcPassword));
    write_text(path("home/.config/tofu-modlock/config.hcl"),
               fmt::format("backend \"fetched\" {{\n  command = [\"{}\"]\n}}\n", MODLOCK_URL_BACKEND));
  }
  ~Endangered() {
    world()->server().clear_rules();
    world()->watch_processes(false);
  }
  Endangered(const Endangered&) = delete;
  Endangered& operator=(const Endangered&) = delete;

  void fault(const std::string& path, Behaviour behaviour) {
    world()->server().add({.behaviour = world()->watched(std::move(behaviour)), .path = path});
  }

  // Everything that anybody may see of what happened; what the user wrote is none of it.
  void check_secrets(const Ran& ran) const {
    BOOST_TEST(canaries_in(ran.out) == "", ran.out);
    BOOST_TEST(canaries_in(ran.err) == "", ran.err);
    if (has(".terraform.lock.hcl")) {
      BOOST_TEST(canaries_in(lock()) == "", lock());
    }
    if (fs::exists(cache())) {
      BOOST_TEST(canaries_below(cache()) == "");
    }
    // The manifest alone may hold what a client writes there.
    for (const char* ours : {".terraform/tofu-modlock", ".terraform/modules/vpc"}) {
      if (has(ours)) {
        BOOST_TEST(canaries_below(root() / ours) == "");
      }
    }
    for (const std::string& line : world()->command_lines()) {
      BOOST_TEST(canaries_in(line) == "", line);
    }
  }

  // A deadline may pass before a slow machine has sent anything.
  static void check_was_watched() { BOOST_TEST(!world()->command_lines().empty(), "the binary was not seen"); }

  // What an earlier run left.
  void write_what_was_before() const {
    write(".terraform.lock.hcl", kLockBefore);
    age_lock();
    write(kFileOfTree, kTreeBefore);
  }

  void check_nothing_was_written() const {
    BOOST_TEST(lock() == kLockBefore);
    BOOST_TEST(lock_is_aged());
    BOOST_TEST(files_below(root()) == ".terraform.lock.hcl .terraform/modules/modules.json main.tf");
    BOOST_TEST(read(kFileOfTree) == kTreeBefore);
    for (const char* name : {"v2/tmp", "v2/packages", "v2/identities"}) {
      const std::string left = fs::exists(cache() / name) ? files_below(cache() / name) : std::string();
      BOOST_TEST(left == "", name << ": " << left);
    }
  }
};

std::string with_password(const std::string& path) {
  return fmt::format("https://{}:{}@{}{}", kUser, kUrlPassword, world()->authority(Place::origin), path);
}

// A call of the module, whose secrets are the user's and the address's.
std::string call(const std::string& kind) {
  if (kind == "registry") {
    return module_call("vpc", std::string(kRegistryHost) + "/acme/vpc/aws", "1.0.0");
  }
  if (kind == "oci") {
    return module_call("vpc", "oci://" + world()->authority(Place::origin) + "/team/vpc?tag=v1.0.0");
  }
  if (kind == "git") {
    return module_call("vpc", "git::" + with_password("/git/vpc.git") + "?ref=v1.0.0");
  }
  if (kind == "external") {
    return module_call("vpc", "fetched::" + with_password("/fetched/vpc?token=") + kUrlQuery);
  }
  return module_call("vpc", kind == "archive location"
                                ? with_password("/where/vpc?token=") + kUrlQuery
                                : world()->base(Place::origin) + "/archives/vpc.zip?token=" + kUrlQuery);
}

struct Row {
  const char* name;
  const char* kind;
  const char* path;
  Behaviour behaviour;
  int exit_code;
  const char* code;
};

#if defined(MODLOCK_ADDRESS_SANITIZER) || defined(MODLOCK_THREAD_SANITIZER)
constexpr bool kIsSanitized = true;  // which takes several times the memory
#else
constexpr bool kIsSanitized = false;
#endif

// Runs a program and writes the memory that it, or a program that it started, used at most, in KiB.
constexpr const char* kMeasure = R"(
import resource, subprocess, sys
code = subprocess.call(sys.argv[2:])
with open(sys.argv[1], "w") as file:
    file.write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))
sys.exit(code)
)";

std::string repeated(const std::string& text, std::size_t times) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i) {
    all += text;
  }
  return all;
}

void print(const Row& row, const Ran& ran) {
  std::cout << fmt::format("fault: end to end / {} / {}: {} with exit code {}\n", row.kind, row.name, row.code,
                           ran.exit_code);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(end_to_end, *boost::unit_test::fixture<WorldOfSuite>())

BOOST_AUTO_TEST_CASE(good_servers_first, *needs(kWorldPrograms)) {
  for (const char* kind : {"registry", "oci", "archive", "archive location", "git", "external"}) {
    BOOST_TEST_CONTEXT(kind) {
      Endangered scene;
      scene.write("main.tf", call(kind));
      const Ran ran = scene.modlock({"lock", "--install"});
      BOOST_TEST(ran.exit_code == 0, ran.err);
      BOOST_TEST(scene.read(".terraform/modules/vpc/main.tf") == Origin::files().at("main.tf"));
      scene.check_secrets(ran);
      Endangered::check_was_watched();
    }
  }
}

BOOST_AUTO_TEST_CASE(what_fails_outside_changes_nothing, *needs(kWorldPrograms)) {
  const Row rows[] = {
      {"403", "registry", "/v1/", faults::status(403), 7, "FORBIDDEN"},
      {"503 forever", "registry", "/packages/", faults::status(503), 7, "UNREACHABLE"},
      {"bad JSON", "registry", "/v1/", faults::answer({.body = "{"}), 7, "BAD_RESPONSE"},
      {"401", "oci", "/v2/", faults::answer({.status = 401, .headers = {{"WWW-Authenticate", "Basic"}}}), 7,
       "AUTH_REQUIRED"},
      {"404", "oci", "/v2/team/vpc/manifests/", faults::status(404), 7, "NOT_FOUND"},
      {"redirect loop", "archive", "/archives/", faults::redirect_loop(), 7, "BAD_RESPONSE"},
      {"no archive", "archive", "/archives/", faults::answer({.body = "no zip"}), 7, "BAD_RESPONSE"},
      {"429", "archive location", "/where/", faults::rate_limited("3600"), 7, "RATE_LIMITED"},
      {"404", "git", "/git/", faults::status(404), 7, "NOT_FOUND"},
      {"403", "git", "/git/vpc.git/git-upload-pack", faults::status(403), 7, "FORBIDDEN"},
      {"truncation", "external", "/fetched/", faults::truncated(), 7, "UNREACHABLE"},
      {"401", "external", "/fetched/", faults::answer({.status = 401, .headers = {{"WWW-Authenticate", "Basic"}}}), 7,
       "AUTH_REQUIRED"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.kind << " / " << row.name) {
      Endangered scene;
      scene.write("main.tf", call(row.kind));
      scene.write_what_was_before();
      scene.fault(row.path, row.behaviour);
      const Ran ran = scene.modlock({"lock", "--install"});
      BOOST_TEST(ran.exit_code == row.exit_code, ran.err);
      BOOST_TEST(ran.err.find(std::string("[") + row.code + "]") != std::string::npos, ran.err);
      scene.check_nothing_was_written();
      scene.check_secrets(ran);
      Endangered::check_was_watched();
      print(row, ran);
    }
  }
}

// While the server holds the request, its behaviour looks at the processes.
BOOST_AUTO_TEST_CASE(what_never_answers_is_left_at_the_deadline, *needs(kWorldPrograms)) {
  const Row rows[] = {
      {"black hole", "registry", "/v1/", faults::black_hole(), 7, "DEADLINE_EXCEEDED"},
      {"black hole", "oci", "/v2/", faults::black_hole(), 7, "DEADLINE_EXCEEDED"},
      {"black hole", "archive", "/archives/", faults::black_hole(), 7, "DEADLINE_EXCEEDED"},
      {"black hole", "git", "/git/vpc.git/git-upload-pack", faults::black_hole(), 7, "DEADLINE_EXCEEDED"},
      {"black hole", "external", "/fetched/", faults::black_hole(), 7, "DEADLINE_EXCEEDED"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.kind << " / " << row.name) {
      Endangered scene;
      scene.write("main.tf", call(row.kind));
      scene.write_what_was_before();
      scene.fault(row.path, row.behaviour);
      const std::string params = R"({"root":")" + scene.root().string() + R"(","_meta":{"deadlineMs":500}})";
      const Ran ran = scene.program({"timeout", "60", scene.binary, "call", "lock/plan", "--params", params});
      BOOST_TEST(ran.exit_code == row.exit_code, ran.err);
      BOOST_TEST(ran.out.find(row.code) != std::string::npos, ran.out);
      scene.check_nothing_was_written();
      scene.check_secrets(ran);
      print(row, ran);
    }
  }
}

struct Endless {
  const char* name;
  Behaviour behaviour;
  bool is_body;
};

// A place where a server answers.
struct EndlessPlace {
  const char* kind;
  const char* path;
  const char* code_of_bodies = "LIMIT_EXCEEDED";
  unsigned long kibibytes = 64 * 1024;  // that we may use
  // The one kind of body that is tried, of a package of up to 4 GiB; empty: none; nullptr: all.
  const char* body = nullptr;
};

// Whatever never ends: refused with a code that names it, soon, and in little memory.
BOOST_AUTO_TEST_CASE(what_never_ends_is_bounded, *needs(kWorldPrograms)) {
  const std::string json = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n[0";
  const std::string references =
      "HTTP/1.1 200 OK\r\nContent-Type: application/x-git-upload-pack-advertisement\r\n\r\n"
      "001e# service=git-upload-pack\n0000";
  const Endless answers[] = {
      {"headers", faults::endless_headers(), false},
      {"one header", faults::endless_header(), false},
      {"redirects", faults::redirect_loop(), false},
      {"body", faults::endless_body(), true},
      {"JSON", faults::endless(json, repeated(",0", 30'000)), true},
      {"references", faults::endless(references, repeated("003d" + std::string(40, '1') + " refs/heads/aaaaa\n", 1000)),
       true},
  };
  const EndlessPlace places[] = {
      {"registry", "/v1/"},
      {"registry", "/packages/", "LIMIT_EXCEEDED", 64 * 1024, ""},  // has the limit of "archive"
      {"oci", "/v2/team/vpc/manifests/"},
      {"oci", "/v2/team/vpc/blobs/", "HASH_MISMATCH"},
      {"archive location", "/where/"},
      {"archive", "/archives/", "LIMIT_EXCEEDED", 64 * 1024, "body"},
      {"git", "/git/vpc.git/info", "LIMIT_EXCEEDED", 192 * 1024},  // a list of 64 MiB, while its buffer grows
      {"git", "/git/vpc.git/git-upload-pack", "BAD_RESPONSE"},
      {"external", "/fetched/"},
  };
  for (const EndlessPlace& place : places) {
    for (const Endless& answer : answers) {
      if (place.body != nullptr && answer.is_body && answer.name != std::string(place.body)) {
        continue;
      }
      BOOST_TEST_CONTEXT(place.kind << " " << place.path << " / " << answer.name) {
        Endangered scene;
        scene.write("main.tf", call(place.kind));
        scene.write_what_was_before();
        scene.fault(place.path, answer.behaviour);
        const std::string code = answer.is_body ? place.code_of_bodies : "BAD_RESPONSE";
        const std::string used = scene.path("memory").string();
        const auto start = std::chrono::steady_clock::now();
        const Ran ran = scene.program({"python3", "-c", kMeasure, used, "timeout", "240", scene.binary, "lock"});
        const auto took = std::chrono::steady_clock::now() - start;
        BOOST_TEST(ran.err.find("[" + code + "]") != std::string::npos, ran.exit_code << ": " << ran.err);
        if (!kIsSanitized) {
          BOOST_TEST(std::stoul(read_text(used)) <= place.kibibytes);
        }
        scene.check_nothing_was_written();
        scene.check_secrets(ran);
        std::cout << fmt::format("endless: {} {} / {}: {} after {} ms, {} KiB\n", place.kind, place.path, answer.name,
                                 code, took / std::chrono::milliseconds(1), read_text(used));
      }
    }
  }
}

// The same version with another content, everywhere well-formed.
BOOST_AUTO_TEST_CASE(other_content_than_the_locked_is_refused, *needs(kWorldPrograms)) {
  const std::string other = zip_of({{"main.tf", "# planted\n"}});
  const ServerAnswer package{.headers = {{"Content-Type", "application/zip"}}, .body = other};
  const Row rows[] = {
      {"wrong digest", "registry", "/packages/", faults::answer(package), 4, "HASH_MISMATCH"},
      {"wrong digest", "oci", "/v2/team/vpc/blobs/", faults::answer(package), 4, "HASH_MISMATCH"},
      {"wrong digest", "archive", "/archives/", faults::answer(package), 4, "HASH_MISMATCH"},
      {"wrong digest", "archive location", "/archives/", faults::answer(package), 4, "HASH_MISMATCH"},
      {"wrong digest", "external", "/fetched/", faults::answer({.body = "# planted\n"}), 4, "HASH_MISMATCH"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.kind << " / " << row.name) {
      Endangered scene;
      scene.write("main.tf", call(row.kind));
      BOOST_TEST(scene.modlock({"lock"}).exit_code == 0);
      const std::string before = scene.lock();
      scene.age_lock();
      fs::remove_all(scene.cache());
      scene.fault(row.path, row.behaviour);
      const Ran ran = scene.modlock({"install"});
      BOOST_TEST(ran.exit_code == row.exit_code, ran.err);
      BOOST_TEST(ran.err.find(std::string("[") + row.code + "]") != std::string::npos, ran.err);
      BOOST_TEST(scene.lock() == before);
      BOOST_TEST(scene.lock_is_aged());
      BOOST_TEST(!scene.has(".terraform/modules/vpc"));
      scene.check_secrets(ran);
      print(row, ran);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
