#include "plugin/client/client_configuration_providers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <set>
#include <utility>

#include "backends/address/go_url.h"
#include "backends/credentials/oci_credential_finder.h"
#include "plugin/client/hcl1.h"
#include "plugin/eval/dependencies.h"
#include "plugin/eval/evaluate.h"
#include "plugin/hcl/parser.h"
#include "plugin/value/convert.h"
#include "protocol/base/result.h"

namespace modlock {
namespace {

using hcl1::Entry;

class OciReader {
 public:
  OciReader(const hcl1::File& file, const std::filesystem::path& directory, std::string_view name,
            ClientConfiguration& out)
      : file_(file), directory_(directory), name_(name), out_(out) {}

  Diagnostics read() {
    for (const hcl1::Item& item : file_.items) {
      if (item.keys.front() == "oci_credentials") {
        report(read_credentials(item));
      } else if (item.keys.front() == "oci_default_credentials") {
        report(read_defaults(item));
      }
    }
    return std::move(warnings_);
  }

 private:
  void report(Result<void> result) {
    if (!result) {
      warnings_.push_back({Severity::warning, std::move(result.error())});
    }
  }

  std::string from(hcl1::Place at) const { return fmt::format("{}:{}", name_, at.line); }

  Result<void> read_credentials(const hcl1::Item& item) {
    if (item.is_assigned) {
      return hcl1::wrong(name_, item.at, "oci_credentials must not be followed by \"=\"");
    }
    if (!file_.is_json) {
      if (item.keys.size() != 2) {
        return hcl1::wrong(name_, item.at,
                           "oci_credentials must have one label, the registry or the start of repositories");
      }
      return read_block(item.keys[1], item.at, hcl1::entries_of(item.value.items));
    }
    MODLOCK_TRY(const auto labels, hcl1::open({{.keys = {}, .value = &item.value, .item = &item}}, file_, name_));
    if (!std::ranges::all_of(labels,
                             [](const Entry& entry) { return entry.value->kind == hcl1::Value::Kind::object; })) {
      return hcl1::wrong(name_, item.at,
                         "oci_credentials must contain one object for each registry or start of repositories");
    }
    for (const Entry& entry : labels) {
      auto body = hcl1::open({{.keys = {}, .value = entry.value, .item = entry.item}}, file_, name_);
      report(body ? read_block(entry.keys.front(), entry.item->at, *body) : fail(std::move(body.error())));
    }
    return {};
  }

  Result<void> read_block(const std::string& label, hcl1::Place at, const std::vector<Entry>& body) {
    const auto wrong = [this, at, &label](std::string_view what) {
      return hcl1::wrong(name_, at, fmt::format("oci_credentials \"{}\" {}", label, what));
    };
    if (!is_repository_prefix(label)) {
      return wrong("names no registry and no start of repositories");
    }
    std::vector<std::optional<std::string>> values;
    for (const char* argument :
         {"username", "password", "access_token", "refresh_token", "docker_credentials_helper"}) {
      MODLOCK_TRY(auto value, hcl1::string_argument(body, argument, name_));
      values.push_back(std::move(value));
    }
    const bool is_basic = values[0] || values[1];
    const bool is_token = values[2] || values[3];
    const bool is_helper = values[4].has_value();
    if (int{is_basic} + int{is_token} + int{is_helper} != 1) {
      return wrong(
          "must set either username and password, or access_token and refresh_token, or "
          "docker_credentials_helper");
    }
    if ((is_basic && !(values[0] && values[1])) || (is_token && !(values[2] && values[3]))) {
      return wrong(is_basic ? "must set both username and password" : "must set both access_token and refresh_token");
    }
    const std::size_t slash = std::min(label.find('/'), label.size());
    if (is_helper && slash != label.size()) {
      return wrong("must not set docker_credentials_helper, which serves whole registries only");
    }
    if (is_helper && !is_helper_name(*values[4])) {
      return wrong("must set docker_credentials_helper to the part after docker-credential-");
    }
    for (const ClientConfiguration::OciCredentials& other : out_.oci) {
      if (other.label() == label) {
        return wrong("is set twice, first in " + other.from);
      }
    }
    const auto secret = [&values](std::size_t index) { return SecretText(values[index].value_or("")); };
    out_.oci.push_back({.host = label.substr(0, slash),
                        .repository = label.substr(std::min(slash + 1, label.size())),
                        .user = secret(0),
                        .password = secret(1),
                        .access_token = secret(2),
                        .refresh_token = secret(3),
                        .helper = values[4].value_or(""),
                        .from = from(at)});
    return {};
  }

  Result<void> read_defaults(const hcl1::Item& item) {
    const auto wrong = [this, &item](std::string_view what) {
      return hcl1::wrong(name_, item.at, fmt::format("oci_default_credentials {}", what));
    };
    if (item.is_assigned || (!file_.is_json && item.keys.size() != 1)) {
      return wrong(item.is_assigned ? "must not be followed by \"=\"" : "must have no label");
    }
    MODLOCK_TRY(const auto body, hcl1::open({{.keys = {}, .value = &item.value, .item = &item}}, file_, name_));
    MODLOCK_TRY(const auto ambient, hcl1::boolean_argument(body, "discover_ambient_credentials", name_));
    MODLOCK_TRY(const auto files, hcl1::list_argument(body, "docker_style_config_files", name_));
    MODLOCK_TRY(const auto helper, hcl1::string_argument(body, "docker_credentials_helper", name_));
    if (out_.oci_defaults) {
      return wrong("is set twice, first in " + out_.oci_defaults->from);
    }
    ClientConfiguration::OciDefaults defaults{
        .discover_ambient = ambient.value_or(true), .files = {}, .helper = {}, .from = from(item.at)};
    if (files) {
      defaults.files.emplace();
      for (const std::string& file : *files) {
        defaults.files->push_back((directory_ / file).lexically_normal().string());
      }
    }
    if (helper && is_helper_name(*helper)) {
      defaults.helper = *helper;
    } else if (helper) {
      report(wrong("must set docker_credentials_helper to the part after docker-credential-"));
    }
    if (!defaults.discover_ambient && defaults.files) {
      report(wrong("names docker_style_config_files and turns them off by discover_ambient_credentials"));
    }
    out_.oci_defaults = std::move(defaults);
    return {};
  }

  const hcl1::File& file_;
  const std::filesystem::path& directory_;
  std::string_view name_;
  ClientConfiguration& out_;
  Diagnostics warnings_;
};

// The path in errors of the template itself. It is never shown; messages show the file and line of the block.
const std::string kPath = "repository_template";

struct Part {
  std::string_view name;
  std::string_view what;
  const std::string& (ProviderPattern::*in_pattern)() const;
};
constexpr std::array<Part, 3> kParts = {{{"hostname", "registry hostname", &ProviderPattern::host},
                                         {"namespace", "provider namespace", &ProviderPattern::name_space},
                                         {"type", "provider", &ProviderPattern::type}}};

tl::unexpected<Error> wrong(std::string message) {
  return fail(Code::config_parse, std::move(message));
}

// Whether all patterns that name this part name the same value.
bool is_fixed(const Part& part, const std::vector<ProviderPattern>& include) {
  std::set<std::string_view> names;
  for (const ProviderPattern& pattern : include) {
    if (const std::string& name = (pattern.*part.in_pattern)(); name != "*") {
      names.insert(name);
    }
  }
  return names.size() == 1;
}

Result<void> check_names(const hcl::Expression& expression, const std::vector<ProviderPattern>& include) {
  MODLOCK_TRY(const auto needs, eval::collect_dependencies(expression, kPath));
  std::set<std::string_view> used;
  for (const eval::Reference& reference : needs.references) {
    used.insert(reference.object);
  }
  for (const std::string_view name : used) {
    if (name != "hostname" && name != "namespace" && name != "type") {
      return wrong(
          fmt::format("the symbol \"{}\" is not available for an OCI mirror repository address template. Only "
                      "\"hostname\", \"namespace\", and \"type\" are available",
                      name));
    }
  }
  for (const Part& part : kParts) {
    if (used.count(part.name) == 0 && !is_fixed(part, include)) {
      return wrong(
          fmt::format("template must refer to the \"{}\" symbol unless the \"include\" argument selects exactly one {}",
                      part.name, part.what));
    }
  }
  return {};
}

Result<std::string> render(const hcl::Expression& expression, const std::string& host, const std::string& name_space,
                           const std::string& type) {
  const auto value = eval::constant_value(expression, false, kPath,
                                          {{"hostname", eval::Value::string(host)},
                                           {"namespace", eval::Value::string(name_space)},
                                           {"type", eval::Value::string(type)}});
  if (!value) {
    return wrong(value.error().message);
  }
  const auto text = eval::convert(*value, eval::Type::string());
  if (!text) {
    return wrong("template must produce a string value");
  }
  return text->is_null() ? wrong("template must not produce a null value") : Result<std::string>(text->as_string());
}

}  // namespace

bool is_repository_prefix(std::string_view text) {
  const std::size_t slash = text.find('/');
  const std::string_view host = text.substr(0, slash);
  const auto url = GoUrl::parse(fmt::format("dummy://{}", host));
  if (!url || url->host.empty() || url->host != host) {
    return false;
  }
  if (slash == std::string_view::npos) {
    return true;
  }
  const std::string_view path = text.substr(slash + 1);
  constexpr std::string_view kAllowed = "abcdefghijklmnopqrstuvwxyz0123456789._-/";
  return !path.empty() && path.find_first_not_of(kAllowed) == std::string_view::npos && path.front() != '/' &&
         path.back() != '/' && path.find("//") == std::string_view::npos;
}

Diagnostics read_oci_configuration(const hcl1::File& file, const std::filesystem::path& directory,
                                   std::string_view name, ClientConfiguration& configuration) {
  return OciReader(file, directory, name, configuration).read();
}

Result<std::function<Result<std::string>(const ProviderAddress&)>> read_repository_template(
    std::string_view text, const std::vector<ProviderPattern>& include) {
  auto parsed = hcl::parse_template(text, kPath);
  if (!parsed) {
    return wrong(parsed.error().message);
  }
  MODLOCK_TRY(check_names(*parsed, include));
  MODLOCK_TRY(const auto example, render(*parsed, "example.com", "example-namespace", "example-type"));
  if (!is_repository_prefix(example)) {
    return wrong(
        "template must generate a valid OCI repository address, including a registry hostname followed by a slash and "
        "then a repository name");
  }
  const auto expression = std::make_shared<const hcl::Expression>(std::move(*parsed));
  return [expression](const ProviderAddress& provider) {
    return render(*expression, provider.host_ascii(), provider.name_space(), provider.type());
  };
}

}  // namespace modlock
