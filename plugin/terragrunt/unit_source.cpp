#include "plugin/terragrunt/unit_source.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "backends/address/go_url.h"
#include "backends/base/digest.h"
#include "backends/base/environment.h"
#include "backends/base/process.h"
#include "plugin/terragrunt/unit_config.h"
#include "protocol/base/json.h"
#include "protocol/base/result.h"

namespace modlock::terragrunt {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kRegistryScheme = "tfr://";
constexpr std::string_view kFileScheme = "file://";

std::string registry_host(ClientKind tool) {
  const std::string named = environment_variable("TG_TF_DEFAULT_REGISTRY_HOST");
  return named.empty() ? std::string(default_registry(tool)) : named;
}

// Converts "tfr:///ns/name/system//sub?version=1.2.3" to the form of a module call:
// "registry.example/ns/name/system//sub", and the version.
UnitSource from_terragrunt(std::string text, std::optional<std::string> version, Location location, ClientKind tool) {
  if (text.starts_with(kRegistryScheme)) {
    text.erase(0, kRegistryScheme.size());
    constexpr std::string_view kVersion = "?version=";
    if (const std::size_t query = text.find(kVersion); query != std::string::npos) {
      version = text.substr(query + kVersion.size());
      text.resize(query);
    }
    text = text.starts_with('/') ? registry_host(tool) + text : text;
  } else {
    version.reset();  // Terragrunt accepts none for other sources
  }
  return {SourceText{std::move(text), std::move(location)}, std::move(version)};
}

// SHA-1 in the alphabet for URLs, without padding.
std::string encode(std::string_view text) {
  const auto hash = hash_of(Hash::sha1, text);
  std::string encoded = base64(hash);
  encoded.resize(encoded.find('='));
  std::replace(encoded.begin(), encoded.end(), '+', '-');
  std::replace(encoded.begin(), encoded.end(), '/', '_');
  return encoded;
}

// Returns the URL of a directory, as Terragrunt writes it.
std::string local_url(const fs::path& unit, std::string text) {
  text.erase(0, text.starts_with(kFileScheme) ? kFileScheme.size() : 0);
  const std::size_t end = std::min({text.find("//"), text.find('?'), text.size()});
  std::string path = (unit / text.substr(0, end)).lexically_normal().string();
  path.erase(path.find_last_not_of('/') + 1);
  return std::string(kFileScheme) + percent_encoded(path, "/$&+,:;=@") + text.substr(end);
}

}  // namespace

std::optional<DownloadName> download_name(const FoundSource& found, const fs::path& unit) {
  std::string text = found.written;
  const bool is_of_registry = text.starts_with(kRegistryScheme);
  if (!is_of_registry) {
    const auto address = parse_source(text);
    if (!address && !text.empty()) {
      return std::nullopt;
    }
    text = address && address->source.is_remote() ? address->normalised.reveal() : local_url(unit, text);
  }
  const std::size_t scheme = text.find("://");
  const std::string query = text.substr(std::min(text.find('?'), text.size()));
  const bool is_chosen = is_of_registry && found.source && found.source->version && query.empty();
  if (scheme == std::string::npos || is_chosen) {
    return std::nullopt;
  }
  text.resize(text.size() - query.size());
  DownloadName name{.version = encode(encode_query(parse_query(query.substr(std::min<std::size_t>(1, query.size())))))};
  if (const std::size_t subdir = text.find("//", scheme + 3); subdir != std::string::npos) {
    name.subdir = text.substr(subdir + 2);
    name.subdir.erase(name.subdir.find_last_not_of('/') + 1);
    text.resize(subdir);
  }
  name.directory = encode(text);
  return name;
}

fs::path cache_of(const fs::path& unit) {
  return unit / ".terragrunt-cache" / encode(unit.string());
}

std::vector<DownloadName> download_names(const ModuleLock& entry, ClientKind tool) {
  std::vector<DownloadName> names;
  const auto source = parse_identity(entry.source);
  const auto add = [&](const std::string& written) {
    if (auto name = download_name({.written = written}, {})) {
      names.push_back(std::move(*name));
    }
  };
  if (!source || !source->is_registry()) {
    add(entry.source);
    return names;
  }
  const std::string path = "/" + source->path + (source->subdir.empty() ? "" : "//" + source->subdir);
  for (const std::string& query : {"?version=" + entry.version.value_or(""), std::string()}) {
    add(std::string(kRegistryScheme) + source->host + path + query);
    if (source->host == registry_host(tool)) {
      add(std::string(kRegistryScheme) + path + query);
    }
  }
  return names;
}

UnitSource source_of(const ModuleLock& entry) {
  const auto source = parse_identity(entry.source);
  const bool is_of_registry = source && source->is_registry();
  const std::string subdir = is_of_registry && !source->subdir.empty() ? "//" + source->subdir : "";
  return {SourceText{is_of_registry ? source->host + "/" + source->path + subdir : entry.source, {}},
          entry.constraints};
}

FoundSource found_source(std::string written, std::optional<std::string> version, Location location, ClientKind tool) {
  if (written == ".") {
    return {};  // Terragrunt's word for a unit without a source
  }
  return {.source = from_terragrunt(written, std::move(version), std::move(location), tool), .written = written};
}

FoundSource render_unit_source(const fs::path& unit, ClientKind tool, const Context& context) {
  const auto ran = run_command(
      {.argv = {"terragrunt", "render", "--format", "json"}, .directory = unit, .keeps_tokens = true}, context);
  const auto config = ran && ran->exit_code == 0 ? parse_json(ran->output) : fail(Code::not_found, "");
  if (!config || !config->isObject()) {
    return FoundSource{.is_known = false};
  }
  const Json::Value& terraform = (*config)["terraform"];
  const auto text_of = [&](const char* name) {
    const bool is_there = terraform.isObject() && terraform[name].isString();
    return is_there ? terraform[name].asString() : std::string();
  };
  const std::string written = text_of("source");
  const std::string version = text_of("version");
  return written.empty() ? FoundSource()
                         : found_source(written, version.empty() ? std::nullopt : std::optional(version),
                                        {(unit / "terragrunt.hcl").string(), std::nullopt}, tool);
}

Result<FoundSource> find_unit_source(const fs::path& unit, const std::string& named, ClientKind tool,
                                     const fs::path& repository, const Documents& documents) {
  if (!named.empty()) {
    return found_source(named, std::nullopt, {(unit / "terragrunt.hcl").string(), std::nullopt}, tool);
  }
  if (!environment_variable("TG_SOURCE").empty() || !environment_variable("TERRAGRUNT_SOURCE").empty()) {
    return FoundSource{.is_known = false, .is_replaced = true};
  }
  MODLOCK_TRY(const auto config, UnitConfig::read(unit, repository, documents));
  std::optional<FoundSource> found;
  const hcl::Attribute* constraint = nullptr;
  std::optional<std::string> version;
  // Each argument is that of the first file that has it.
  for (const UnitFile& file : config.files()) {
    if (!found && file.path.empty()) {
      return FoundSource{.is_known = false};
    }
    const hcl::Body& terraform = block_in(file.body, "terraform");
    const hcl::Attribute* source = found ? nullptr : terraform.find("source");
    if (source != nullptr) {
      const auto text = text_in(config.value_of(file, source));
      if (!text) {
        return FoundSource{.is_known = false};
      }
      found = found_source(*text, std::nullopt, {file.path.string(), source->value.range}, tool);
      found->is_literal = text_in(constant_of(source)).has_value();
    }
    if (constraint == nullptr) {
      constraint = terraform.find("version");
      version = text_in(config.value_of(file, constraint));
    }
  }
  if (found && found->written.starts_with(kRegistryScheme) && !found->source->version) {
    found->source->version = version;
    found->is_known = constraint == nullptr || version;
  }
  return found ? std::move(*found) : FoundSource{.is_known = !config.files().empty()};
}

}  // namespace modlock::terragrunt
