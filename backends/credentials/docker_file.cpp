#include "backends/credentials/docker_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "backends/base/digest.h"
#include "backends/credentials/folded_member.h"
#include "protocol/base/json.h"
#include "protocol/base/result.h"

namespace modlock {
namespace {

tl::unexpected<Error> wrong(std::string_view name, std::string_view what) {
  return fail(Code::config_parse, fmt::format("{}: {}", name, what), "repair the file, or log in again to recreate it");
}

Result<void> read_auths(const Json::Value& auths, std::string_view name, DockerFile& file) {
  for (const std::string& key : auths.getMemberNames()) {
    const Json::Value& entry = auths[key];
    if (!entry.isObject() && !entry.isNull()) {
      return wrong(name, fmt::format("auths \"{}\" is not an object", key));
    }
    const Json::Value& auth = folded_member(entry, "auth");
    if (auth.isNull()) {
      continue;
    }
    auto decoded = auth.isString() ? decode_base64(auth.asString()) : std::nullopt;
    if (!decoded) {
      return wrong(name, fmt::format("the auth of auths \"{}\" is not base64", key));
    }
    if (!decoded->empty()) {
      file.auths.push_back({key, SecretText(std::move(*decoded))});
    }
  }
  return {};
}

}  // namespace

Result<DockerFile> parse_docker_file(std::string_view text, std::string_view name) {
  const auto json = parse_json(text);
  if (!json) {
    return wrong(name, "it is not JSON: " + json.error().message);
  }
  if (!json->isObject()) {
    return wrong(name, "it is not a JSON object");
  }
  DockerFile file;
  const Json::Value& auths = folded_member(*json, "auths");
  const Json::Value& helpers = folded_member(*json, "credHelpers");
  const Json::Value& store = folded_member(*json, "credsStore");
  if (!(auths.isObject() || auths.isNull()) || !(helpers.isObject() || helpers.isNull()) ||
      !(store.isString() || store.isNull())) {
    return wrong(name, "auths and credHelpers must be objects, credsStore a string");
  }
  MODLOCK_TRY(read_auths(auths, name, file));
  for (const std::string& host : helpers.getMemberNames()) {
    if (!helpers[host].isString() && !helpers[host].isNull()) {
      return wrong(name, fmt::format("credHelpers \"{}\" is not a string", host));
    }
    file.helpers[host] = helpers[host].asString();
  }
  file.store = store.asString();
  return file;
}

std::size_t specificity(std::string_view key, std::string_view host, std::string_view repository) {
  const std::size_t slash = key.find('/');
  if (host.empty() || key.substr(0, slash) != host) {
    return 0;
  }
  if (slash == std::string_view::npos) {
    return kDomainSpecificity;
  }
  const std::string_view path = key.substr(slash + 1);
  const bool is_prefix = !path.empty() && repository.starts_with(path) &&
                         (repository.size() == path.size() || repository[path.size()] == '/');
  if (!is_prefix) {
    return 0;
  }
  return kDomainSpecificity + 1 + static_cast<std::size_t>(std::count(path.begin(), path.end(), '/'));
}

bool is_helper_name(std::string_view name) {
  return !name.empty() && name.find('/') == std::string_view::npos && name.find('\0') == std::string_view::npos;
}

}  // namespace modlock
