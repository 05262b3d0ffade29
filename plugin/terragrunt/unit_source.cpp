#include "plugin/terragrunt/unit_source.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

#include "backends/address/go_url.h"
#include "backends/base/digest.h"
#include "backends/base/environment.h"
#include "backends/base/files.h"
#include "plugin/eval/evaluate.h"
#include "plugin/hcl/parser.h"
#include "plugin/update/text_origin.h"
#include "protocol/base/result.h"

namespace modlock::terragrunt {
namespace {

namespace fs = std::filesystem;

constexpr std::array<const char*, 2> kReplacements = {"TG_SOURCE", "TERRAGRUNT_SOURCE"};
constexpr std::string_view kRegistryScheme = "tfr://";

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

// Replaces a function call without arguments with a text.
void give_value(std::string& text, std::string_view call, const fs::path& value) {
  const std::string literal = "\"" + spell(value.string(), Quoting::quoted) + "\"";
  for (std::size_t at = text.find(call); at != std::string::npos; at = text.find(call, at + literal.size())) {
    text.replace(at, call.size(), literal);
  }
}

// Returns nullopt if there is no such file.
Result<std::optional<hcl::ParsedFile>> read_hcl(const fs::path& path, const fs::path& repository) {
  auto text = read_file(path);
  if (!text) {
    if (text.error().code == Code::not_found) {
      return std::nullopt;
    }
    return fail(text.error());
  }
  if (!repository.empty()) {
    give_value(*text, "get_repo_root()", repository);
    give_value(*text, "get_terragrunt_dir()", path.parent_path());
  }
  hcl::ParsedFile file = hcl::parse_native(*text, path.string());
  const auto error = std::find_if(file.diagnostics.begin(), file.diagnostics.end(),
                                  [](const Diagnostic& one) { return one.severity == Severity::error; });
  if (error != file.diagnostics.end()) {
    return fail(error->what);
  }
  return file;
}

const hcl::Block* find_block(const hcl::Body& body, std::string_view type) {
  const auto block =
      std::find_if(body.blocks.begin(), body.blocks.end(), [&](const hcl::Block& one) { return one.type == type; });
  return block == body.blocks.end() ? nullptr : &*block;
}

// Returns the members that have a value without any function; each may use earlier ones.
eval::Value::Members values_of(const hcl::Body& body, const std::string& object, eval::Value::Members variables) {
  eval::Value::Members known;
  for (std::size_t before = known.size() + 1; before != known.size();) {
    before = known.size();
    for (const hcl::Attribute& attribute : body.attributes) {
      variables.insert_or_assign(object, eval::Value::object(known));
      if (auto value = eval::constant_value(attribute.value, false, "", variables);
          value && !known.count(attribute.name)) {
        known.emplace(attribute.name, std::move(*value));
      }
    }
  }
  variables.insert_or_assign(object, eval::Value::object(known));
  return variables;
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

// Returns whether the environment gives all units another source.
bool is_source_replaced() {
  return std::any_of(kReplacements.begin(), kReplacements.end(),
                     [](const char* name) { return !environment_variable(name).empty(); });
}

}  // namespace

std::optional<eval::Value> value_of(const hcl::Attribute* attribute, const eval::Value::Members& variables) {
  auto value = attribute == nullptr ? fail(Code::not_found, "none")
                                    : eval::constant_value(attribute->value, false, "", variables);
  return value && !value->is_null() ? std::optional(std::move(*value)) : std::nullopt;
}

std::optional<std::string> text_of(const hcl::Attribute* attribute, const eval::Value::Members& variables) {
  const auto value = value_of(attribute, variables);
  return value && value->is(eval::Type::Kind::string) ? std::optional(value->as_string()) : std::nullopt;
}

std::optional<DownloadName> download_name(const FoundSource& found) {
  std::string text = found.written;
  const bool is_of_registry = text.starts_with(kRegistryScheme);
  if (!is_of_registry) {
    const auto address = parse_source(text);
    text = address && address->source.is_remote() ? address->normalised.reveal() : "";
  }
  const std::size_t scheme = text.find("://");
  const std::string query = text.substr(std::min(text.find('?'), text.size()));
  const bool is_chosen = is_of_registry && found.source && found.source->version && query.empty();
  if (scheme == std::string::npos || is_chosen) {
    return std::nullopt;
  }
  text.resize(text.size() - query.size());
  text.resize(std::min(text.find("//", scheme + 3), text.size()));
  return DownloadName{encode(text),
                      encode(encode_query(parse_query(query.substr(std::min<std::size_t>(1, query.size())))))};
}

Result<FoundSource> find_unit_source(const fs::path& unit, const std::string& named, ClientKind tool,
                                     const fs::path& repository) {
  fs::path path = unit / "terragrunt.hcl";
  if (named == ".") {
    return FoundSource();  // Terragrunt's word for a unit without a source
  }
  if (!named.empty()) {
    return FoundSource{.source = from_terragrunt(named, std::nullopt, {path.string(), std::nullopt}, tool),
                       .written = named};
  }
  MODLOCK_TRY(const auto file, read_hcl(path, repository));
  if (!file || is_source_replaced()) {
    return FoundSource{.is_known = false};
  }
  MODLOCK_TRY(const auto values, read_hcl(unit / "terragrunt.values.hcl", repository));
  const hcl::Block* terraform = find_block(file->body, "terraform");
  const hcl::Attribute* source = terraform == nullptr ? nullptr : terraform->body.find("source");
  // Terragrunt includes this file of a generated unit by itself. It wins.
  const fs::path autoinclude = unit / "terragrunt.autoinclude.hcl";
  MODLOCK_TRY(const auto included, read_hcl(autoinclude, repository));
  const hcl::Block* replacing = included ? find_block(included->body, "terraform") : nullptr;
  if (replacing != nullptr && replacing->body.find("source") != nullptr) {
    terraform = replacing;
    source = replacing->body.find("source");
    path = autoinclude;
  }
  if (source == nullptr) {
    return FoundSource{.is_known = find_block(file->body, "include") == nullptr};
  }
  const hcl::Body none;
  eval::Value::Members variables = values_of(values ? values->body : none, "values", {});
  if (const hcl::Block* locals = find_block(file->body, "locals")) {
    variables = values_of(locals->body, "local", std::move(variables));
  }
  auto text = text_of(source, variables);
  if (!text) {
    return FoundSource{.is_known = false};
  }
  return FoundSource{.source = from_terragrunt(*text, text_of(terraform->body.find("version"), variables),
                                               {path.string(), source->value.range}, tool),
                     .written = *text};
}

}  // namespace modlock::terragrunt
