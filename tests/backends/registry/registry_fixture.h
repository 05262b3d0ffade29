#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "backends/registry/registry_backend.h"
#include "tests/support/fake_credentials.h"
#include "tests/support/fake_git_abilities.h"
#include "tests/support/fake_http_client.h"
#include "tests/support/temporary_directory.h"

namespace modlock::test {

// A backend of one kind that gives whatever it is asked for, and writes down what that was.
class RecordingBackend final : public BackendCore, public FakeGitAbilities {
 public:
  // `scheme`: of its hashes, "git".
  RecordingBackend(SourceKind kind, std::string scheme) : kind_(kind), scheme_(std::move(scheme)) {}

  bool serves(const Source& source) const override { return source.kind == kind_; }
  Result<Listing> list_versions(const SourceAddress& source, std::string_view tag_prefix,
                                const Context& context) override;
  Result<Pin> pin(const SourceAddress& source, const Context& context) override;
  std::vector<Result<FetchedTree>> fetch(const SourceAddress& source, std::span<const FetchRequest> requests,
                                         const std::filesystem::path& parent, const Context& context) override;
  std::string hash_scheme() const override { return scheme_; }
  GitAbilities* git() override { return this; }
  Result<void> check_redirected(const SourceAddress& source, const Context& context) override;

  // "pin <identity>", "fetch <package identity>: id@ref locked, …".
  std::vector<std::string> calls() const;

  Error error = {};         // what fetch and pin fail with, where its message is not empty
  std::string subdir = {};  // of the trees
  bool is_local = false;    // no server may redirect to it

 private:
  void write_down(std::string call);

  SourceKind kind_;
  std::string scheme_;
  mutable std::mutex mutex_;
  std::vector<std::string> calls_;
};

// A registry backend with recording backends for git ("git"), OCI ("oci") and archives ("zh") beside it, and nothing of
// the network. The registry is "registry.example.com", its API at https://registry.example.com/v1/.
struct RegistryFixture {
  RegistryFixture();

  // "namespace/name/system", a version and where it is said to lie (X-Terraform-Get).
  void locate(const std::string& module, const std::string& version, const std::string& location);
  void answer(const std::string& module, const std::string& version, FakeHttpClient::Answer answer);
  static std::string download_url(const std::string& module, const std::string& version);

  BackendCore& registry();
  // The one tree of a version of registry.example.com/a/b/c, requested for with this id where one is given.
  Result<FetchedTree> fetch(const std::string& version, const std::string& id = {});

  FakeHttpClient http;
  FakeCredentials credentials;
  ClientConfiguration client;
  Context context;
  TemporaryDirectory directory;
  RecordingBackend* git = nullptr;
  RecordingBackend* oci = nullptr;
  RecordingBackend* archive = nullptr;
  BackendSet backends;
  std::unique_ptr<BackendCore> registry_;
};

SourceAddress parsed(const std::string& text);
// "CODE: message".
std::string words(const Error& error);

}  // namespace modlock::test
