#include "plugin/report/cyclonedx.h"

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "backends/address/go_url.h"
#include "backends/address/source_text.h"
#include "backends/address/version.h"
#include "backends/base/build_info.h"
#include "backends/base/digest.h"
#include "plugin/lock/locked_text.h"
#include "plugin/report/package_url.h"
#include "protocol/base/json.h"

namespace modlock {
namespace {

constexpr std::string_view kRootReference = "root";
constexpr std::size_t kCommitDigits = 40;

void add_property(Json::Value& component, std::string_view name, const std::string& value) {
  Json::Value& property = component["properties"].append(Json::objectValue);
  property["name"] = "tofu-modlock:" + std::string(name);
  property["value"] = value;
}

void add_hashes(Json::Value& component, const std::vector<std::string>& hashes) {
  for (const std::string& hash : hashes) {
    add_property(component, "hash", hash);
  }
}

Json::Value make_component(const std::string& reference, const std::string& version) {
  Json::Value component(Json::objectValue);
  component["type"] = "library";
  component["bom-ref"] = reference;
  if (!version.empty()) {
    component["version"] = version;
  }
  return component;
}

// Adds the location: the repository of git, or the address of any other source that has one.
void add_reference(Json::Value& component, const Source& source) {
  if (source.is_registry()) {
    return;
  }
  const std::string user = source.user.empty() ? "" : source.user + "@";
  Json::Value& reference = component["externalReferences"].append(Json::objectValue);
  reference["type"] = source.traits().location == SourceLocation::repository ? "vcs" : "distribution";
  reference["url"] = source.scheme + "://" + user + source.host + source.path;
}

void describe_source(Json::Value& component, const Source& source, const ModuleLock& lock) {
  const std::string tag = source.named_tag();
  const auto prefix = tag_prefix_of(tag);
  if (const auto version = Version::parse(prefix ? tag.substr(prefix->size()) : ""); version && !lock.version) {
    component["version"] = version->to_string();
  }
  if (source.is_registry()) {
    component["group"] = source.path.substr(0, source.path.find('/'));
  }
  component["name"] = package_name(source);
  component["purl"] = package_url(source, lock);
  add_reference(component, source);
  if (const std::string commit = lock.hash_value("git"); !commit.empty()) {
    component["pedigree"]["commits"][0]["uid"] = commit;
  }
  if (const std::string zipped = lock.hash_value("zh"); !zipped.empty()) {
    component["hashes"][0]["alg"] = "SHA-256";
    component["hashes"][0]["content"] = zipped;
  }
}

// Removes hashes that only look like commits: a lock edited by hand may contain any text.
ModuleLock with_commits_only(ModuleLock lock) {
  std::erase_if(lock.hashes, [](const std::string& hash) {
    constexpr std::string_view kGit = "git:";
    return hash.starts_with(kGit) && (hash.size() != kGit.size() + kCommitDigits ||
                                      hash.find_first_not_of("0123456789abcdef", kGit.size()) != std::string::npos);
  });
  return lock;
}

// `&key=` instead of `?`, or an escaped one, makes an intended argument, and perhaps a secret, part of the path or of
// another argument.
bool may_hide_argument(std::string_view text) {
  const std::string plain = percent_decode(text);
  for (std::size_t at = plain.find_first_of("?&"); at != std::string::npos; at = plain.find_first_of("?&", at + 1)) {
    const std::size_t end = plain.find_first_of("?&=/", at + 1);
    if (end != std::string::npos && end > at + 1 && plain[end] == '=') {
      return true;
    }
  }
  return false;
}

bool may_hide_argument(const Source& source) {
  return may_hide_argument(source.path) || may_hide_argument(source.subdir) ||
         std::ranges::any_of(source.query, [](const auto& argument) { return may_hide_argument(argument.second); });
}

// A lock should not contain secrets, but a user may have written them there.
std::string shown_source(const std::optional<Source>& source, const std::string& text) {
  if (source) {
    return source->identity();
  }
  const std::string address = printable_address(text);
  return may_hide_argument(address) ? address.substr(0, address.find_first_of("&%")) + "…" : address;
}

// Returns the part of a lock entry's address that can be shown; nullopt: it is invalid, or may contain a secret.
std::optional<Source> readable_source(const ModuleLock& module) {
  auto source = parse_identity(module.source);
  return source && !may_hide_argument(*source) ? std::optional(std::move(*source)) : std::nullopt;
}

class Bill {
 public:
  explicit Bill(const LockFile& lock) {
    for (const auto& [key, module] : lock.modules) {
      add_module(module);
    }
    for (const auto& [address, provider] : lock.providers) {
      add_provider(address, provider);
    }
  }

  Json::Value finish(const std::string& name, const std::map<std::string, std::string>& files) && {
    Json::Value bill(Json::objectValue);
    bill["$schema"] = "http://cyclonedx.org/schema/bom-1.6.schema.json";
    bill["bomFormat"] = "CycloneDX";
    bill["specVersion"] = "1.6";
    bill["version"] = 1;
    Json::Value& root = bill["metadata"]["component"];
    root["type"] = "application";
    root["bom-ref"] = std::string(kRootReference);
    root["name"] = name.empty() ? "root module" : name;
    for (const auto& [path, text] : files) {
      Json::Value& file = root["externalReferences"].append(Json::Value(Json::objectValue));
      file["type"] = "configuration";
      file["url"] = path;
      file["hashes"][0]["alg"] = "SHA-256";
      file["hashes"][0]["content"] = sha256_hex(text);
    }
    Json::Value& tool = bill["metadata"]["tools"]["components"][0];
    tool["type"] = "application";
    tool["name"] = "tofu-modlock";
    tool["version"] = std::string(kVersion);
    bill["components"] = std::move(components_);
    bill["dependencies"] = dependencies();
    bill["serialNumber"] = serial_number(bill);
    return bill;
  }

 private:
  void add_module(const ModuleLock& module) {
    const auto [known, is_new] =
        by_package_.try_emplace({module.source, module.version.value_or(""), module.hashes}, components_.size());
    if (is_new) {
      Json::Value& component = components_.append(make_component("module." + module.key, module.version.value_or("")));
      const auto source = readable_source(module);
      if (source) {
        describe_source(component, *source, with_commits_only(module));
      } else {
        component["name"] = module.key;
      }
      add_property(component, "source", shown_source(source, module.source));
      add_hashes(component, module.hashes);
    }
    Json::Value& component = components_[known->second];
    add_property(component, "call", "module." + module.key);
    if (module.constraints) {
      add_property(component, "constraints", *module.constraints);
    }
    const std::string reference = component["bom-ref"].asString();
    references_[module.key] = reference;
    // Keys are sorted, so a caller is known before its calls.
    needs_[caller_of(module.key)].insert(reference);
  }

  // Returns the nearest locked call above: modules of local sources have no entry.
  std::string caller_of(std::string key) const {
    while (!key.empty()) {
      const auto dot = key.rfind('.');
      key.resize(dot == std::string::npos ? 0 : dot);
      if (const auto found = references_.find(key); found != references_.end()) {
        return found->second;
      }
    }
    return std::string(kRootReference);
  }

  void add_provider(const ProviderAddress& address, const ProviderLock& provider) {
    const std::string reference = "provider." + address.to_string();
    const std::string version = provider.version.to_string();
    Json::Value component = make_component(reference, version);
    component["group"] = address.name_space();
    component["name"] = "terraform-provider-" + address.type();
    component["purl"] = package_url(address, version);
    add_property(component, "source", address.to_string());
    if (!provider.constraints.empty()) {
      add_property(component, "constraints", provider.constraints);
    }
    add_hashes(component, provider.hashes);
    components_.append(std::move(component));
    needs_[std::string(kRootReference)].insert(reference);
  }

  Json::Value dependencies() const {
    Json::Value all(Json::arrayValue);
    for (const auto& [reference, needed] : needs_) {
      Json::Value& one = all.append(Json::objectValue);
      one["ref"] = reference;
      for (const std::string& other : needed) {
        if (other != reference) {
          one["dependsOn"].append(other);
        }
      }
    }
    return all;
  }

  // Returns a UUID of version 8 (RFC 9562) from the bits of a hash.
  static std::string serial_number(const Json::Value& bill) {
    std::string digits = sha256_hex(write_json(bill)).substr(0, 32);
    digits[12] = '8';
    digits[16] = "89ab"[static_cast<unsigned char>(digits[16]) % 4];
    for (const std::size_t at : {20U, 16U, 12U, 8U}) {
      digits.insert(at, "-");
    }
    return "urn:uuid:" + digits;
  }

  Json::Value components_ = Json::arrayValue;
  std::map<std::tuple<std::string, std::string, std::vector<std::string>>, Json::ArrayIndex> by_package_;
  std::map<std::string, std::string> references_;  // of a call's component
  std::map<std::string, std::set<std::string>> needs_ = {{std::string(kRootReference), {}}};
};

}  // namespace

Json::Value bill_of_materials(const LockFile& lock, const std::string& name,
                              const std::map<std::string, std::string>& files) {
  return Bill(lock).finish(name, files);
}

}  // namespace modlock
