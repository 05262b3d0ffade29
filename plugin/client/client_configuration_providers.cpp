#include "plugin/client/client_configuration_providers.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "backends/address/go_url.h"
#include "backends/address/source_text.h"
#include "backends/base/ascii.h"

namespace modlock {
namespace {

using hcl1::Entry;
using hcl1::Value;
using Method = ProviderInstallation::Method;

// A block in the model of the clients' decoder.
struct Block {
  std::vector<std::string> keys;
  const Value* value = nullptr;
  hcl1::Place at;
  bool is_assigned = false;
};

// HCL 1 treats the names within JSON objects of objects as labels, and each object of a list as a separate block.
void flatten(Block block, std::vector<Block>& out) {
  const auto is_object = [](const Value& value) { return value.kind == Value::Kind::object; };
  const Value& value = *block.value;
  if (is_object(value) && !value.items.empty() &&
      std::ranges::all_of(value.items, [&](const auto& item) { return is_object(item.value); })) {
    for (const hcl1::Item& item : value.items) {
      Block inner = block;
      inner.keys.insert(inner.keys.end(), item.keys.begin(), item.keys.end());
      inner.value = &item.value;
      flatten(std::move(inner), out);
    }
  } else if (value.kind == Value::Kind::list && !value.elements.empty() &&
             std::ranges::all_of(value.elements, is_object)) {
    for (const Value& element : value.elements) {
      Block one = block;
      one.value = &element;
      flatten(std::move(one), out);
    }
  } else {
    out.push_back(std::move(block));
  }
}

std::vector<Block> blocks_of(const std::vector<hcl1::Item>& items, bool is_json) {
  std::vector<Block> blocks;
  for (const hcl1::Item& item : items) {
    Block block{item.keys, &item.value, item.at, item.is_assigned};
    if (is_json) {
      flatten(std::move(block), blocks);
    } else {
      blocks.push_back(std::move(block));
    }
  }
  return blocks;
}

class InstallationReader {
 public:
  InstallationReader(const hcl1::File& file, std::string_view name, ClientKind tool)
      : file_(file), name_(name), tool_(tool) {}

  Diagnostics read(ClientConfiguration& configuration) {
    for (const Block& block : blocks_of(file_.items, file_.is_json)) {
      if (block.keys.front() != "provider_installation") {
        continue;
      }
      if (!is_block(block, "the block provider_installation")) {
        continue;
      }
      ProviderInstallation read = read_block(block);
      if (configuration.provider_installation) {
        warn(block.at, fmt::format("no more than one provider_installation block may be specified, and the first is "
                                   "in {}",
                                   configuration.provider_installation->from));
      } else {
        configuration.provider_installation = std::move(read);
      }
    }
    return std::move(warnings_);
  }

 private:
  void warn(hcl1::Place at, std::string_view what) { report(hcl1::wrong(name_, at, what).value()); }
  void report(Error error) { warnings_.push_back({Severity::warning, std::move(error)}); }

  // Reports the problem if it is not. Labels are reported, but the block is read.
  bool is_block(const Block& block, std::string_view what) {
    if (block.value->kind != Value::Kind::object || (block.is_assigned && !file_.is_json)) {
      warn(block.at, fmt::format("{} must be a block, without an equals sign", what));
      return false;
    }
    if (block.keys.size() > 1 && !file_.is_json) {
      warn(block.at, fmt::format("{} must not have any labels", what));
    }
    return true;
  }

  ProviderInstallation read_block(const Block& block) {
    ProviderInstallation installation{
        .methods = {}, .dev_overrides = {}, .from = fmt::format("{}:{}", name_, block.at.line)};
    for (const Block& part : blocks_of(block.value->items, file_.is_json)) {
      const std::string& type = part.keys.front();
      if (!is_block(part, fmt::format("\"{}\" in provider_installation", type))) {
        continue;
      }
      if (type == "dev_overrides") {
        read_overrides(part, installation);
      } else if (auto method = read_method(part)) {
        installation.methods.push_back(std::move(*method));
      } else {
        report(std::move(method.error()));
      }
    }
    return installation;
  }

  Result<Method> read_method(const Block& block) const {
    const std::string& type = block.keys.front();
    const std::vector<Entry> body = hcl1::entries_of(block.value->items);
    Method method{.from = fmt::format("{}:{}", name_, block.at.line)};
    std::string_view place;
    if (type == "filesystem_mirror") {
      method.kind = Method::Kind::filesystem_mirror;
      place = "path";
    } else if (type == "network_mirror") {
      method.kind = Method::Kind::network_mirror;
      place = "url";
    } else if (type == "oci_mirror" && tool_ == ClientKind::opentofu) {
      method.kind = Method::Kind::oci_mirror;
      place = "repository_template";
    } else if (type != "direct") {
      return hcl1::wrong(name_, block.at, fmt::format("unknown provider installation method \"{}\"", type));
    }
    if (!place.empty()) {
      MODLOCK_TRY(auto location, hcl1::string_argument(body, place, name_));
      method.location = location.value_or("");
      if (method.location.empty()) {
        return hcl1::wrong(name_, block.at, fmt::format("the argument \"{}\" of {} is required", place, type));
      }
    }
    MODLOCK_TRY(read_choices(body, block.at, method));
    MODLOCK_TRY(read_location(body, block.at, method));
    return method;
  }

  Result<void> read_choices(const std::vector<Entry>& body, hcl1::Place at, Method& method) const {
    for (const auto& [argument, patterns] :
         {std::pair("include", &method.include), std::pair("exclude", &method.exclude)}) {
      MODLOCK_TRY(const auto texts, hcl1::list_argument(body, argument, name_));
      for (const std::string& text : texts.value_or(std::vector<std::string>())) {
        auto pattern = ProviderPattern::parse(text, default_registry(tool_));
        if (!pattern) {
          return hcl1::wrong(name_, at, pattern.error().message);
        }
        patterns->push_back(std::move(*pattern));
      }
    }
    return {};
  }

  // Reads the settings that depend on the method; Terraform has no settings for downloads.
  Result<void> read_location(const std::vector<Entry>& body, hcl1::Place at, Method& method) const {
    const bool is_network = method.kind == Method::Kind::network_mirror;
    if (tool_ == ClientKind::opentofu && (is_network || method.kind == Method::Kind::direct)) {
      MODLOCK_TRY(method.download_retries, hcl1::integer_argument(body, "download_retry_count", name_));
      MODLOCK_TRY(const auto trust,
                  is_network ? hcl1::boolean_argument(body, "trust_all_hashes", name_) : std::optional<bool>());
      method.trust_all_hashes = trust.value_or(false);
    }
    if (is_network) {
      const auto url = GoUrl::parse(method.location);
      if (!url || url->scheme != "https" || url->host.empty()) {
        return hcl1::wrong(name_, at,
                           fmt::format("cannot use \"{}\" as a URL for a network provider mirror: the "
                                       "mirror must be at an https: URL",
                                       printable_address(method.location)));
      }
    }
    if (method.kind == Method::Kind::oci_mirror) {
      auto repository = read_repository_template(method.location, method.include);
      if (!repository) {
        return hcl1::wrong(name_, at,
                           fmt::format("invalid oci_mirror repository template: {}", repository.error().message));
      }
      method.repository = std::move(*repository);
    }
    return {};
  }

  void read_overrides(const Block& block, ProviderInstallation& installation) {
    if (!installation.methods.empty()) {
      warn(block.at, "dev_overrides must appear before all other installation methods");
      return;
    }
    std::map<ProviderAddress, std::string> overrides;
    for (const hcl1::Item& item : block.value->items) {
      const bool is_text = item.value.kind == Value::Kind::string || item.value.kind == Value::Kind::number;
      if (!is_text || item.keys.size() != 1) {
        warn(item.at, "dev_overrides must contain a directory for each provider source address");
        return;
      }
      const auto provider = ProviderAddress::parse(item.keys.front(), default_registry(tool_));
      if (!provider) {
        warn(item.at, fmt::format("an entry of dev_overrides is not a valid provider source string: {}",
                                  provider.error().message));
        continue;
      }
      overrides.insert_or_assign(*provider, std::filesystem::path(item.value.text).lexically_normal().string());
    }
    for (auto& [provider, path] : overrides) {
      installation.dev_overrides.insert_or_assign(provider, std::move(path));
    }
  }

  const hcl1::File& file_;
  std::string_view name_;
  ClientKind tool_;
  Diagnostics warnings_;
};

bool is_name_character(char c) {
  return ascii::is_alnum(c) || c == '_';
}

// Expands "$NAME" and "${NAME}" like Go's os.ExpandEnv.
std::string expand_variables(std::string_view text, const ProcessEnvironment& environment) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t dollar = std::min(text.find('$', at), text.size());
    out += text.substr(at, dollar - at);
    at = std::min(dollar + 1, text.size());
    if (dollar == text.size()) {
      break;
    }
    const bool has_braces = at < text.size() && text[at] == '{' && text.find('}', at) != std::string_view::npos;
    const std::size_t start = has_braces ? at + 1 : at;
    std::size_t end = start;
    while (end < text.size() && (has_braces ? text[end] != '}' : is_name_character(text[end]))) {
      ++end;
    }
    if (end == at) {
      out += '$';
    }
    out += environment.variable(text.substr(start, end - start));
    at = has_braces ? end + 1 : end;
  }
  return out;
}

}  // namespace

std::string plugin_cache_directory(std::string_view written, const ProcessEnvironment& environment) {
  const std::string_view variable = environment.variable("TF_PLUGIN_CACHE_DIR");
  const std::string path = variable.empty() ? expand_variables(written, environment) : std::string(variable);
  return path.empty() ? path : environment.absolute(path).string();
}

Diagnostics read_provider_installation(const hcl1::File& file, std::string_view name, ClientKind tool,
                                       ClientConfiguration& configuration) {
  return InstallationReader(file, name, tool).read(configuration);
}

}  // namespace modlock
