#include "plugin/diff/module_facts.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "backends/address/source.h"
#include "backends/base/ascii.h"
#include "backends/base/digest.h"
#include "plugin/config/core_requirement.h"
#include "plugin/diff/addresses.h"
#include "plugin/diff/canonical_text.h"
#include "plugin/diff/meaning.h"

namespace modlock {
namespace {

// Data sources that run a program, send a request, or read a file or another state.
constexpr std::string_view kCodeData =
    "external http terraform_remote_state tfe_outputs local_file local_sensitive_file local_command "
    "shell_script aws_lambda_invocation google_cloud_run dns_txt_record_set git_repository";
// Data sources that read secrets.
constexpr std::string_view kSecretData =
    "aws_secretsmanager_secret_version aws_secretsmanager_random_password aws_ssm_parameter "
    "aws_ssm_parameters_by_path aws_kms_secrets google_secret_manager_secret_version "
    "azurerm_key_vault_secret vault_generic_secret kubernetes_secret";
// Resources that write to the machine that applies, or run code elsewhere at apply.
constexpr std::string_view kCodeResources =
    "local_file local_sensitive_file template_dir local_command shell_script shell_sensitive_script "
    "ssh_resource ansible_playbook aws_lambda_invocation aws_ssm_association aws_ssm_document "
    "aws_cloudformation_stack helm_release kubectl_manifest azurerm_virtual_machine_extension "
    "azurerm_virtual_machine_run_command azurerm_resource_deployment_script_azure_cli";
// Resources that give someone access, or copy data elsewhere.
constexpr std::string_view kAccessResources =
    "aws_iam_access_key aws_iam_user aws_iam_user_login_profile aws_iam_service_specific_credential "
    "aws_key_pair aws_s3_bucket_replication_configuration aws_s3_access_point "
    "aws_cloudwatch_log_subscription_filter aws_cloudwatch_log_destination_policy aws_db_snapshot_copy "
    "aws_ami_launch_permission aws_snapshot_create_volume_permission aws_ram_principal_association "
    "aws_kms_grant aws_lambda_function_url google_service_account_key azuread_application_password";
constexpr std::string_view kKnownBlocks =
    "action check data ephemeral import language locals module moved output provider removed resource "
    "variable terraform required_providers list";
// Functions whose first argument is a path.
constexpr std::string_view kFileFunctions =
    "file filebase64 fileexists fileset filemd5 filesha1 filesha256 filesha512 templatefile pathexpand "
    "filebase64sha256 filebase64sha512 file_exists abspath";

class FactReader {
 public:
  FactReader(const PackageText& package, MeaningReader meanings, const Context& context)
      : package_(package), context_(context), meanings_(std::move(meanings)) {}

  Result<std::vector<Fact>> read() {
    for (const auto& [directory, module] : package_.modules) {
      module_ = &module;
      subject_ = module.scope;
      read_files();
      read_providers();
      for (const MergedBlock& block : module.blocks) {
        MODLOCK_TRY(context_.check());
        read_block(block);
      }
      for (const auto& [name, argument] : module.locals) {
        MODLOCK_TRY(context_.check());
        subject_ = module.scope + "local." + name;
        read_expression(*argument.file, argument.attribute->value, "local");
      }
    }
    for (const auto& [type, count] : types_) {
      add(FactKind::resource_type, type, std::to_string(count), std::to_string(count), {}, "");
    }
    return std::move(facts_);
  }

 private:
  static Location at(const ConfigText& file, const Range& range) { return {file.path, range}; }
  static Location at(const MergedBlock& block) { return at(*block.file, block.block->header_range); }
  static Location at(const Argument& argument) { return at(*argument.file, argument.attribute->range()); }

  // `scope`: of the module that the name belongs to, "" for names of the whole package.
  void add(FactKind kind, const std::string& name, std::string value, std::string shown, Location location,
           const std::string& scope) {
    std::string full = scope + name;
    if (const std::size_t count = ++names_[{kind, full}]; count > 1) {
      full += fmt::format(" #{}", count);
    }
    facts_.push_back({kind, std::move(full), std::move(value), std::move(shown), std::move(location), subject_});
  }
  void add(FactKind kind, const std::string& name, std::string value, std::string shown, Location location) {
    add(kind, name, std::move(value), std::move(shown), std::move(location), module_->scope);
  }
  void add(FactKind kind, const std::string& name, const Meaning& value, Location location) {
    add(kind, name, value.with_files(), "", std::move(location));
    facts_.back().plain_value = value.text;
    facts_.back().files = value.files;
  }
  // A fact that several places may state: the first one counts.
  void add_once(FactKind kind, const std::string& name, std::string value, std::string shown, Location location) {
    if (names_.count({kind, name}) == 0) {
      add(kind, name, std::move(value), std::move(shown), std::move(location), "");
    }
  }

  Meaning meaning_of(const MergedBlock& block) { return meanings_.read(*module_, block); }
  std::string text_of(const Argument& argument) const {
    return canonical_text(argument.attribute->value, argument.file->path);
  }
  // The text of a flag: "" if it is not given.
  std::string flag(const MergedBlock& block, std::string_view name) const {
    const Argument* argument = block.find(name);
    return argument == nullptr ? "" : text_of(*argument);
  }

  void read_files() {
    for (const ConfigText& file : module_->files) {
      if (has_errors(file.parsed.diagnostics)) {
        add(FactKind::unreadable, file.path, sha256_hex(file.text), "", {file.path, std::nullopt}, "");
      }
    }
  }

  void read_providers() {
    for (const ProviderRequirement& provider : module_->providers) {
      const std::string address = provider.address.to_string();
      if (provider.address.is_builtin(kOpenTofuRegistry)) {
        continue;  // a part of the client
      }
      add_once(FactKind::provider, address, "", "", provider.location);
      if (provider.constraint) {
        add(FactKind::provider_constraint, address, provider.constraint->text, provider.constraint->text,
            provider.constraint->location);
      }
    }
    for (const CoreRequirement& core : read_core_requirements(module_->files, ClientKind::opentofu)) {
      add(FactKind::core_version, "required_version", core.constraint, core.constraint, core.location);
    }
  }

  void read_block(const MergedBlock& block) {
    const std::string address = block.address();
    const std::string& type = block.type;
    subject_ = module_->scope + address;
    if (type == "variable") {
      read_variable(block);
    } else if (type == "output") {
      add(FactKind::output, block.labels.empty() ? "" : block.labels[0], "", "", at(block));
      const bool is_hidden = flag(block, "sensitive") == "true";
      add(FactKind::output_sensitive, block.labels.empty() ? "" : block.labels[0], is_hidden ? "sensitive" : "plain",
          is_hidden ? "sensitive" : "plain", at(block));
    } else if (type == "module") {
      read_call(block);
    } else if (type == "resource") {
      read_resource(block, address);
    } else if (type == "data" || type == "ephemeral" || type == "action") {
      read_data(block.labels.empty() ? "" : block.labels[0], type, address, at(block), block);
    } else if (type == "provider") {
      const std::string alias = flag(block, "alias");
      add(FactKind::provider_configuration, address + (alias.empty() ? "" : " " + alias), meaning_of(block), at(block));
    } else if (type == "import" || type == "removed") {
      read_refactoring(block);
    } else if (type == "check") {
      add(FactKind::check, address, "", "", at(block));
      for (const auto& [file, inner] : block.blocks) {
        if (inner->type == "data" && inner->labels.size() == 2) {
          read_data(inner->labels[0].text, "data",
                    fmt::format("{}: data.{}.{}", address, inner->labels[0].text, inner->labels[1].text),
                    at(*file, inner->header_range), MergedBlock::of(*file, *inner));
        }
      }
    } else if (type == "terraform") {
      for (const auto& [file, inner] : block.blocks) {
        if (inner->type == "provider_meta" && !inner->labels.empty()) {
          add(FactKind::provider_meta, "provider_meta." + inner->labels[0].text,
              meaning_of(MergedBlock::of(*file, *inner)), at(*file, inner->header_range));
        }
      }
    } else if (!is_in(kKnownBlocks, type)) {
      add(FactKind::unknown_block, address, meaning_of(block), at(block));
    }
    if (type != "terraform") {
      read_expressions(block, address);
    }
    if (is_in("resource data module", type)) {
      const Argument* names = block.find("depends_on");
      add(FactKind::order, "depends_on of " + address, flag(block, "depends_on"),
          names == nullptr ? "[]" : source_text(*names->file, names->attribute->value.range), at(block));
    }
  }

  void read_variable(const MergedBlock& block) {
    const std::string name = block.labels.empty() ? "" : block.labels[0];
    const auto add_facet = [&](FactKind kind, const std::string& value) { add(kind, name, value, value, at(block)); };
    const Argument* type = block.find("type");
    std::string type_text = type == nullptr ? "any" : text_of(*type);
    std::erase(type_text, '"');
    add(FactKind::variable, name, "", type_text, at(block));
    add_facet(FactKind::variable_type, type_text);
    add_facet(FactKind::variable_required, block.find("default") == nullptr ? "required" : "optional");
    add_facet(FactKind::variable_sensitive, flag(block, "sensitive") == "true" ? "sensitive" : "plain");
    add_facet(FactKind::variable_nullable, flag(block, "nullable") == "false" ? "not nullable" : "nullable");
    if (const Argument* fallback = block.find("default")) {
      add(FactKind::variable_default, name, text_of(*fallback),
          source_text(*fallback->file, fallback->attribute->value.range), at(*fallback));
    }
    const auto validations =
        std::ranges::count_if(block.blocks, [](const auto& inner) { return inner.second->type == "validation"; });
    add_facet(FactKind::variable_validation, std::to_string(validations));
  }

  void read_call(const MergedBlock& block) {
    const std::string name = block.labels.empty() ? "" : block.labels[0];
    const Argument* source = block.find("source");
    const auto text = literal_text(source);
    const auto version = literal_text(block.find("version"));
    const std::string shown = (text ? *text : "computed") + (version ? " " + *version : "");
    add(FactKind::module_call, "module." + name, text ? *text + " " + version.value_or("") : "", shown, at(block));
    if (source != nullptr && !text) {
      add(FactKind::computed_source, "module." + name, meanings_.read(*module_, *source).text, "", at(*source));
    }
    const auto address = text ? parse_source(*text) : fail(Error{});
    const bool is_local = address && address->source.is_local();
    if (text && (!is_local || !package_.local_target(*module_, block))) {
      const std::string package = address && !is_local ? address->source.package_identity() : *text;
      add_once(FactKind::module_source, package, "", "", at(*source));
    }
  }

  void read_data(const std::string& type, const std::string& mode, const std::string& address, Location location,
                 const MergedBlock& block) {
    const bool is_code = is_in(kCodeData, type) || mode == "action";
    const FactKind kind = is_code                    ? FactKind::code_data
                          : mode == "ephemeral"      ? FactKind::ephemeral
                          : is_in(kSecretData, type) ? FactKind::secret_data
                                                     : FactKind::data_source;
    add(kind, address, kind == FactKind::data_source ? Meaning() : meaning_of(block), std::move(location));
  }

  void read_resource(const MergedBlock& block, const std::string& address) {
    const std::string type = block.labels.empty() ? "" : block.labels[0];
    ++types_[type];
    const Argument* count = block.find("count");
    const Argument* each = block.find("for_each");
    const bool is_absent =
        (count != nullptr && text_of(*count) == "0") || (each != nullptr && is_in("{} [] toset([])", text_of(*each)));
    add(FactKind::resource, address, is_absent ? "absent" : "", "", at(block));
    const bool is_code = is_in(kCodeResources, type);
    if (is_code || is_in(kAccessResources, type)) {
      add(is_code ? FactKind::code_resource : FactKind::access_resource, address, type, "", at(block));
    }
    std::string prevents = "allows";
    std::string creates = "false";
    std::size_t conditions = 0;
    for (const auto& [file, inner] : block.blocks) {
      if (inner->type == "lifecycle") {
        const hcl::Attribute* prevent = inner->body.find("prevent_destroy");
        if (prevent != nullptr && canonical_text(prevent->value, file->path) != "false") {
          prevents = "prevents";
        }
        const hcl::Attribute* create = inner->body.find("create_before_destroy");
        creates = create == nullptr ? creates : canonical_text(create->value, file->path);
        conditions += inner->body.blocks.size();
      } else if (inner->type == "provisioner" || inner->type == "connection") {
        read_provisioner(*file, *inner, address);
      }
    }
    add(FactKind::prevent_destroy, address, prevents, prevents, at(block));
    add(FactKind::order, "create_before_destroy of " + address, creates, creates, at(block));
    add(FactKind::condition, address, std::to_string(conditions), std::to_string(conditions), at(block));
  }

  void read_provisioner(const ConfigText& file, const hcl::Block& inner, const std::string& address) {
    const bool is_connection = inner.type == "connection";
    const std::string label = inner.labels.empty() ? "" : inner.labels[0].text;
    add(is_connection ? FactKind::connection : FactKind::provisioner,
        address + (is_connection ? " connection" : " " + label), meaning_of(MergedBlock::of(file, inner)),
        at(file, inner.header_range));
    for (const hcl::Block& deeper : inner.body.blocks) {
      if (deeper.type == "connection") {
        read_provisioner(file, deeper, address);
      }
    }
  }

  void read_refactoring(const MergedBlock& block) {
    const Argument* from = block.find("from");
    const Argument* to = block.find("to");
    const Argument* named = from != nullptr ? from : to;
    const std::string name = named == nullptr ? "" : fmt::format("{}", fmt::join(address_names(*named), "."));
    add(block.type == "import" ? FactKind::import : FactKind::removed, name, meaning_of(block), at(block));
    for (const auto& [file, inner] : block.blocks) {
      if (inner->type == "provisioner") {
        read_provisioner(*file, *inner, "removed " + name);
      }
    }
  }

  void read_expressions(const MergedBlock& block, const std::string& address) {
    for (const auto& [name, argument] : block.arguments) {
      read_argument(*argument.file, name, argument.attribute->value, address);
    }
    for (const auto& [file, inner] : block.blocks) {
      visit_attributes(inner->body, [&, &file = *file](const hcl::Attribute& attribute) {
        read_argument(file, attribute.name, attribute.value, address);
      });
    }
  }

  void read_argument(const ConfigText& file, std::string_view name, const hcl::Expression& value,
                     const std::string& address) {
    if (name == "description" || name == "error_message") {
      return;
    }
    if (names_principals(name)) {
      read_principal(file, value, address);
    }
    read_expression(file, value, address);
  }

  void read_expression(const ConfigText& file, const hcl::Expression& value, const std::string& address) {
    ExpressionVisit visit;
    visit.member = [&](const std::string& name, const hcl::Expression& inner) {
      if (names_principals(name)) {
        read_principal(file, inner, address);
      }
    };
    visit.text = [&](const std::string& text, const Range& range) { read_text(file, text, range, address); };
    std::optional<PathUse> paths;  // of the whole expression, for all its calls
    visit.call = [&](const std::string& name, const std::vector<std::string>& arguments, const Range& range) {
      if (!paths && is_in(kFileFunctions, name)) {
        paths = {meanings_.named_by(*module_, file, value, false).leads_outside,
                 meanings_.read({module_, &file}, value).with_files()};
      }
      read_function(file, name, arguments, range, paths.value_or(PathUse()));
    };
    canonical_text(value, file.path, visit);
  }

  static bool names_principals(std::string_view name) {
    const std::string lower = ascii::lower(name);
    return lower == "principal" || lower == "principals" || lower == "aws" || lower == "identifiers";
  }

  void read_principal(const ConfigText& file, const hcl::Expression& value, const std::string& address) {
    const std::string text = canonical_text(value, file.path);
    if (text.find("\"*\"") != std::string::npos) {
      add(FactKind::public_access, address, "*", "", at(file, value.range));
    }
  }

  void read_text(const ConfigText& file, const std::string& text, const Range& range, const std::string& address) {
    for (const std::string& found : addresses_in(text)) {
      add_once(FactKind::address, found, "", "", at(file, range));
    }
    if (text == "0.0.0.0/0" || text == "::/0") {
      add(FactKind::open_network, fmt::format("{} {}", address, text), text, "", at(file, range));
    }
    if (text == "allUsers" || text == "allAuthenticatedUsers" || text == "public-read" || text == "public-read-write") {
      add(FactKind::public_access, fmt::format("{} {}", address, text), text, "", at(file, range));
    }
  }

  struct PathUse {
    bool leads_outside = false;
    std::string meaning = {};
  };
  void read_function(const ConfigText& file, const std::string& name, const std::vector<std::string>& arguments,
                     const Range& range, const PathUse& paths) {
    const std::string first = arguments.empty() ? "" : arguments.front();
    if (name == "nonsensitive") {
      add(FactKind::nonsensitive, fmt::format("nonsensitive({})", first), first, "", at(file, range));
    } else if (name.starts_with("provider::")) {
      add(FactKind::provider_function, name, name, "", at(file, range));
    } else if (is_in(kFileFunctions, name)) {
      const bool is_outside =
          name == "pathexpand" || first.find("path.root") != std::string::npos ||
          first.find("path.cwd") != std::string::npos ||
          (first.starts_with('"') ? is_outside_path(std::string_view(first).substr(1)) : paths.leads_outside);
      if (is_outside) {
        add(FactKind::outside_path, fmt::format("{}({})", name, first), name + first + paths.meaning, "",
            at(file, range));
      }
    }
  }

  const PackageText& package_;
  const Context& context_;
  MeaningReader meanings_;
  const ModuleText* module_ = nullptr;
  std::string subject_;
  std::map<std::pair<FactKind, std::string>, std::size_t> names_;
  std::map<std::string, std::size_t> types_;
  std::vector<Fact> facts_;
};

}  // namespace

Result<std::vector<Fact>> collect_facts(const PackageText& package, MeaningReader meanings, const Context& context) {
  return FactReader(package, std::move(meanings), context).read();
}

}  // namespace modlock
