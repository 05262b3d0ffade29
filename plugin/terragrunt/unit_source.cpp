#include "plugin/terragrunt/unit_source.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "backends/address/go_url.h"
#include "backends/base/collections.h"
#include "backends/base/digest.h"
#include "backends/base/environment.h"
#include "backends/base/files.h"
#include "backends/base/process.h"
#include "plugin/config/config_files.h"
#include "plugin/config/confined_files.h"
#include "plugin/config/roots.h"
#include "plugin/eval/evaluate.h"
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

using eval::Call;
using eval::FunctionError;
using eval::FunctionResult;
using eval::Value;

constexpr int kMaxReads = 8;  // of files that are read by files

// What functions of Terragrunt know: the file that is evaluated, besides the files that functions of OpenTofu read.
class UnitAccess final : public eval::FileAccess {
 public:
  UnitAccess(fs::path unit, fs::path repository, const Documents& documents)
      : directory(unit),
        unit(std::move(unit)),
        repository(std::move(repository)),
        documents(&documents),
        files_(make_confined_files(this->unit, {this->repository.empty() ? this->unit : this->repository}, documents)) {
  }

  Result<std::string> read(const std::string& path) const override { return files_->read(path); }
  Result<bool> exists(const std::string& path) const override { return files_->exists(path); }
  Result<std::vector<std::string>> list(const std::string& path) const override { return files_->list(path); }
  std::string working_directory() const override { return files_->working_directory(); }

  fs::path directory;  // of the file
  fs::path unit;
  fs::path repository;
  const Documents* documents;
  int reads = 0;
  bool is_of_hook = false;

 private:
  std::shared_ptr<const eval::FileAccess> files_;
};

const UnitAccess& access_of(const Call& call) {
  return static_cast<const UnitAccess&>(call.files);
}

// Terragrunt may have a value, so try() must not go on with another one.
FunctionError unknown(std::string message) {
  return {.message = std::move(message), .code = Code::config_non_static};
}

// Returns nullopt if there is no such file.
Result<std::optional<hcl::ParsedFile>> read_hcl(const fs::path& path, const Documents& documents) {
  MODLOCK_TRY(const auto text, read_document(path, documents));
  if (!text) {
    return std::nullopt;
  }
  hcl::ParsedFile file = hcl::parse_native(*text, path.string());
  const auto* error = find_by(file.diagnostics, Severity::error, &Diagnostic::severity);
  return error == nullptr ? Result<std::optional<hcl::ParsedFile>>(std::move(file)) : fail(error->what);
}

const eval::Function* find_unit_function(std::string_view name);

// The names of one file.
class UnitScope final : public eval::Scope {
 public:
  UnitScope(const hcl::Body& body, const eval::FileAccess& files, const hcl::Body* values = nullptr,
            std::map<std::string, const hcl::Body*> includes = {})
      : body_(body), files_(files), values_(values), includes_(std::move(includes)) {}

  const eval::FileAccess& files() const override { return files_; }
  const eval::Function* find_function(std::string_view name) const override { return find_unit_function(name); }

  Result<Value> resolve(const eval::Reference& reference) override {
    const std::string name(reference.attribute);
    if (reference.object == "local") {
      return local_value(name);
    }
    if (reference.object == "values" && values_ != nullptr) {
      const hcl::Attribute* attribute = values_->find(name);
      return attribute == nullptr ? Result<Value>(fail(Code::config_non_static, name))
                                  : UnitScope(*values_, files_).evaluated(*attribute);
    }
    const auto* include = find_in(includes_, name == "locals" ? "" : name);
    if (reference.object != "include" || include == nullptr || *include == nullptr) {
      return fail(Code::config_non_static, std::string(reference.object));
    }
    MODLOCK_TRY(auto exposed, UnitScope(**include, files_).locals());
    return name == "locals" ? exposed.members().at("locals") : exposed;
  }

  Result<Value> evaluated(const hcl::Attribute& attribute) { return eval::evaluate(attribute.value, "", *this); }

  // Returns an object with the member `locals`.
  Result<Value> locals() {
    Value::Members members;
    const std::vector<hcl::Attribute> none;
    for (const hcl::Block& block : body_.blocks) {
      for (const hcl::Attribute& attribute : block.type == "locals" ? block.body.attributes : none) {
        MODLOCK_TRY(auto value, local_value(std::string(attribute.name)));
        members.emplace(attribute.name, std::move(value));
      }
    }
    return Value::object({{"locals", Value::object(std::move(members))}});
  }

 private:
  Result<Value> local_value(const std::string& name) {
    for (const hcl::Block& block : body_.blocks) {
      const hcl::Attribute* attribute = block.type == "locals" ? block.body.find(name) : nullptr;
      if (attribute != nullptr && open_.insert(name).second) {
        auto value = evaluated(*attribute);
        open_.erase(name);
        return value;
      }
    }
    return fail(Code::config_non_static, name);
  }

  const hcl::Body& body_;
  const eval::FileAccess& files_;
  const hcl::Body* values_;
  std::map<std::string, const hcl::Body*> includes_;
  std::set<std::string> open_;  // names that are being evaluated
};

FunctionResult value_of(const fs::path& directory) {
  return directory.empty() ? FunctionResult(tl::unexpected(unknown("the directory is not known")))
                           : Value::string(directory.string());
}

// A file above the repository is not read, and hides the ones that are not there.
FunctionResult find_in_parent_folders(const Call& call) {
  const UnitAccess& files = access_of(call);
  const std::string name = call.arguments.empty() ? "terragrunt.hcl" : call.arguments[0].as_string();
  for (fs::path at = files.directory; at != at.parent_path();) {
    at = at.parent_path();
    if (files.documents->count((at / name).lexically_normal()) != 0 || path_exists(at / name)) {
      return confine(at / name, {files.repository}) ? FunctionResult(Value::string((at / name).string()))
                                                    : tl::unexpected(unknown("the file is not in the repository"));
    }
  }
  return call.arguments.size() == 2 ? FunctionResult(call.arguments[1]) : tl::unexpected(unknown("file not found"));
}

FunctionResult read_terragrunt_config(const Call& call) {
  UnitAccess files = access_of(call);
  const fs::path path =
      (files.directory / (call.arguments.empty() ? "" : call.arguments[0].as_string())).lexically_normal();
  if (call.arguments.size() != 1 || ++files.reads > kMaxReads || !confine(path, {files.repository})) {
    return tl::unexpected(unknown("the file is not read"));
  }
  files.directory = path.parent_path();
  const auto file = read_hcl(path, *files.documents);
  auto locals = file && *file ? UnitScope((*file)->body, files).locals() : fail(Code::not_found, path.string());
  return locals ? FunctionResult(std::move(*locals)) : tl::unexpected(unknown("its locals are not known"));
}

FunctionResult no_value(const Call& /*call*/) {
  return tl::unexpected(unknown("only Terragrunt has its value"));
}

FunctionResult in_hook(const Call& call, std::optional<Value> value) {
  return access_of(call).is_of_hook && value ? FunctionResult(std::move(*value)) : no_value(call);
}

const eval::Function* find_unit_function(std::string_view name) {
  const eval::Parameter any{.name = "arguments"};
  const eval::Parameter texts{"arguments", eval::Type::string()};
  static const std::array<eval::Function, 10> functions = {{
      {"get_repo_root", {}, [](const Call& call) { return value_of(access_of(call).repository); }},
      {"get_terragrunt_dir", {}, [](const Call& call) { return value_of(access_of(call).directory); }},
      {"get_original_terragrunt_dir", {}, [](const Call& call) { return value_of(access_of(call).unit); }},
      {"find_in_parent_folders", {}, find_in_parent_folders, texts},
      {"read_terragrunt_config", {}, read_terragrunt_config, texts},
      {"get_working_dir", {}, [](const Call& call) { return in_hook(call, Value::string("")); }},
      {"get_terraform_cli_args", {}, [](const Call& call) { return in_hook(call, Value::tuple({})); }},
      {"get_terragrunt_source_cli_flag", {}, [](const Call& call) { return in_hook(call, Value::string("")); }},
      {"get_env",
       {},
       [](const Call& call) {
         return in_hook(call, call.arguments.size() == 2 ? std::optional(call.arguments[1]) : std::nullopt);
       },
       texts},
      {"", {}, no_value, any},
  }};
  return std::find_if(functions.begin(), functions.end() - 1,
                      [&](const eval::Function& function) { return function.name == name; });
}

std::optional<Value> without_null(Result<Value> value) {
  return value && !value->is_null() ? std::optional(std::move(*value)) : std::nullopt;
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

fs::path find_downloaded_source(const fs::path& working_directory) {
  for (fs::path directory = working_directory; directory != directory.parent_path();
       directory = directory.parent_path()) {
    if (path_exists(directory / kVersionFile)) {
      return directory;
    }
  }
  return working_directory;
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
  const std::string written = string_member(terraform, "source").value_or("");
  const std::string version = string_member(terraform, "version").value_or("");
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
    const hcl::Body& terraform = block_in(file.parsed.body, "terraform");
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

std::optional<Value> constant_of(const hcl::Attribute* attribute) {
  return attribute == nullptr ? std::nullopt : without_null(eval::constant_value(attribute->value, false, ""));
}

std::optional<std::string> text_in(const std::optional<Value>& value) {
  const bool is_text = value && value->is(eval::Type::Kind::string) && !value->is_null();
  return is_text ? std::optional(value->as_string()) : std::nullopt;
}

std::vector<std::string> texts_in(const std::optional<Value>& value) {
  std::vector<std::string> texts;
  for (const Value& item : value && value->is(eval::Type::Kind::tuple) ? value->items() : Value::Items()) {
    texts.push_back(text_in(item).value_or(""));
  }
  return texts;
}

const hcl::Body& block_in(const hcl::Body& body, std::string_view type) {
  static const hcl::Body kNone;
  const hcl::Block* block = find_by(body.blocks, type, &hcl::Block::type);
  return block == nullptr ? kNone : block->body;
}

Result<UnitConfig> UnitConfig::read(const fs::path& unit, const fs::path& repository, const Documents& documents) {
  UnitConfig config;
  config.access_ = std::make_shared<UnitAccess>(unit, repository, documents);
  MODLOCK_TRY(auto own, read_hcl(unit / "terragrunt.hcl", documents));
  if (!own) {
    return config;
  }
  MODLOCK_TRY(auto values, read_hcl(unit / "terragrunt.values.hcl", documents));
  config.values_ = values ? std::move(*values) : hcl::ParsedFile();
  MODLOCK_TRY(auto autoinclude, read_hcl(unit / "terragrunt.autoinclude.hcl", documents));
  if (autoinclude) {
    config.files_.push_back({unit / "terragrunt.autoinclude.hcl", *std::move(autoinclude)});
  }
  config.files_.push_back({unit / "terragrunt.hcl", *std::move(own)});
  config.read_includes();
  return config;
}

// Included files include no others. Those that are not merged may still be exposed.
void UnitConfig::read_includes() {
  const auto& access = static_cast<const UnitAccess&>(*access_);
  const hcl::Body& unit = files_.back().parsed.body;
  std::vector<UnitFile> included;
  for (const hcl::Block& block : unit.blocks) {
    if (block.type != "include") {
      continue;
    }
    UnitFile file{.label = block.labels.empty() ? "" : block.labels.front().text};
    const auto text_of = [&](const char* name) {
      const hcl::Attribute* written = block.body.find(name);
      return written == nullptr ? std::nullopt
                                : text_in(without_null(UnitScope(unit, access, &values_.body).evaluated(*written)));
    };
    const auto path = text_of("path");
    const fs::path place = path ? (access.unit / *path).lexically_normal() : fs::path();
    if (auto read = confine(place, {access.repository}) ? read_hcl(place, *access.documents) : std::nullopt;
        read && *read) {
      file.path = place;
      file.parsed = **std::move(read);
    }
    const auto strategy = text_of("merge_strategy");
    if (!strategy && block.body.find("merge_strategy") != nullptr) {
      file = {.label = file.label};  // not known whether it is merged
    }
    (strategy != "no_merge" ? included : exposed_).push_back(std::move(file));
  }
  std::move(included.rbegin(), included.rend(), std::back_inserter(files_));
}

std::optional<Value> UnitConfig::value_of(const UnitFile& file, const hcl::Attribute* attribute,
                                          bool is_of_hook) const {
  if (attribute == nullptr) {
    return std::nullopt;
  }
  std::map<std::string, const hcl::Body*> includes;
  UnitAccess access = static_cast<const UnitAccess&>(*access_);
  access.is_of_hook = is_of_hook;
  const bool is_own = file.path.parent_path() == access.unit;
  for (const auto* group : {&files_, &exposed_}) {
    for (const UnitFile& one : *group) {
      if (is_own && one.label) {
        includes.emplace(*one.label, one.path.empty() ? nullptr : &one.parsed.body);
      }
    }
  }
  return without_null(UnitScope(file.parsed.body, access, &values_.body, std::move(includes)).evaluated(*attribute));
}

}  // namespace modlock::terragrunt
