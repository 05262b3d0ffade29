#include "backends/registry/registry_client.h"

#include <fmt/format.h>

#include "backends/package/package_download.h"
#include "protocol/base/result.h"

namespace modlock::registry {
namespace {

// As in OpenTofu 1.12 (InstallModulePackage), the content determines the format. `host` selects the token (empty:
// anonymously). The id is "zh:<sha256>" of the archive. A download is not limited by the total timeout of the request
// policy, only by its silence: ten seconds are too short for a large package.
Result<FetchedTree> fetch_direct(const RegistryHttp& http, HttpRequest request, std::string_view host,
                                 const std::filesystem::path& parent, const Context& context) {
  const std::string display = printable_url(request.url.reveal());
  const std::string purpose = request.purpose;
  PackageDownload package(parent, {.display = display}, context);
  request.sink = &package;
  request.body_limit = UnpackLimits{}.total_bytes;
  request.timeouts.total.reset();
  request.headers.push_back({"Accept", "application/zip, application/x-tar; *;q=0.1"});
  MODLOCK_TRY(http.send(std::move(request), host, context));
  MODLOCK_TRY(const auto digests, package.finish());
  if (!package.format()) {
    return fail(Code::bad_response,
                fmt::format("could not {}: {}: the package is neither a zip archive nor a tar archive compressed with "
                            "gzip, xz or bzip2",
                            purpose, display));
  }
  return package.unpack().map([&](FetchedTree tree) {
    tree.id = "zh:" + digests.sha256;
    return tree;
  });
}

// Adds the request to an error about the response.
Error about_answer(Error error, const std::string& purpose, const std::string& url) {
  error.message = fmt::format("could not {}: {}: {}", purpose, printable_url(url), error.message);
  return error;
}

std::string versions_purpose(const Source& source) {
  return fmt::format("list the versions of \"{}\"", source.package_identity());
}

}  // namespace

std::string version_display(const Source& source, std::string_view version) {
  return fmt::format("version {} of \"{}\"", version, source.package_identity());
}

HttpRequest RegistryClient::request(std::string url, std::string purpose) const {
  HttpRequest request = http_.request(std::move(url), std::move(purpose));
  if (!traits_.version.empty()) {
    request.headers.push_back({"X-Terraform-Version", traits_.version});
  }
  return request;
}

Result<RegistryClient::Answer> RegistryClient::ask(const Source& source, const std::string& endpoint,
                                                   const std::string& purpose, bool keep, const Context& context) {
  MODLOCK_TRY(
      const auto base,
      discovery_.find(source.host, "modules.v1", context).map_error(noting(fmt::format("needed to {}", purpose))));
  std::string url = fmt::format("{}{}/{}", base, source.path, endpoint);
  HttpRequest question = request(url, purpose);
  question.keep = keep;
  auto response = http_.send(std::move(question), source.host, context);
  if (!response) {
    Error error = std::move(response.error());
    if (error.code == Code::not_found && error.hint.empty()) {
      error.hint =
          "check the address and the version; a registry may also hide private modules from anonymous requests: " +
          tofu_modlock("explain", "--credentials", source.host);
    }
    return fail(std::move(error));
  }
  return Answer{std::move(*response), std::move(url)};
}

Result<Listing> RegistryClient::versions(const Source& source, const Context& context) {
  const std::string purpose = versions_purpose(source);
  MODLOCK_TRY(const auto answer, ask(source, "versions", purpose, true, context));
  if (answer.response.status != 200) {
    return fail(about_answer(
        {.code = Code::bad_response, .message = fmt::format("expected status 200, got {}", answer.response.status)},
        purpose, answer.url));
  }
  return parse_versions(answer.response.body, answer.response.kept_since.value_or(std::chrono::system_clock::now()))
      .map_error([&](Error error) { return about_answer(std::move(error), purpose, answer.url); });
}

Result<PackageLocation> RegistryClient::locate(const Source& source, const std::string& version,
                                               const Context& context) {
  const std::string purpose = fmt::format("find the location of {}", version_display(source, version));
  MODLOCK_TRY(const auto answer, ask(source, version + "/download", purpose, false, context));
  return parse_location(answer.response, answer.url, traits_.rules).map_error([&](Error error) {
    return about_answer(std::move(error), purpose, answer.url);
  });
}

Result<FetchedTree> RegistryClient::download(const Source& source, const std::string& version,
                                             const DirectPackage& package, const std::filesystem::path& parent,
                                             const Context& context) {
  const std::string purpose = fmt::format("download {}", version_display(source, version));
  const std::string_view host = package.use_registry_credentials ? std::string_view(source.host) : std::string_view();
  return fetch_direct(http_, request(package.url.reveal(), purpose), host, parent, context);
}

}  // namespace modlock::registry
