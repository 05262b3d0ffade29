#include "plugin/config/state_providers.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <utility>

#include "plugin/config/roots.h"
#include "plugin/config/traversal.h"
#include "plugin/hcl/characters.h"
#include "plugin/hcl/value.h"
#include "protocol/base/json.h"
#include "protocol/base/result.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;
using Steps = std::vector<Traversal::Step>;

tl::unexpected<Error> no_address(const std::string& text) {
  return fail(Code::source_invalid,
              fmt::format("expected provider[\"host/namespace/type\"], found {}", hcl::quoted_for_message(text)));
}

// The index of "provider": after the modules, which have no keys.
std::size_t provider_at(const Steps& steps) {
  std::size_t at = 0;
  while (at + 1 < steps.size() && !steps[at].key && steps[at].name == "module" && !steps[at + 1].key) {
    at += 2;
  }
  return at;
}

// After the provider: an alias, then the key of an instance.
bool is_tail(const Steps& steps, std::size_t at) {
  const std::size_t rest = steps.size() - at;
  return rest == 0 || (!steps[at].key && (rest == 1 || (rest == 2 && steps[at + 1].key)));
}

// The provider in a state's `module.a.provider["registry.opentofu.org/hashicorp/aws"].west["key"]`, and in the form of
// Terraform 0.12, `provider.aws`: a legacy address, or the built-in one. Errors: SOURCE_INVALID.
Result<ProviderAddress> parse_state_provider(const std::string& text, std::string_view default_host) {
  hcl::Expression expression;
  expression.node = hcl::JsonString{.text = text, .shifts = {}};
  const auto traversal = read_traversal(expression, {});
  if (!traversal) {
    return no_address(text);
  }
  const Steps& steps = traversal->steps;
  const std::size_t at = provider_at(steps);
  if (at + 1 >= steps.size() || steps[at].key || steps[at].name != "provider" || !is_tail(steps, at + 2)) {
    return no_address(text);
  }
  const Traversal::Step& provider = steps[at + 1];
  if (!provider.key) {
    return provider.name == "terraform" ? ProviderAddress::implied(provider.name, default_host)
                                        : ProviderAddress::parse("-/" + provider.name, default_host);
  }
  if (provider.name.size() < 2 || provider.name.front() != '"') {
    return no_address(text);
  }
  return ProviderAddress::parse(std::string_view(provider.name).substr(1, provider.name.size() - 2), default_host);
}

// The member, or null if there is none or `value` is not an object.
const Json::Value& member(const Json::Value& value, const char* name) {
  return value.isObject() ? value[name] : Json::Value::nullSingleton();
}

std::string text_of(const Json::Value& value, const char* name) {
  return string_member(value, name).value_or(std::string());
}

Error broken_state(const std::string& path, std::string reason) {
  return {.code = Code::config_parse,
          .message = fmt::format("the state file \"{}\" cannot be used: {}", path, reason),
          .location = Location{path, std::nullopt},
          .hint = "restore the file from a backup, or convert it to the current format with the client that wrote it"};
}

// nullopt: the file does not exist, or is empty.
Result<std::optional<Json::Value>> read_json(const fs::path& file, const std::string& name,
                                             const Documents& documents) {
  MODLOCK_TRY(auto text, read_document(document_path(file), documents, std::string::npos));
  if (!text || text->empty()) {
    return std::nullopt;
  }
  auto json = parse_json(*text);
  if (!json) {
    return fail(broken_state(name, json.error().message));
  }
  return std::optional<Json::Value>(std::move(*json));
}

class StateReader {
 public:
  StateReader(std::string path, ClientKind tool, const std::vector<ProviderAddress>& required)
      : path_(std::move(path)), tool_(tool), required_(required.begin(), required.end()) {}

  Result<StateProviders> read(const Json::Value& state) {
    const Json::Value& version = member(state, "version");
    if (version.isNull() && !text_of(state, "encryption_version").empty()) {
      return StateProviders{.providers = {}, .unreadable = fmt::format("the state file \"{}\" is encrypted", path_)};
    }
    const Json::UInt64 format = version.isUInt64() ? version.asUInt64() : 0;
    if (format >= 1 && format <= 3) {
      return StateProviders{.providers = {},
                            .unreadable = fmt::format("the state file \"{}\" has the format {} of Terraform 0.11 or "
                                                      "older",
                                                      path_, format)};
    }
    if (format != 4) {
      return fail(broken_state(path_, fmt::format("expected the format version 4, found {}",
                                                  version.isNull() ? "none" : write_json(version))));
    }
    const Json::Value& resources = member(state, "resources");
    if (!resources.isNull() && !resources.isArray()) {
      return fail(broken_state(path_, "\"resources\" is not an array"));
    }
    for (const Json::Value& resource : resources) {
      MODLOCK_TRY(add_resource(resource));
    }
    for (auto& [address, requirement] : found_) {
      result_.providers.push_back(std::move(requirement));
    }
    return std::move(result_);
  }

 private:
  Result<void> add_resource(const Json::Value& resource) {
    const std::string mode = text_of(resource, "mode");
    if (mode != "managed" && mode != "data") {
      return fail(broken_state(path_, fmt::format("a resource has the invalid mode \"{}\"", mode)));
    }
    const std::string module = text_of(resource, "module");
    const std::string by = fmt::format("{}{}{}{}.{}", module, module.empty() ? "" : ".", mode == "data" ? "data." : "",
                                       text_of(resource, "type"), text_of(resource, "name"));
    if (const std::string provider = text_of(resource, "provider"); !provider.empty()) {
      return add_provider(provider, by);
    }
    const Json::Value& instances = member(resource, "instances");
    if (!instances.isNull() && !instances.isArray()) {
      return fail(broken_state(path_, fmt::format("the instances of {} are not an array", by)));
    }
    for (const Json::Value& instance : instances) {
      const std::string provider = text_of(instance, "provider");
      if (provider.empty()) {
        return fail(broken_state(path_, fmt::format("{} names no provider", by)));
      }
      MODLOCK_TRY(add_provider(provider, by));
    }
    return {};
  }

  Result<void> add_provider(const std::string& text, const std::string& by) {
    if (!seen_.insert(text).second) {
      return {};
    }
    auto address = parse_state_provider(text, default_registry(tool_));
    if (!address) {
      return fail(
          broken_state(path_, fmt::format("{} has an invalid provider address: {}", by, address.error().message)));
    }
    translate(*address);
    if (address->is_legacy()) {
      result_.diagnostics.push_back(
          {Severity::error,
           Error{.code = Code::config_parse,
                 .message = fmt::format("Invalid legacy provider address: the state of {} names the provider \"{}\" "
                                        "without a namespace",
                                        by, address->type()),
                 .location = Location{path_, std::nullopt},
                 .hint = "complete the upgrade to Terraform 0.13 first, which records the namespaces"}});
    }
    found_.emplace(*address, ProviderRequirement{.address = *address,
                                                 .local_name = address->type(),
                                                 .origin = ProviderRequirement::DeclaredBy::state,
                                                 .by = by,
                                                 .location = Location{path_, std::nullopt}});
    return {};
  }

  // OpenTofu translates the addresses that Terraform recorded, unless the configuration itself names Terraform's
  // registry.
  void translate(ProviderAddress& address) const {
    if (tool_ != ClientKind::opentofu || address.host_ascii() != kTerraformRegistry || required_.count(address) != 0) {
      return;
    }
    const auto translated =
        ProviderAddress::parse(fmt::format("{}/{}", address.name_space(), address.type()), kOpenTofuRegistry);
    if (translated) {
      address = *translated;
    }
  }

  std::string path_;
  ClientKind tool_;
  std::set<ProviderAddress> required_;
  std::set<std::string> seen_;  // texts that were read
  std::map<ProviderAddress, ProviderRequirement> found_;
  StateProviders result_;
};

// Returns why the state cannot be read, or an empty text. Fills in missing backend arguments from the evaluated ones
// that the last "init" recorded.
std::string complete_storage(StateStorage& storage, const Json::Value& recorded) {
  if (storage.backend == "cloud") {
    return "the state is kept by the service that the cloud block names";
  }
  if (storage.backend != "local") {
    return fmt::format("the state is kept by the backend \"{}\"", storage.backend);
  }
  const Json::Value& backend = member(recorded, "backend");
  const std::string type = text_of(backend, "type");
  if (!type.empty() && type != "local") {
    return fmt::format("the state is still kept by the backend \"{}\", which the last \"init\" used", type);
  }
  if (type.empty() && !storage.written_out) {
    return "the location of the state is an expression, and no \"init\" recorded its value";
  }
  const Json::Value& arguments = member(backend, "config");
  for (const auto& [name, argument] : {std::pair("path", &storage.path), {"workspace_dir", &storage.workspace_dir}}) {
    if (const std::string text = text_of(arguments, name); !*argument && !text.empty()) {
      *argument = text;
    }
  }
  return {};
}

fs::path state_file(const fs::path& root, const StateStorage& storage, const std::string& workspace) {
  constexpr const char* kStateName = "terraform.tfstate";
  if (workspace.empty() || workspace == "default") {
    return root / storage.path.value_or(kStateName);
  }
  return root / storage.workspace_dir.value_or("terraform.tfstate.d") / workspace / kStateName;
}

}  // namespace

Result<StateProviders> read_state_providers(const fs::path& root, const StateStorage& storage,
                                            const fs::path& data_directory, const std::string& workspace,
                                            ClientKind tool, const std::vector<ProviderAddress>& required,
                                            const Documents& documents, const std::vector<fs::path>& bounds) {
  const fs::path record = data_directory / "terraform.tfstate";
  MODLOCK_TRY(const auto recorded, read_json(record, relative_to_root(record, root), documents));
  StateStorage complete = storage;
  std::string unreadable = complete_storage(complete, recorded.value_or(Json::Value()));
  if (!unreadable.empty()) {
    return StateProviders{.providers = {}, .unreadable = std::move(unreadable)};
  }
  const fs::path file = state_file(root, complete, workspace);
  const std::string name = relative_to_root(file, root);
  if (const auto place = confine(file, bounds); !place) {
    if (place.error().code != Code::path_outside_root) {
      return fail(place.error());
    }
    return StateProviders{
        .providers = {},
        .unreadable = fmt::format("the state file \"{}\" is outside of the directories that may be read", name)};
  }
  MODLOCK_TRY(const auto state, read_json(file, name, documents));
  if (!state) {
    return StateProviders{};
  }
  return StateReader(name, tool, required).read(*state);
}

namespace {

void take_argument(const hcl::Block& block, const ConfigText& file, std::string_view name,
                   std::optional<std::string>& out, StateStorage& storage) {
  const hcl::Attribute* attribute = block.body.find(name);
  if (attribute == nullptr) {
    return;
  }
  const auto value = hcl::static_value(attribute->value, file.path);
  if (value && value->as_string() != nullptr) {
    out = *value->as_string();
  } else if (!value || !value->is_null()) {
    storage.written_out = false;
  }
}

StateStorage read_backend(const hcl::Block& block, const ConfigText& file) {
  StateStorage storage{.backend = block.type == "cloud" ? "cloud" : block.labels.front().text,
                       .location = {file.path, block.header_range}};
  if (storage.backend == "local") {
    take_argument(block, file, "path", storage.path, storage);
    take_argument(block, file, "workspace_dir", storage.workspace_dir, storage);
  }
  return storage;
}

}  // namespace

StateStorage read_state_storage(const std::vector<ConfigText>& files) {
  StateStorage storage;
  bool found = false;
  for (const auto role : {ConfigFile::Role::primary, ConfigFile::Role::override_file}) {
    for_each_block(files, role, "terraform", [&](const ConfigText& file, const hcl::Block& block) {
      for (const hcl::Block& inner : block.body.blocks) {
        const bool keeps_state = inner.type == "cloud" || (inner.type == "backend" && inner.labels.size() == 1);
        if (keeps_state && (role == ConfigFile::Role::override_file || !found)) {
          storage = read_backend(inner, file);
          found = true;
        }
      }
    });
  }
  return storage;
}

}  // namespace modlock
