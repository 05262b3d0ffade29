#include "backends/providers/provider_archives.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "backends/base/digest.h"
#include "tests/support/fake_credentials.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/zip_builder.h"

namespace modlock::provider_registry {
namespace {

using namespace test;

constexpr const char* kUrl = "https://files.example.com/x.zip";
constexpr std::size_t kTail = 65536;

// Answers with parts of a file, as they are asked for, or with what it is told to.
class PartServer final : public HttpClient {
 public:
  explicit PartServer(std::string bytes) : bytes_(std::move(bytes)) {}

  Result<HttpResponse> send(const HttpRequest& request, const Context&) override {
    std::string range;
    for (const HttpHeader& header : request.headers) {
      range = header.name == "Range" ? header.value : range;
    }
    ranges.push_back(range);
    HttpResponse response{.status = 200, .url = request.url};
    std::string body = bytes_;
    if (!range.empty() && knows_parts) {
      std::size_t begin = 0;
      std::size_t end = bytes_.size();
      if (range.starts_with("bytes=-")) {
        begin = end - std::min(end, static_cast<std::size_t>(std::stoul(range.substr(7))));
      } else {
        begin = std::stoul(range.substr(6));
        end = std::stoul(range.substr(range.find('-') + 1)) + 1;
      }
      response.status = status;
      response.headers.push_back(
          {"Content-Range", content_range.value_or(fmt::format("bytes {}-{}/{}", begin, end - 1, bytes_.size()))});
      body = bytes_.substr(begin, end - begin);
    }
    if (request.sink != nullptr && response.status / 100 == 2) {
      if (auto ok = request.sink->begin(body.size()); !ok) {
        return fail(ok.error());
      }
      for (std::size_t i = 0; i < body.size(); i += 10'000) {
        if (auto ok = request.sink->write(std::string_view(body).substr(i, 10'000)); !ok) {
          return fail(ok.error());
        }
      }
    } else {
      response.body = body;
    }
    return response;
  }

  bool knows_parts = true;
  int status = 206;
  std::optional<std::string> content_range = {};
  std::vector<std::string> ranges = {};

 private:
  std::string bytes_;
};

struct ProbeFixture {
  explicit ProbeFixture(const std::string& bytes)
      : server(bytes), fetch_request{SecretText(kUrl), "zh:" + sha256_hex(bytes), "x 1.0.0 for linux_amd64"} {}

  ProviderClient client() { return {registry::RegistryHttp(server, credentials), configuration}; }
  Result<std::optional<ProviderArchiveHashes>> look() {
    return probe_archive(client(), fetch_request, directory.path() / "tmp", {});
  }

  TemporaryDirectory directory;
  PartServer server;
  FakeCredentials credentials;
  ClientConfiguration configuration;
  ProviderArchiveRequest fetch_request;
};

std::string archive_of(const std::vector<ZipMember>& more = {}, const ZipShape& shape = {}) {
  std::vector<ZipMember> members = {{.name = "a", .content = noisy_bytes(200'000)},
                                    {.name = "terraform-provider-x", .content = "x"}};
  members.insert(members.end(), more.begin(), more.end());
  return build_zip(members, shape);
}

std::vector<ZipMember> many_members() {
  std::vector<ZipMember> members;
  for (int i = 0; i < 1000; ++i) {
    members.push_back({.name = fmt::format("{:0100}", i), .is_deflated = false});
  }
  return members;
}

BOOST_AUTO_TEST_SUITE(archive_look_test)

BOOST_AUTO_TEST_CASE(looks) {
  struct Row {
    const char* name;
    std::string bytes;
    bool is_plain;
    std::vector<std::string> ranges;
  };
  const std::string long_list = archive_of(many_members());
  const std::size_t list = 1000 * (46 + 100) + 46 + 1 + 46 + 20 + 22;
  const Row rows[] = {
      {"plain", archive_of(), true, {"bytes=-65536"}},
      {"smaller than a tail", build_zip({{.name = "terraform-provider-x"}}), true, {"bytes=-65536"}},
      {"directories", archive_of({{.name = "d/", .is_deflated = false}}), false, {"bytes=-65536"}},
      {"a name twice", archive_of({{.name = "a", .content = "b"}}), false, {"bytes=-65536"}},
      {"a name that is not clean", archive_of({{.name = "./b", .content = "b"}}), false, {"bytes=-65536"}},
      {"a name that is refused", archive_of({{.name = "../b", .content = "b"}}), false, {"bytes=-65536"}},
      {"a long list",
       long_list,
       true,
       {"bytes=-65536", fmt::format("bytes={}-{}", long_list.size() - list, long_list.size() - kTail - 1)}},
      {"no archive", noisy_bytes(100'000), false, {"bytes=-65536", "bytes=34443-34463"}},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      ProbeFixture fixture(row.bytes);
      const auto found = fixture.look();
      BOOST_REQUIRE_MESSAGE(found, (found ? "" : found.error().message));
      BOOST_TEST(found->has_value() == row.is_plain);
      BOOST_TEST(fixture.server.ranges == row.ranges, boost::test_tools::per_element());
      if (*found) {
        BOOST_TEST((*found)->is_plain);
        BOOST_TEST((*found)->size == row.bytes.size());
        BOOST_TEST((*found)->h1 == "");
        BOOST_TEST((*found)->programs == std::vector<std::string>{"terraform-provider-x"},
                   boost::test_tools::per_element());
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(what_a_server_may_give_instead) {
  struct Row {
    const char* name;
    int status;
    std::optional<std::string> content_range;
    bool is_known;
  };
  const std::string bytes = archive_of();
  const Row rows[] = {
      {"no place", 206, "", false},
      {"another place", 206, "bytes 0-65535/100000", false},
      {"no size", 206, "bytes 0-65535/*", false},
      {"another unit", 206, "pages 0-65535/65536", false},
      {"none of it", 416, "bytes */100", false},
      {"an error of its own", 400, "", false},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      ProbeFixture fixture(bytes);
      fixture.server.status = row.status;
      fixture.server.content_range = row.content_range;
      const auto found = fixture.look();
      BOOST_REQUIRE_MESSAGE(found, (found ? "" : found.error().message));
      BOOST_TEST(found->has_value() == row.is_known);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_server_without_parts_gives_the_whole) {
  for (const std::string& bytes : {archive_of(), build_zip({{.name = "terraform-provider-x"}})}) {
    ProbeFixture fixture(bytes);
    fixture.server.knows_parts = false;
    const auto found = fixture.look();
    BOOST_REQUIRE_MESSAGE(found, (found ? "" : found.error().message));
    BOOST_REQUIRE(found->has_value());
    BOOST_TEST((*found)->h1.starts_with("h1:"));
    const auto read = read_archive(fixture.client(), fixture.fetch_request, fixture.directory.path() / "tmp", {});
    BOOST_REQUIRE(read);
    BOOST_TEST((*found)->h1 == read->h1);
    BOOST_TEST(fixture.server.ranges == (std::vector<std::string>{"bytes=-65536", ""}),
               boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(the_whole_of_another_archive) {
  ProbeFixture fixture(archive_of());
  fixture.server.knows_parts = false;
  fixture.fetch_request.zh = "zh:" + std::string(64, 'a');
  const auto found = fixture.look();
  BOOST_REQUIRE(!found);
  BOOST_TEST((found.error().code == Code::hash_mismatch));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::provider_registry
