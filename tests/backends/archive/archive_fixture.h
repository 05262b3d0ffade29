#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <vector>

#include "backends/archive/archive_backend.h"
#include "backends/base/digest.h"
#include "tests/support/archive_writer.h"
#include "tests/support/fake_backend.h"
#include "tests/support/fake_credentials.h"
#include "tests/support/fake_http_client.h"
#include "tests/support/temporary_directory.h"

namespace modlock::test {

inline const std::string kModule = "output \"x\" { value = 1 }\n";

// The archive backend before a network in memory, with one archive at https://example.com/a.zip.
struct ArchiveScene {
  ArchiveScene() : backend(make_archive_backend(http, credentials, others)) {
    auto fake = std::make_unique<FakeBackend>();
    git = fake.get();
    others.add(std::move(fake));
    http.on("https://example.com/a.zip", zip, "application/zip");
  }

  Result<FetchedTree> fetch(const std::string& source, const std::string& locked = {}, const Context& context = {}) {
    const auto address = parse_source(source);
    if (!address) {
      return fail(address.error());
    }
    const FetchRequest request{.id = locked, .ref = {}, .locked = !locked.empty()};
    return std::move(backend->fetch(*address, {&request, 1}, parent.path(), context).front());
  }

  // "<id>" and the names in the tree, else the error.
  std::string outcome(const Result<FetchedTree>& tree) const {
    if (!tree) {
      return fmt::format("{}: {}", to_string(tree.error().code), tree.error().message);
    }
    return tree->id + names(*tree);
  }

  // " <name>" of each entry of the tree.
  static std::string names(const FetchedTree& tree) {
    std::string text;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(tree.directory)) {
      text += " " + std::filesystem::relative(entry.path(), tree.directory).string();
    }
    return text;
  }

  // What is left in the directory for trees.
  std::size_t left() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(parent.path()), {}));
  }

  const std::string zip = make_zip({{.name = "main.tf", .content = kModule}});
  const std::string zip_id = "zh:" + sha256_hex(zip);
  FakeHttpClient http;
  FakeCredentials credentials;
  BackendSet others;
  FakeBackend* git = nullptr;
  std::unique_ptr<BackendCore> backend;
  TemporaryDirectory parent;
};

}  // namespace modlock::test
