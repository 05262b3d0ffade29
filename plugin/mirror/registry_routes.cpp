#include "plugin/mirror/registry_routes.h"

#include <fmt/format.h>

#include <charconv>

#include "backends/address/source_text.h"
#include "backends/base/collections.h"

namespace modlock {
namespace {

constexpr std::string_view kPackages = "packages/";
constexpr std::string_view kArchive = ".tar.gz";
constexpr std::string_view kService = "v1/";

// Escapes the characters of a subdirectory that would end the path of an address.
std::string escaped(std::string_view subdir) {
  std::string out;
  for (const char c : subdir) {
    if (c == '%' || c == '?' || c == '#' || c == ' ') {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

RegistryRoutes::RegistryRoutes(std::vector<MirroredModule> modules, std::string prefix)
    : modules_(std::move(modules)), prefix_(std::move(prefix)) {
  for (std::size_t i = 0; i < modules_.size(); ++i) {
    hosts_[modules_[i].host].emplace(modules_[i].name, i);
  }
}

MirrorResponse RegistryRoutes::answer(std::string_view path) const {
  if (!take(path, prefix_) || !take(path, "/")) {
    return {};
  }
  if (take(path, kPackages)) {
    std::size_t index = 0;
    const auto [end, error] = std::from_chars(path.data(), path.data() + path.size(), index);
    const bool fits = error == std::errc() && index < modules_.size() &&
                      path.substr(static_cast<std::size_t>(end - path.data())) == kArchive;
    return fits ? MirrorResponse{.status = 200, .type = "application/gzip", .package = &modules_[index]}
                : MirrorResponse{};
  }
  const std::size_t slash = path.find('/');
  return slash == std::string_view::npos ? MirrorResponse{}
                                         : answer_of_host(path.substr(0, slash), path.substr(slash + 1));
}

MirrorResponse RegistryRoutes::answer_of_host(std::string_view host, std::string_view rest) const {
  const auto names = hosts_.find(host);
  if (names == hosts_.end()) {
    return {};
  }
  if (rest == ".well-known/terraform.json") {
    return {.status = 200, .body = fmt::format("{{\"modules.v1\":\"{}\"}}", modules_path(host))};
  }
  if (!take(rest, kService)) {
    return {};
  }
  const std::size_t last = rest.rfind('/');
  const std::string_view what = last == std::string_view::npos ? std::string_view() : rest.substr(last + 1);
  std::string_view name = rest.substr(0, last);
  std::string_view version;
  if (what == "download" && name.rfind('/') != std::string_view::npos) {
    version = name.substr(name.rfind('/') + 1);
    name = name.substr(0, name.rfind('/'));
  }
  const auto found = names->second.find(name);
  if (found == names->second.end()) {
    return {};
  }
  const MirroredModule& module = modules_[found->second];
  if (what == "versions") {
    return {.status = 200,
            .body = fmt::format("{{\"modules\":[{{\"versions\":[{{\"version\":\"{}\"}}]}}]}}", module.version)};
  }
  if (version != module.version) {
    return {};
  }
  return {.status = 204,
          .location = package_path(found->second) + (module.subdir.empty() ? "" : "//" + escaped(module.subdir))};
}

std::string RegistryRoutes::modules_path(std::string_view host) const {
  return fmt::format("{}/{}/{}", prefix_, host, kService);
}

std::string RegistryRoutes::package_path(std::size_t index) const {
  return fmt::format("{}/{}{}{}", prefix_, kPackages, index, kArchive);
}

std::vector<std::string> RegistryRoutes::hosts() const {
  return keys_of(hosts_);
}

}  // namespace modlock
