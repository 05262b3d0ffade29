#include "plugin/terragrunt/unit_config.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "plugin/config/config_files.h"
#include "plugin/config/confined_files.h"
#include "plugin/config/roots.h"
#include "plugin/eval/evaluate.h"
#include "plugin/hcl/parser.h"
#include "protocol/base/result.h"

namespace modlock::terragrunt {
namespace {

namespace fs = std::filesystem;

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
Result<std::optional<hcl::Body>> read_body(const fs::path& path, const Documents& documents) {
  MODLOCK_TRY(const auto text, read_document(path, documents));
  if (!text) {
    return std::nullopt;
  }
  hcl::ParsedFile file = hcl::parse_native(*text, path.string());
  const auto error = std::find_if(file.diagnostics.begin(), file.diagnostics.end(),
                                  [](const Diagnostic& one) { return one.severity == Severity::error; });
  if (error != file.diagnostics.end()) {
    return fail(error->what);
  }
  return std::move(file.body);
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
    const auto include = includes_.find(name == "locals" ? "" : name);
    if (reference.object != "include" || include == includes_.end() || include->second == nullptr) {
      return fail(Code::config_non_static, std::string(reference.object));
    }
    MODLOCK_TRY(auto exposed, UnitScope(*include->second, files_).locals());
    return include->first.empty() ? exposed.members().at("locals") : exposed;
  }

  Result<Value> evaluated(const hcl::Attribute& attribute) { return eval::evaluate(attribute.value, "", *this); }

  // Returns an object with the member `locals`.
  Result<Value> locals() {
    Value::Members members;
    const std::vector<hcl::Attribute> none;
    for (const hcl::Block& block : body_.blocks) {
      for (const hcl::Attribute& attribute : block.type == "locals" ? block.body.attributes : none) {
        MODLOCK_TRY(auto value, local_value(attribute.name));
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
  std::error_code ignored;
  for (fs::path at = files.directory; at != at.parent_path();) {
    at = at.parent_path();
    if (files.documents->count((at / name).lexically_normal()) != 0 || fs::exists(at / name, ignored)) {
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
  const auto body = read_body(path, *files.documents);
  auto locals = body && *body ? UnitScope(**body, files).locals() : fail(Code::not_found, path.string());
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
  const auto block =
      std::find_if(body.blocks.begin(), body.blocks.end(), [&](const hcl::Block& one) { return one.type == type; });
  return block == body.blocks.end() ? kNone : block->body;
}

Result<UnitConfig> UnitConfig::read(const fs::path& unit, const fs::path& repository, const Documents& documents) {
  UnitConfig config;
  config.access_ = std::make_shared<UnitAccess>(unit, repository, documents);
  MODLOCK_TRY(auto own, read_body(unit / "terragrunt.hcl", documents));
  if (!own) {
    return config;
  }
  MODLOCK_TRY(auto values, read_body(unit / "terragrunt.values.hcl", documents));
  config.values_ = values ? std::move(*values) : hcl::Body();
  MODLOCK_TRY(auto autoinclude, read_body(unit / "terragrunt.autoinclude.hcl", documents));
  if (autoinclude) {
    config.files_.push_back({unit / "terragrunt.autoinclude.hcl", std::move(*autoinclude)});
  }
  config.files_.push_back({unit / "terragrunt.hcl", std::move(*own)});
  config.read_includes();
  return config;
}

// Included files include no others. Those that are not merged may still be exposed.
void UnitConfig::read_includes() {
  const auto& access = static_cast<const UnitAccess&>(*access_);
  const hcl::Body& unit = files_.back().body;
  std::vector<UnitFile> included;
  for (const hcl::Block& block : unit.blocks) {
    if (block.type != "include") {
      continue;
    }
    UnitFile file{.label = block.labels.empty() ? "" : block.labels.front().text};
    const auto text_of = [&](const char* name) {
      const hcl::Attribute* written = block.body.find(name);
      return written == nullptr ? std::nullopt
                                : text_in(without_null(UnitScope(unit, access, &values_).evaluated(*written)));
    };
    const auto path = text_of("path");
    const fs::path place = path ? (access.unit / *path).lexically_normal() : fs::path();
    if (auto body = confine(place, {access.repository}) ? read_body(place, *access.documents) : std::nullopt;
        body && *body) {
      file.path = place;
      file.body = std::move(**body);
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
        includes.emplace(*one.label, one.path.empty() ? nullptr : &one.body);
      }
    }
  }
  return without_null(UnitScope(file.body, access, &values_, std::move(includes)).evaluated(*attribute));
}

}  // namespace modlock::terragrunt
