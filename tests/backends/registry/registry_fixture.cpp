#include "tests/backends/registry/registry_fixture.h"

#include <fmt/format.h>

namespace modlock::test {

void RecordingBackend::write_down(std::string call) {
  const std::lock_guard lock(mutex_);
  calls_.push_back(std::move(call));
}

std::vector<std::string> RecordingBackend::calls() const {
  const std::lock_guard lock(mutex_);
  return calls_;
}

Result<Listing> RecordingBackend::list_versions(const SourceAddress& source, std::string_view /*tag_prefix*/,
                                                const Context& /*context*/) {
  write_down("list " + source.source.identity());
  return Listing{};
}

Result<Pin> RecordingBackend::pin(const SourceAddress& source, const Context& /*context*/) {
  write_down("pin " + source.source.identity());
  if (!error.message.empty()) {
    return fail(error);
  }
  const std::string digest = source.source.query_value("digest");
  return Pin{digest.empty() ? source.source.query_value("ref") : digest, ""};
}

std::vector<Result<FetchedTree>> RecordingBackend::fetch(const SourceAddress& source,
                                                         std::span<const FetchRequest> requests,
                                                         const std::filesystem::path& parent,
                                                         const Context& /*context*/) {
  std::string call = "fetch " + source.source.package_identity() + ":";
  std::vector<Result<FetchedTree>> trees;
  for (const FetchRequest& request : requests) {
    call += fmt::format(" {}@{}{}", request.id, request.ref, request.locked ? " locked" : "");
    if (!error.message.empty()) {
      trees.push_back(fail(error));
      continue;
    }
    trees.push_back(FetchedTree{.id = request.id.empty() ? "id-of-" + request.ref : request.id,
                                .directory = parent / "tree",
                                .warnings = {},
                                .ref = "refs/tags/" + request.ref,
                                .subdir = subdir});
  }
  write_down(std::move(call));
  return trees;
}

RegistryFixture::RegistryFixture() {
  const auto add = [this](SourceKind kind, const char* scheme) {
    auto backend = std::make_unique<RecordingBackend>(kind, scheme);
    RecordingBackend* raw = backend.get();
    backends.add(std::move(backend));
    return raw;
  };
  git = add(SourceKind::git, "git");
  oci = add(SourceKind::oci, "oci");
  archive = add(SourceKind::archive, "zh");
  http.on("https://registry.example.com/.well-known/terraform.json", R"({"modules.v1":"/v1/"})");
}

std::string RegistryFixture::download_url(const std::string& module, const std::string& version) {
  return fmt::format("https://registry.example.com/v1/{}/{}/download", module, version);
}

void RegistryFixture::locate(const std::string& module, const std::string& version, const std::string& location) {
  answer(module, version, FakeAnswer{.status = 204, .headers = {{"X-Terraform-Get", location}}});
}

void RegistryFixture::answer(const std::string& module, const std::string& version, FakeHttpClient::Answer answer) {
  http.on("GET", download_url(module, version), {std::move(answer)});
}

Result<void> RecordingBackend::check_redirected(const SourceAddress& source, const Context& /*context*/) {
  return is_local ? fail(Code::source_denied, source.source.identity() + " is on this machine") : Result<void>();
}

BackendCore& RegistryFixture::registry() {
  if (!registry_) {
    registry_ = make_registry_backend(
        {.http = registry::RegistryHttp(http, credentials, {}, "1.12.6"), .client = client, .others = backends});
  }
  return *registry_;
}

Result<FetchedTree> RegistryFixture::fetch(const std::string& version, const std::string& id) {
  const FetchRequest request{.id = id, .ref = version, .locked = !id.empty()};
  auto trees = registry().fetch(parsed("registry.example.com/a/b/c"), {&request, 1}, directory.path(), context);
  return std::move(trees.at(0));
}

SourceAddress parsed(const std::string& text) {
  return parse_source(text).value();
}

std::string words(const Error& error) {
  return std::string(to_string(error.code)) + ": " + error.message;
}

}  // namespace modlock::test
