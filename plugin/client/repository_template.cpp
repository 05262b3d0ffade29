#include "plugin/client/repository_template.h"

#include <fmt/format.h>

#include <array>
#include <memory>
#include <set>
#include <utility>

#include "plugin/client/client_configuration_oci.h"
#include "plugin/eval/constant_value.h"
#include "plugin/eval/dependencies.h"
#include "plugin/hcl/parser.h"
#include "plugin/value/convert.h"
#include "protocol/base/result.h"

namespace modlock {
namespace {

// What errors of the template itself are located in; nobody sees it, for the file and line of the block are shown.
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

// Whether all of the patterns that name this part name the same.
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
