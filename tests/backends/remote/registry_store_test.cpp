// Bundles in a registry that fails: what is lost is sent again, within bounds, and nothing false is reported as stored.
#include "backends/remote/registry_store.h"

#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/vfs.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <functional>
#include <map>
#include <mutex>

#include "backends/base/digest.h"
#include "backends/base/files.h"
#include "backends/http/curl_http_client.h"
#include "protocol/base/json.h"
#include "tests/support/closures_of.h"
#include "tests/support/fake_credentials.h"
#include "tests/support/fault_server.h"
#include "tests/support/faults.h"
#include "tests/support/temporary_directory.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;
using remote::BundledPackage;
using remote::BundledProvider;
using remote::Layout;
using remote::LayoutWriter;
using remote::NamedClosure;

std::string digest_of(std::string_view bytes) {
  return "sha256:" + sha256_hex(bytes);
}

// A registry in memory that checks what a manifest names, as docker-registry does.
class Registry {
 public:
  ServerAnswer answer(const ReceivedRequest& request) {
    const std::lock_guard lock(mutex_);
    const std::string path = request.path();
    if (needs_credentials && request.header("Authorization").empty()) {
      return {.status = 401, .headers = {{"WWW-Authenticate", "Basic realm=\"test\""}}};
    }
    const std::size_t name = path.rfind('/') + 1;
    const std::string last = path.substr(name);
    if (const std::size_t mount = request.target.find("?mount=");
        mounts != Mounts::ignored && mount != std::string::npos) {
      const std::size_t from = request.target.find("&from=");
      const std::string digest = request.target.substr(mount + 7, from - mount - 7);
      const auto found = blobs.find("/v2/" + request.target.substr(from + 6) + "/blobs/" + digest);
      if (mounts == Mounts::refused) {
        return error(403, "DENIED");
      }
      if (found != blobs.end() || mounts == Mounts::confirmed) {
        if (mounts == Mounts::done) {
          blobs[path.substr(0, path.find("uploads/")) + digest] = std::string(found->second);
        }
        return {.status = 201};
      }
    }
    if (path.ends_with("/blobs/uploads/")) {
      return {.status = 202, .headers = {{"Location", fmt::format("{}{}{}", upload_host, path, ++uploads_)}}};
    }
    if (request.method == "GET" && path.find("/blobs/uploads/") != std::string::npos) {
      return progress.empty()
                 ? error(404, "BLOB_UPLOAD_UNKNOWN")
                 : ServerAnswer{.status = 204, .headers = {{"Range", progress}, {"Location", path + "-on"}}};
    }
    if (path.find("/blobs/uploads/") != std::string::npos) {
      const std::string digest = request.target.substr(request.target.find("digest=") + 7);
      const std::string body = (path.ends_with("-on") ? received : "") + request.body;
      if (digest != digest_of(body)) {
        return error(400, "DIGEST_INVALID");
      }
      if (!loses_blobs) {
        blobs[path.substr(0, path.find("uploads/")) + digest] = body;
      }
      return {.status = 201};
    }
    if (path.find("/blobs/") != std::string::npos) {
      const auto found = blobs.find(path);
      return found == blobs.end() ? error(404, "BLOB_UNKNOWN") : ServerAnswer{.body = found->second};
    }
    if (request.method == "PUT") {
      return put_manifest(path, request);
    }
    const auto found = manifests.find(path);
    return found == manifests.end()
               ? error(404, "MANIFEST_UNKNOWN")
               : ServerAnswer{.headers = {{"Content-Type", found->second.first},
                                          {"Docker-Content-Digest", digest_of(found->second.second)}},
                              .body = found->second.second};
  }

  // By path: "/v2/team/modules/blobs/sha256:…".
  std::map<std::string, std::string> blobs;
  std::map<std::string, std::pair<std::string, std::string>> manifests;  // type and text
  enum class Mounts { ignored, done, refused, confirmed };               // confirmed: without an effect
  Mounts mounts = Mounts::ignored;
  std::string progress;  // the Range of an interrupted upload; empty: it cannot be continued
  std::string received;  // what the registry has of it
  bool loses_manifests = false;
  bool loses_blobs = false;  // and stores manifests without them
  bool needs_credentials = false;
  std::string upload_host;  // "http://localhost:1234"

 private:
  static ServerAnswer error(int status, const std::string& code) {
    return {.status = status,
            .headers = {{"Content-Type", "application/json"}},
            .body = R"({"errors":[{"code":")" + code + R"("}]})"};
  }
  ServerAnswer put_manifest(const std::string& path, const ReceivedRequest& request) {
    const auto manifest = parse_json(request.body).value();
    const std::string repository = path.substr(0, path.find("/manifests/"));
    const auto is_known = [&](const Json::Value& blob, auto& known, const char* where) {
      return known.count(repository + where + blob["digest"].asString()) != 0;
    };
    bool is_whole = manifest["config"].isNull() || is_known(manifest["config"], blobs, "/blobs/");
    for (const Json::Value& layer : manifest["layers"]) {
      is_whole = is_whole && is_known(layer, blobs, "/blobs/");
    }
    for (const Json::Value& child : manifest["manifests"]) {
      is_whole = is_whole && is_known(child, manifests, "/manifests/");
    }
    if (!is_whole && !loses_blobs) {
      return error(400, "MANIFEST_BLOB_UNKNOWN");
    }
    if (!loses_manifests) {
      const std::pair stored(request.header("Content-Type"), request.body);
      manifests[path] = stored;
      manifests[repository + "/manifests/" + digest_of(request.body)] = stored;
    }
    return {.status = 201};
  }

  std::mutex mutex_;
  int uploads_ = 0;
};

constexpr const char* kRepository = "/v2/team/modules";
constexpr const char* kTag = "closure-1";

struct Fixture {
  Fixture() : http(make_curl_http_client("tests")), registry(*http, credentials) {
    fs::create_directories(directory / "work");
    repository = oci::over_plain_http(oci::parse_repository(server.host() + "/team/modules").value()).value();
  }

  // A layout with one package and, for each platform, the archive of a provider.
  Layout layout(const std::string& name, const std::vector<std::string>& platforms = {}) {
    fs::remove_all(directory / "work");
    LayoutWriter writer(directory / "work");
    BundledPackage package{.source = "git::https://git.example.com/vpc.git", .origin = "git:1", .h1 = "h1:AAAA="};
    package.layer = writer.add("the package").value();
    package.manifest = remote::blob_of(write_package_manifest(package));
    NamedClosure one{kTag, {.packages = {package}}};
    if (!platforms.empty()) {
      BundledProvider provider{.address = "registry.example.test/acme/cloud", .version = "1.0.0+b", .archives = {}};
      for (const std::string& platform : platforms) {
        provider.archives[platform] = {writer.add("archive for " + platform).value(), "h1:" + platform};
      }
      one.closure.add({provider});
    }
    BOOST_REQUIRE(writer.add_closure(one).has_value());
    BOOST_REQUIRE(writer.finish(directory / name, context).has_value());
    return Layout::open(directory / name, directory / "unused", context).value();
  }
  // "2 sent, 0 present", or "CODE: message".
  std::string push(const Layout& which, const std::optional<oci::Repository>& other = {},
                   remote::Presence presence = remote::Presence::trusted) {
    const auto pushed = remote::push(which, registry, repository, context, other, presence);
    return pushed ? fmt::format("{} sent, {} present", pushed->sent, pushed->present)
                  : fmt::format("{}: {}", to_string(pushed.error().code), pushed.error().message);
  }
  std::size_t count(std::string_view method, std::string_view path = "") const {
    const auto log = server.log();
    return static_cast<std::size_t>(std::count_if(log.begin(), log.end(), [&](const ReceivedRequest& request) {
      return request.method == method && request.path().starts_with(path);
    }));
  }

  // Returns the number of blobs that were received.
  std::size_t count_uploads() const {
    const auto log = server.log();
    return static_cast<std::size_t>(std::count_if(log.begin(), log.end(), [](const ReceivedRequest& request) {
      return request.method == "PUT" && request.path().find("/blobs/uploads/") != std::string::npos;
    }));
  }

  TemporaryDirectory directory;
  Registry stored;
  FaultServer server{[this](const ReceivedRequest& request) { return stored.answer(request); }};
  Context context;
  FakeCredentials credentials;
  std::unique_ptr<HttpClient> http;
  oci::Registry registry;
  oci::Repository repository;
};

const std::string kPackage = digest_of("the package");

}  // namespace

BOOST_FIXTURE_TEST_SUITE(registry_store, Fixture)

BOOST_AUTO_TEST_CASE(failed_uploads_start_again) {
  struct Row {
    const char* name;
    FaultServer::Rule rule;
    std::string pushed;
    std::size_t posts;  // uploads that were begun
  };
  const std::string uploads = std::string(kRepository) + "/blobs/uploads/";
  const Row rows[] = {
      {"no fault", {.behaviour = faults::status(500), .count = 0}, "1 sent, 0 present", 2},
      {"connection is closed", {.behaviour = faults::no_answer(), .path = uploads + "2"}, "1 sent, 0 present", 3},
      {"busy",
       {.behaviour = faults::answer({.status = 503, .headers = {{"Retry-After", "0"}}}), .path = uploads + "2"},
       "1 sent, 0 present",
       3},
      {"too many requests", {.behaviour = faults::rate_limited("0"), .path = uploads + "2"}, "1 sent, 0 present", 3},
      {"begin is refused once",
       {.behaviour = faults::rate_limited("0"), .path = uploads, .count = 1},
       "1 sent, 0 present",
       3},
      {"never succeeds",
       {.behaviour = faults::status(503), .path = uploads + "1"},
       "UNREACHABLE: could not upload sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a to "
       "\"oci://HOST/team/modules\": http://HOST/v2/team/modules/blobs/uploads/",
       3},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      Fixture fixture;
      FaultServer::Rule rule = row.rule;
      if (std::string_view(row.name) == "never succeeds") {
        rule.path = uploads;
        rule.behaviour = [fail = faults::status(503), &fixture](ServerStream& stream, const ReceivedRequest& request,
                                                                const std::function<ServerAnswer()>& good) {
          return request.method == "PUT" ? fail(stream, request, good)
                                         : faults::answer(fixture.stored.answer(request))(stream, request, good);
        };
      }
      fixture.server.add(rule);
      std::string pushed = fixture.push(fixture.layout("bundle"));
      for (std::size_t at = 0; (at = pushed.find(fixture.server.host())) != std::string::npos;) {
        pushed.replace(at, fixture.server.host().size(), "HOST");
      }
      BOOST_TEST(pushed.starts_with(row.pushed), pushed);
      BOOST_TEST(fixture.count("POST") == row.posts);
    }
  }
}

BOOST_AUTO_TEST_CASE(interrupted_uploads_are_continued) {
  struct Row {
    const char* name;
    std::string progress;
    std::string received;
    std::string requests;
    std::string last;        // the body of the last PUT
    std::string range = {};  // its Content-Range
  };
  const std::string again = "POST PUT GET POST PUT ";
  const Row rows[] = {
      {"a part", "0-4", "the p", "POST PUT GET PUT ", "ackage", "5-10"},
      {"everything", "0-10", "the package", "POST PUT GET PUT ", ""},
      {"another part", "0-4", "THE P", "POST PUT GET PUT POST PUT ", "the package"},
      {"nothing", "0-0", "", again, "the package"},
      {"more than everything", "0-11", "the package!", again, "the package"},
      {"not the beginning", "3-4", "", again, "the package"},
      {"no number", "0-4x", "", again, "the package"},
      {"too large a number", "0-99999999999999999999", "", again, "the package"},
      {"no range", "", "", again, "the package"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      Fixture fixture;
      fixture.stored.progress = row.progress;
      fixture.stored.received = row.received;
      fixture.server.add({.behaviour = faults::answer({.status = 503, .headers = {{"Retry-After", "0"}}}),
                          .path = std::string(kRepository) + "/blobs/uploads/1",
                          .count = 1});
      BOOST_REQUIRE(fixture.registry.upload_blob(fixture.repository, kPackage, "the package", fixture.context));
      std::string requests;
      for (const ReceivedRequest& request : fixture.server.log()) {
        requests += request.method + " ";
      }
      BOOST_TEST(requests == row.requests);
      BOOST_TEST(fixture.server.log().back().body == row.last);
      BOOST_TEST(fixture.server.log().back().header("Content-Range") == row.range);
      BOOST_TEST(fixture.stored.blobs.at(fmt::format("{}/blobs/{}", kRepository, kPackage)) == "the package");
    }
  }
}

// Returns the KiB of mapped files that are in memory.
long mapped_kib() {
  const std::string status = read_text("/proc/self/status");
  return std::stol(status.substr(status.find("RssFile:") + 8));
}

boost::test_tools::assertion_result has_disk(boost::unit_test::test_unit_id) {
  const TemporaryDirectory directory;
  struct statfs system {};
  boost::test_tools::assertion_result result(::statfs(directory.path().c_str(), &system) == 0 &&
                                             system.f_type != TMPFS_MAGIC);
  result.message() << "needs temporary files on a disk";
  return result;
}

BOOST_AUTO_TEST_CASE(large_upload_does_not_stay_in_memory, *boost::unit_test::precondition(has_disk)) {
  constexpr std::size_t kSize = std::size_t{96} << 20U;
  write_text(directory / "large", std::string(kSize, 'x'));
  const auto file = MappedFile::open(directory / "large").value();
  const std::string digest = digest_of(file.content());
  release_pages(file.content());
  const long before = mapped_kib();
  BOOST_REQUIRE(registry.upload_blob(repository, digest, file.content(), context).has_value());
  BOOST_TEST(mapped_kib() - before < long{32} << 10U);
  BOOST_TEST(stored.blobs.at(fmt::format("{}/blobs/{}", kRepository, digest)).size() == kSize);
}

BOOST_AUTO_TEST_CASE(blobs_of_another_repository_are_not_sent_again) {
  struct Row {
    const char* name;
    Registry::Mounts mounts;
    std::string other;
    std::size_t posts;
    std::size_t bodies;  // uploaded blobs
  };
  const std::string bundle = "team/earlier";
  const Row rows[] = {
      {"mounts", Registry::Mounts::done, bundle, 4, 0},
      {"not there", Registry::Mounts::done, "team/empty", 4, 4},
      {"without mounts", Registry::Mounts::ignored, bundle, 4, 4},
      {"refused", Registry::Mounts::refused, bundle, 8, 4},
      {"confirmed without an effect", Registry::Mounts::confirmed, bundle, 8, 4},
      {"the repository itself", Registry::Mounts::done, "team/modules", 4, 4},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      Fixture fixture;
      oci::Repository other = fixture.repository;
      const Layout layout = fixture.layout("bundle", {"linux_amd64"});
      other.name = bundle;
      BOOST_REQUIRE(remote::push(layout, fixture.registry, other, fixture.context).has_value());
      const std::size_t posts = fixture.count("POST");
      const std::size_t bodies = fixture.count_uploads();
      fixture.stored.mounts = row.mounts;
      other.name = row.other;
      BOOST_TEST(fixture.push(layout, other) == "2 sent, 0 present");
      BOOST_TEST(fixture.count("POST") - posts == row.posts);
      BOOST_TEST(fixture.count_uploads() - bodies == row.bodies);
      BOOST_TEST(fixture.stored.blobs.count(fmt::format("{}/blobs/{}", kRepository, kPackage)) == 1U);
    }
  }
}

BOOST_AUTO_TEST_CASE(upload_to_another_host_gets_no_secrets) {
  credentials.add_basic(CredentialUse::oci, server.host(), "user", "secret");
  FaultServer other([this](const ReceivedRequest& request) {
    ReceivedRequest known = request;
    known.headers.push_back({"Authorization", "of the test"});
    return stored.answer(known);
  });
  stored.needs_credentials = true;
  stored.upload_host = "http://" + other.host();
  BOOST_TEST(push(layout("bundle")) == "1 sent, 0 present");
  BOOST_REQUIRE(other.log().size() == 2);
  for (const ReceivedRequest& request : other.log()) {
    BOOST_TEST(request.header("Authorization") == "");
  }
  BOOST_TEST(server.log().back().header("Authorization") != "");
}

BOOST_AUTO_TEST_CASE(upload_leaves_the_loopback_only_with_tls) {
  stored.upload_host = "http://registry.example.com";
  const std::string pushed = push(layout("bundle"));
  BOOST_TEST(pushed.starts_with("BAD_RESPONSE: http://registry.example.com/v2/team/modules/blobs/uploads/1 uses plain "
                                "http, which is only for the loopback"),
             pushed);
  BOOST_TEST(count("PUT") == 0U);
}

BOOST_AUTO_TEST_CASE(confirmed_manifest_that_is_not_stored_is_an_error) {
  stored.loses_manifests = true;
  const std::string pushed = push(layout("bundle"));
  BOOST_TEST(pushed.starts_with("BAD_RESPONSE: could not upload the manifest \"module-"), pushed);
  BOOST_TEST(pushed.ends_with(": the registry confirmed it, but does not have it"), pushed);
  BOOST_TEST(stored.manifests.empty());
}

BOOST_AUTO_TEST_CASE(confirmed_blob_that_is_not_stored_is_an_error) {
  stored.loses_blobs = true;
  const std::string pushed = push(layout("bundle"));
  BOOST_TEST(pushed.starts_with("BAD_RESPONSE: "), pushed);
  BOOST_TEST(pushed.ends_with("although it confirmed the upload"), pushed);
  BOOST_TEST(stored.manifests.empty());
}

BOOST_AUTO_TEST_CASE(blob_that_is_only_said_to_be_there_is_sent) {
  const std::string blob = fmt::format("{}/blobs/{}", kRepository, kPackage);
  server.add({.behaviour = faults::answer({}), .path = blob});  // to HEAD
  BOOST_TEST(push(layout("bundle")) == "1 sent, 0 present");
  BOOST_TEST(stored.blobs.count(blob) == 1U);
}

BOOST_AUTO_TEST_CASE(manifest_that_was_lost_is_sent_again) {
  const Layout bundle = layout("bundle");
  BOOST_TEST(push(bundle) == "1 sent, 0 present");
  const std::string tag = fmt::format("{}/manifests/{}", kRepository, kTag);
  const BundledPackage package = closures_of(bundle).value()[0].closure.packages[0];
  const std::string digest = fmt::format("{}/manifests/{}", kRepository, package.manifest.digest);
  const std::string manifest = fmt::format("{}/manifests/{}", kRepository, package.tag());
  stored.manifests.erase(tag);
  stored.manifests.erase(manifest);
  stored.manifests.erase(digest);
  server.add({.behaviour = faults::answer({}), .path = manifest, .count = 1});  // to HEAD
  BOOST_TEST(push(bundle) == "1 sent, 1 present");
  BOOST_TEST(stored.manifests.count(manifest) == 1U);
  BOOST_TEST(stored.manifests.count(tag) == 1U);
}

BOOST_AUTO_TEST_CASE(registry_that_never_keeps_a_blob_is_an_error) {
  server.add({.behaviour = faults::answer({.status = 400, .body = R"({"errors":[{"code":"MANIFEST_BLOB_UNKNOWN"}]})"}),
              .path = std::string(kRepository) + "/manifests/module-",
              .skip = 1});
  const std::string pushed = push(layout("bundle"));
  BOOST_TEST(pushed.starts_with("BAD_RESPONSE: \"oci://" + server.host() + "/team/modules\" lacks a part of \"module-"),
             pushed);
  BOOST_TEST(pushed.ends_with(" although it confirmed the upload"), pushed);
}

BOOST_AUTO_TEST_CASE(unchanged_closure_costs_one_request) {
  const Layout bundle = layout("bundle", {"linux_amd64"});
  BOOST_TEST(push(bundle) == "2 sent, 0 present");
  const std::size_t before = server.log().size();
  BOOST_TEST(push(bundle) == "0 sent, 1 present");
  BOOST_TEST(server.log().size() == before + 1);
}

BOOST_AUTO_TEST_CASE(blobs_on_demand_are_written_if_the_repository_lacks_them) {
  std::string content = "the package";
  std::size_t calls = 0;
  LayoutWriter writer(directory / "on-demand");
  BundledPackage package{.source = "git::https://git.example.com/vpc.git", .origin = "git:1", .h1 = "h1:AAAA="};
  package.layer = writer
                      .add_on_demand([&](const ByteSink& sink) {
                        ++calls;
                        sink(content);
                        return Result<void>();
                      })
                      .value();
  package.manifest = remote::blob_of(write_package_manifest(package));
  BOOST_REQUIRE(writer.add_closure({kTag, {.packages = {package}}}).has_value());
  BOOST_TEST(push(writer.layout().value()) == "1 sent, 0 present");
  BOOST_TEST(calls == 2U);
  BOOST_TEST(stored.blobs.at(fmt::format("{}/blobs/{}", kRepository, package.layer.digest)) == content);
  fs::remove(writer.file(package.layer));
  BOOST_TEST(push(writer.layout().value()) == "0 sent, 1 present");
  BOOST_TEST(calls == 2U);
  stored.manifests.clear();
  content = "the Package";
  BOOST_TEST(push(writer.layout().value()).starts_with("SOURCE_INVALID: "));
  BOOST_TEST(stored.manifests.empty());
}

BOOST_AUTO_TEST_CASE(lost_parts_are_sent_again_if_they_are_checked) {
  const Layout bundle = layout("bundle", {"linux_amd64"});
  BOOST_TEST(push(bundle) == "2 sent, 0 present");
  const auto blobs = stored.blobs;
  const auto manifests = stored.manifests;
  const BundledPackage package = closures_of(bundle).value()[0].closure.packages[0];
  const std::string archive = write_provider_manifest(remote::blob_of("archive for linux_amd64"));
  const std::string provider = std::string(kRepository) + "/registry.example.test/acme/cloud";
  const auto path = [](const std::string& where, const char* kind, const std::string& reference) {
    return fmt::format("{}/{}/{}", where, kind, reference);
  };
  struct Row {
    const char* name;
    std::vector<std::string> lost;
    const char* pushed;
  };
  const Row rows[] = {
      {"nothing", {}, "0 sent, 2 present"},
      {"a package", {path(kRepository, "blobs", kPackage)}, "1 sent, 1 present"},
      {"its manifest",
       {path(kRepository, "manifests", package.tag()), path(kRepository, "manifests", package.manifest.digest)},
       "1 sent, 1 present"},
      {"the config", {path(kRepository, "blobs", digest_of("{}"))}, "0 sent, 2 present"},
      {"the closure", {path(kRepository, "manifests", kTag)}, "0 sent, 2 present"},
      {"an archive", {path(provider, "blobs", digest_of("archive for linux_amd64"))}, "1 sent, 1 present"},
      {"the manifest of an archive", {path(provider, "manifests", digest_of(archive))}, "1 sent, 1 present"},
      {"the index of a provider", {path(provider, "manifests", "1.0.0_b")}, "0 sent, 2 present"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      for (const std::string& lost : row.lost) {
        BOOST_TEST(stored.blobs.erase(lost) + stored.manifests.erase(lost) == 1U, lost);
      }
      BOOST_TEST(push(bundle, {}, remote::Presence::checked) == row.pushed);
      BOOST_TEST((stored.blobs == blobs));
      BOOST_TEST((stored.manifests == manifests));
    }
  }
}

// Calls of one repository, and repositories with the same content.
BOOST_AUTO_TEST_CASE(packages_are_found_by_their_tags) {
  LayoutWriter writer(directory / "work");
  NamedClosure one{kTag, {}};
  const auto layer = writer.add("the package").value();
  for (const char* source : {"git::https://git.example.com/fork.git", "git::https://git.example.com/vpc.git?ref=v1",
                             "git::https://git.example.com/vpc.git//sub?ref=v1"}) {
    BundledPackage package{.source = source, .origin = "git:1", .h1 = "h1:AAAA=", .layer = layer};
    package.manifest = remote::blob_of(write_package_manifest(package));
    one.closure.packages.push_back(package);
  }
  BOOST_REQUIRE(writer.add_closure(one).has_value());
  BOOST_REQUIRE(writer.finish(directory / "bundle", context).has_value());
  BOOST_TEST(push(Layout::open(directory / "bundle", directory / "unused", context).value()) == "2 sent, 0 present");
  BOOST_TEST(count("POST") == 2U, "a layer was sent twice");  // the other one is the config
  for (const BundledPackage& package : one.closure.packages) {
    const auto found = remote::find_package(registry, repository, package, context);
    BOOST_REQUIRE_MESSAGE(found.has_value(), (found ? std::string() : found.error().message));
    BOOST_TEST((*found == package));
  }
  BundledPackage other = one.closure.packages[0];
  const std::string tag = fmt::format("{}/manifests/{}", kRepository, other.tag());
  other.h1 = "h1:BBBB=";
  BOOST_TEST((remote::find_package(registry, repository, other, context) == std::nullopt));
  stored.manifests[fmt::format("{}/manifests/{}", kRepository, other.tag())] = stored.manifests.at(tag);
  const auto swapped = remote::find_package(registry, repository, other, context);
  BOOST_REQUIRE(!swapped);
  BOOST_TEST(to_string(swapped.error().code) == "SOURCE_INVALID");
  BOOST_TEST(swapped.error().message == fmt::format("{} of \"{}\" is damaged: it is the package of another lock entry",
                                                    other.tag(), repository.display));
}

// A later release may pack the same content into other bytes.
BOOST_AUTO_TEST_CASE(tag_of_another_manifest_is_replaced) {
  const Layout bundle = layout("bundle");
  const BundledPackage package = closures_of(bundle).value()[0].closure.packages[0];
  stored.manifests[fmt::format("{}/manifests/{}", kRepository, package.tag())] = {"", "{}"};
  BOOST_TEST(push(bundle) == "1 sent, 0 present");
  BOOST_TEST((remote::find_package(registry, repository, package, context).value() == package));
}

BOOST_AUTO_TEST_CASE(providers_of_other_writers_stay) {
  const std::string provider = "/v2/team/modules/registry.example.test/acme/cloud/manifests/1.0.0_b";
  BOOST_TEST(push(layout("arm", {"linux_arm64"})) == "2 sent, 0 present");
  BOOST_TEST(push(layout("amd", {"linux_amd64"})) == "1 sent, 1 present");
  BOOST_TEST(push(layout("without")) == "0 sent, 1 present");
  const Layout both = layout("both", {"linux_amd64", "linux_arm64"});
  BOOST_TEST(stored.manifests.at(provider).second ==
             write_provider_index(closures_of(both).value()[0].closure.providers[0]));
  BOOST_TEST(stored.manifests.at(fmt::format("{}/manifests/{}", kRepository, kTag)).second ==
             write_closure(closures_of(both).value()[0].closure));
  BOOST_TEST(push(both) == "0 sent, 1 present");
}

BOOST_AUTO_TEST_CASE(other_content_under_the_tag_of_a_provider_is_replaced) {
  const std::string provider = "/v2/team/modules/registry.example.test/acme/cloud/manifests/1.0.0_b";
  for (const char* other : {"no JSON", "[]", R"({"schemaVersion":2,"manifests":[]})"}) {
    BOOST_TEST_CONTEXT(other) {
      stored.manifests = {{provider, {std::string(remote::kImageIndex), other}}};
      const Layout bundle = layout(fmt::format("bundle-{}", sha256_hex(other)), {"linux_amd64"});
      BOOST_TEST(push(bundle).ends_with(" present"));
      BOOST_TEST(stored.manifests.at(provider).second ==
                 write_provider_index(closures_of(bundle).value()[0].closure.providers[0]));
    }
  }
}

BOOST_AUTO_TEST_CASE(closure_that_cannot_be_read_is_replaced) {
  const std::string tag = fmt::format("{}/manifests/{}", kRepository, kTag);
  const Layout bundle = layout("bundle");
  for (const char* other : {"no JSON", "{}", R"({"schemaVersion":2,"manifests":[1]})"}) {
    BOOST_TEST_CONTEXT(other) {
      stored.manifests = {{tag, {std::string(remote::kImageIndex), other}}};
      BOOST_TEST(push(bundle) == "1 sent, 0 present");
      BOOST_TEST(stored.manifests.at(tag).second == write_closure(closures_of(bundle).value()[0].closure));
    }
  }
}

// Each of both indexes has 3 MiB.
BOOST_AUTO_TEST_CASE(index_that_the_providers_of_other_writers_make_too_large_is_not_pushed) {
  constexpr std::size_t kCount = 12'000;
  const std::string tag = fmt::format("{}/manifests/{}", kRepository, kTag);
  remote::Closure present;
  for (std::size_t i = 0; i < kCount; ++i) {
    present.providers.push_back({.address = fmt::format("registry.example.test/acme/p{:06}", i),
                                 .version = "1.0.0",
                                 .archives = {{"linux_amd64", {{kPackage, 1}, "h1:A"}}}});
  }
  const std::string index = write_closure(present);
  BOOST_TEST_REQUIRE(index.size() < remote::kManifestLimit);
  stored.manifests[tag] = {std::string(remote::kImageIndex), index};
  LayoutWriter writer(directory / "large");
  BundledPackage package{.source = "git::https://git.example.com/vpc.git", .origin = "git:1", .h1 = "h1:AAAA="};
  package.layer = writer.add("the package").value();
  for (std::size_t i = 0; i < kCount; ++i) {
    package.links[fmt::format("link-{:0100}", i)] = std::string(100, 'x');
  }
  package.manifest = remote::blob_of(write_package_manifest(package));
  BOOST_REQUIRE(writer.add_closure({kTag, {.packages = {package}}}).has_value());
  BOOST_REQUIRE(writer.finish(directory / "bundle", context).has_value());
  BOOST_TEST(push(Layout::open(directory / "bundle", directory / "unused", context).value()) ==
             "LIMIT_EXCEEDED: the index closure-1 would be larger than 4 MiB with the providers that \"oci://" +
                 server.host() + "/team/modules\" has");
  BOOST_TEST(stored.manifests.at(tag).second == index);
  BOOST_TEST(count("POST") == 0U);
}

// The index of each closure has 3 MiB, so that no two of them are in memory.
BOOST_AUTO_TEST_CASE(large_closures_are_pushed_one_by_one) {
  LayoutWriter writer(directory / "large");
  const auto package_of = [&](const std::string& name, std::size_t links) {
    BundledPackage package{.source = "git::https://git.example.com/" + name, .origin = "git:1", .h1 = "h1:AAAA="};
    package.layer = writer.add(name).value();
    for (std::size_t i = 0; i < links; ++i) {
      package.links[fmt::format("link-{:0100}", i)] = std::string(100, 'x');
    }
    package.manifest = remote::blob_of(write_package_manifest(package));
    return package;
  };
  const BundledPackage shared = package_of("shared.git", 0);
  const BundledProvider provider{.address = "registry.example.test/acme/cloud",
                                 .version = "1.0.0",
                                 .archives = {{"linux_amd64", {writer.add("archive").value(), "h1:A"}}}};
  std::vector<NamedClosure> closures;
  for (const char* name : {"one.git", "two.git", "three.git"}) {
    closures.push_back({std::string("closure-") + name, {{package_of(name, 12'000), shared}, {provider}}});
    std::sort(closures.back().closure.packages.begin(), closures.back().closure.packages.end());
  }
  for (const NamedClosure& one : closures) {
    BOOST_REQUIRE(writer.add_closure(one).has_value());
  }
  BOOST_REQUIRE(writer.finish(directory / "bundle", context).has_value());
  BOOST_TEST(push(Layout::open(directory / "bundle", directory / "unused", context).value()) == "5 sent, 0 present");
  BOOST_TEST(count("PUT", fmt::format("{}/manifests/{}", kRepository, shared.tag())) == 1U);
  BOOST_TEST(count_uploads() == 7U);  // of the layers, the archive, and the config of both repositories
  for (const NamedClosure& one : closures) {
    BOOST_TEST((stored.manifests.at(fmt::format("{}/manifests/{}", kRepository, one.tag)).second ==
                write_closure(one.closure)));
  }
}

BOOST_AUTO_TEST_CASE(provider_of_a_host_with_a_port) {
  const auto named = remote::provider_repository(repository, "registry.example.test/acme/cloud");
  BOOST_TEST(named.value().name == "team/modules/registry.example.test/acme/cloud");
  const auto refused = remote::provider_repository(repository, "localhost:8080/acme/cloud");
  BOOST_REQUIRE(!refused);
  BOOST_TEST(
      refused.error().message ==
      "a registry cannot hold the provider localhost:8080/acme/cloud: \"team/modules/localhost:8080/acme/cloud\" "
      "is not the name of a repository");
}

BOOST_AUTO_TEST_CASE(pulled_bundle_has_the_same_bytes) {
  layout("pushed.tar", {"linux_amd64", "linux_arm64"});
  fs::create_directories(directory / "unused");
  BOOST_TEST(push(Layout::open(directory / "pushed.tar", directory / "unused", context).value()) ==
             "3 sent, 0 present");
  const auto closure = remote::find_closure(registry, repository, kTag, context).value();
  BOOST_REQUIRE(closure.has_value());
  LayoutWriter writer(directory / "pulled");
  BOOST_REQUIRE(remote::pull({{{kTag, *closure}, &context}}, registry, repository, writer).has_value());
  BOOST_REQUIRE(writer.finish(directory / "pulled.tar", context).has_value());
  BOOST_TEST((read_text(directory / "pulled.tar") == read_text(directory / "pushed.tar")));
}

// What several closures need is downloaded once, and what only one of them needs has its context.
BOOST_AUTO_TEST_CASE(pulling_closures_that_share_a_package) {
  fs::remove_all(directory / "work");
  LayoutWriter pushed(directory / "work");
  const auto package = [&](const std::string& name) {
    BundledPackage one{.source = "git::https://git.example.com/" + name, .origin = "git:1", .h1 = "h1:" + name};
    one.layer = pushed.add(name).value();
    one.manifest = remote::blob_of(write_package_manifest(one));
    return one;
  };
  const NamedClosure one{"closure-1", {.packages = {package("shared"), package("one")}}};
  const NamedClosure two{"closure-2", {.packages = {package("shared"), package("two")}}};
  BOOST_REQUIRE(pushed.add_closure(one).has_value());
  BOOST_REQUIRE(pushed.add_closure(two).has_value());
  BOOST_TEST(push(pushed.layout().value()) == "3 sent, 0 present");

  const auto blob = [](const std::string& content) {
    return fmt::format("{}/blobs/{}", kRepository, digest_of(content));
  };
  FaultServer elsewhere([this](const ReceivedRequest& request) { return stored.answer(request); });
  server.add({.behaviour = faults::redirect("http://" + elsewhere.host() + blob("two")), .path = blob("two")});
  Context strict;
  strict.check_source = [](const Source&, const ServerHop&) -> Result<void> {
    return fail(Code::source_denied, "denied");
  };
  const auto pull = [&](const char* name, const Context& first, const Context& second) {
    LayoutWriter writer(directory / name);
    const auto pulled = remote::pull({{one, &first}, {two, &second}}, registry, repository, writer);
    return !pulled ? std::string(to_string(pulled.error().code))
                   : fmt::format("{} closures", writer.layout().value().listed().size());
  };
  BOOST_TEST(pull("denied", context, strict) == "SOURCE_DENIED");
  BOOST_TEST(elsewhere.log().empty());
  const std::size_t before = count("GET", blob("shared"));
  BOOST_TEST(pull("pulled", strict, context) == "2 closures");
  BOOST_TEST(count("GET", blob("shared")) - before == 1U);
  BOOST_TEST(elsewhere.log().size() == 1U);
}

BOOST_AUTO_TEST_CASE(pulling_what_is_damaged) {
  struct Row {
    const char* name;
    std::function<void(Fixture&, NamedClosure&)> spoil;
    const char* code;
  };
  const std::string blob = fmt::format("{}/blobs/{}", kRepository, kPackage);
  const Row rows[] = {
      {"swapped blob", [&](Fixture& fixture, NamedClosure&) { fixture.stored.blobs[blob] = "the Package"; },
       "HASH_MISMATCH"},
      {"longer blob", [&](Fixture& fixture, NamedClosure&) { fixture.stored.blobs[blob] += "!"; }, "HASH_MISMATCH"},
      {"missing blob", [&](Fixture& fixture, NamedClosure&) { fixture.stored.blobs.erase(blob); }, "NOT_FOUND"},
      {"truncated blob",
       [&](Fixture& fixture, NamedClosure&) { fixture.server.add({.behaviour = faults::truncated(), .path = blob}); },
       "UNREACHABLE"},
      {"another manifest",
       [](Fixture&, NamedClosure& one) { one.closure.packages[0].manifest.digest = digest_of("other"); },
       "SOURCE_INVALID"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      Fixture fixture;
      const Layout bundle = fixture.layout("bundle");
      BOOST_TEST(fixture.push(bundle) == "1 sent, 0 present");
      NamedClosure one = closures_of(bundle).value()[0];
      row.spoil(fixture, one);
      LayoutWriter writer(fixture.directory / "pulled");
      const auto pulled = remote::pull({{one, &fixture.context}}, fixture.registry, fixture.repository, writer);
      BOOST_REQUIRE(!pulled);
      BOOST_TEST(to_string(pulled.error().code) == row.code, pulled.error().message);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
