#include "tests/backends/oci/oci_fixture.h"

namespace modlock::test {

OciFixture::OciFixture(std::unique_ptr<HttpClient> real) : real_http(std::move(real)) {
  context.stats = &stats;
  backend = make_oci_backend(real_http ? *real_http : http, credentials);
}

OciModule OciFixture::serve(const std::string& repository, const std::string& tag, const PackageFiles& files) {
  OciModule module = make_oci_module(files);
  const FakeAnswer manifest{
      .headers = {{"Content-Type", kOciManifestType}, {"Docker-Content-Digest", module.manifest_digest}},
      .body = module.manifest};
  const std::string base = kRegistry + repository;
  for (const std::string& reference : {tag, module.manifest_digest}) {
    http.on("GET", base + "/manifests/" + reference, {manifest});
    http.on("HEAD", base + "/manifests/" + reference, {FakeAnswer{.headers = manifest.headers}});
  }
  http.on(base + "/blobs/" + module.package_digest, module.package, "application/octet-stream");
  return module;
}

void OciFixture::serve_tags(const std::string& repository, const std::string& body) {
  http.on(kRegistry + repository + "/tags/list", body);
}

Result<FetchedTree> OciFixture::fetch(const std::string& text, const FetchRequest& request) {
  return backend->fetch(source(text), std::vector{request}, directory.path(), context).at(0);
}

std::string OciFixture::asked() const {
  std::string lines;
  for (const std::string& line : http.sent_lines()) {
    lines += line + "\n";
  }
  return lines;
}

std::string shown(const Result<Listing>& listing) {
  if (!listing) {
    return outcome(listing);
  }
  std::string text;
  for (const ListedVersion& version : listing->versions) {
    text += version.version.to_string() + " " + version.tag + " " + version.id.substr(0, 9) +
            (version.ambiguous_with.empty() ? "" : " or " + version.ambiguous_with) + "\n";
  }
  for (const SkippedTag& tag : listing->skipped) {
    text += "- " + tag.tag + ": " + tag.reason + "\n";
  }
  return text;
}

}  // namespace modlock::test
