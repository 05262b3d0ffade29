#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/backends/archive/archive_fixture.h"
#include "tests/support/s3_server.h"

namespace modlock::test {

// The bucket "mods" with an archive and a directory. Who uses it makes `http` and `backend`.
struct BucketFixture {
  BucketFixture() {
    server.put("mods", "a.zip", zip);
    server.put("mods", "dir/main.tf", kModule);
    server.put("mods", "dir/sub/", "");
    server.put("mods", "dir/sub/b c+d&e.tf", "# 2\n");
    server.put("mods", "dir2/other.tf", "# 3\n");
  }
  Result<FetchedTree> fetch_source(const std::string& source, const FetchRequest& request) {
    const auto address = parse_source(source);
    BOOST_REQUIRE(address.has_value());
    return std::move(backend->fetch(*address, {&request, 1}, parent.path(), Context{}).front());
  }
  // The sorted names, else code, message and notes, with PORT for that of the server. No error has a secret.
  std::string outcome(const Result<FetchedTree>& tree) {
    std::vector<std::string> parts;
    if (!tree) {
      parts = tree.error().notes;
      parts.insert(parts.begin(), fmt::format("{}: {}", to_string(tree.error().code), tree.error().message));
      std::string text = fmt::format("{}", fmt::join(parts, " | "));
      BOOST_TEST((text + std::string(tree.error().hint.text())).find("canary") == std::string::npos, text);
      const std::string port = std::to_string(server.server().port());
      for (std::size_t at = text.find(port); at != std::string::npos; at = text.find(port)) {
        text.replace(at, port.size(), "PORT");
      }
      return text;
    }
    for (const auto& entry : std::filesystem::recursive_directory_iterator(tree->directory)) {
      parts.push_back(std::filesystem::relative(entry.path(), tree->directory).string());
    }
    std::ranges::sort(parts);
    return fmt::format("{}", fmt::join(parts, ", "));
  }

  const std::string zip = make_zip({{.name = "main.tf", .content = kModule}});
  S3Server server;
  FakeCredentials credentials;
  BackendSet others;
  std::unique_ptr<HttpClient> http;
  std::unique_ptr<BackendCore> backend;
  TemporaryDirectory parent;
};

}  // namespace modlock::test
