#include "backends/address/provider_address.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "backends/address/hostname.h"
#include "backends/address/source_text.h"
#include "backends/base/ascii.h"

namespace modlock {
namespace {

bool is_platform_part(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return ascii::is_alnum(c) || c == '-'; });
}

constexpr std::string_view kDefaultNamespace = "hashicorp";
constexpr std::string_view kBuiltinNamespace = "builtin";
constexpr std::string_view kLegacyNamespace = "-";
constexpr std::string_view kTerraformBuiltinHost = "terraform.io";
constexpr std::string_view kOpenTofuBuiltinHost = "opentofu.org";
constexpr std::string_view kFormatHint = "write the source as \"hashicorp/aws\" or \"example.com/namespace/name\"";

// Redundant prefixes of types; Terraform knows only the first one.
constexpr std::array<std::string_view, 2> kRedundantPrefixes = {"terraform-", "opentofu-"};

std::string_view skipped(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix ? text.substr(prefix.size()) : std::string_view();
}

// Returns why a part cannot be a type or namespace; empty if it can.
std::string_view part_problem(std::string_view text) {
  if (text.empty()) {
    return "must have at least one character";
  }
  if (text.find('.') != std::string_view::npos) {
    return "dots are not allowed";
  }
  if (text.find("--") != std::string_view::npos) {
    return "cannot use multiple consecutive dashes";
  }
  return {};
}

Error in_source(std::string_view what, std::string_view part, std::string_view text, const Error& reason) {
  return {.code = Code::source_invalid,
          .message = fmt::format("invalid provider {} \"{}\" in source \"{}\": {}", what, printable_address(part),
                                 printable_address(text), reason.message),
          .hint = std::string(kFormatHint)};
}

// Terraform also allows underscores inside a namespace. They are normalized as a digit that the text lacks.
Result<std::string> normalize_namespace(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789";
  const std::size_t digit = kDigits.find_first_not_of(text);
  if (text.find('_') == std::string_view::npos || text.starts_with('_') || text.ends_with('_') ||
      digit == std::string_view::npos) {
    return normalize_provider_part(text);
  }
  std::string replaced(text);
  std::ranges::replace(replaced, '_', kDigits[digit]);
  auto normal = normalize_provider_part(replaced);
  if (normal) {
    std::ranges::replace(*normal, kDigits[digit], '_');
  }
  const bool has_edge = normal && (normal->starts_with('_') || normal->ends_with('_'));
  return has_edge ? normalize_provider_part("_") : normal;  // which fails
}

constexpr std::string_view kWildcard = "*";

tl::unexpected<Error> invalid_pattern(std::string_view pattern, std::string_view why) {
  return fail(Code::source_invalid,
              fmt::format("invalid provider matching pattern \"{}\": {}", printable_address(pattern), why),
              "write it as \"hashicorp/aws\", \"example.com/acme/*\" or \"example.com/*/*\"");
}

bool fits(const std::string& part, const std::string& name) {
  return part == kWildcard || part == name;
}

bool any_matches(const std::vector<ProviderPattern>& patterns, const ProviderAddress& provider) {
  return std::ranges::any_of(patterns, [&](const ProviderPattern& pattern) { return pattern.matches(provider); });
}

}  // namespace

Result<Platform> Platform::parse(std::string_view text) {
  const std::size_t underscore = text.find('_');
  if (underscore != std::string_view::npos) {
    const std::string_view os = text.substr(0, underscore);
    const std::string_view arch = text.substr(underscore + 1);
    if (is_platform_part(os) && is_platform_part(arch)) {
      return Platform{std::string(os), std::string(arch)};
    }
  }
  return fail(Code::invalid_params,
              fmt::format("expected a platform such as \"linux_amd64\", found \"{}\"", escape_controls(text)),
              "name an operating system and an architecture, joined by one underscore");
}

Platform Platform::current() {
#if defined(__x86_64__)
  constexpr const char* kArch = "amd64";
#elif defined(__aarch64__)
  constexpr const char* kArch = "arm64";
#elif defined(__i386__)
  constexpr const char* kArch = "386";
#elif defined(__arm__)
  constexpr const char* kArch = "arm";
#else
#error "Go's name of this architecture is not known here"
#endif
#if defined(__linux__)
  return {"linux", kArch};
#elif defined(__APPLE__)
  return {"darwin", kArch};
#else
#error "Go's name of this operating system is not known here"
#endif
}

Result<std::string> normalize_provider_part(std::string_view text) {
  if (const std::string_view problem = part_problem(text); !problem.empty()) {
    return fail(Code::source_invalid, std::string(problem));
  }
  auto mapped = lookup_host(text);
  if (!mapped) {
    return fail(Code::source_invalid,
                "must contain only letters, digits, and dashes, and may not use leading or trailing dashes");
  }
  if (const std::string_view problem = part_problem(mapped->display); !problem.empty()) {
    return fail(Code::source_invalid, std::string(problem));
  }
  return std::move(mapped->display);
}

Result<ProviderAddress> ProviderAddress::parse(std::string_view text, std::string_view default_host) {
  const auto parts = split(text, '/');
  const bool has_empty_part = std::ranges::find(parts, std::string_view()) != parts.end();
  if (parts.size() > 3 || has_empty_part) {
    return fail(Code::source_invalid,
                fmt::format("invalid provider source string \"{}\": it must be in the format "
                            "\"[hostname/][namespace/]name\"",
                            printable_address(text)),
                std::string(kFormatHint));
  }
  ProviderAddress address;
  const auto placed_in = [text](std::string_view what, std::string_view part) {
    return [=](const Error& error) { return in_source(what, part, text, error); };
  };
  MODLOCK_TRY(address.type_, normalize_provider_part(parts.back()).map_error(placed_in("type", parts.back())));
  const std::string_view name_space = parts.size() > 1 ? parts[parts.size() - 2] : kDefaultNamespace;
  address.namespace_ = name_space;
  if (name_space != kLegacyNamespace) {
    MODLOCK_TRY(address.namespace_, normalize_namespace(name_space).map_error(placed_in("namespace", name_space)));
  }

  auto host = parse_service_host(parts.size() == 3 ? parts[0] : default_host);
  if (!host) {
    return fail(
        in_source("source hostname", parts[0], text, {.message = "it is not a host name with an optional port"}));
  }
  address.host_ = std::move(host->display);
  address.host_ascii_ = std::move(host->ascii);
  // OpenTofu does not check an address of one part any further.
  auto problem = parts.size() > 1 ? address.find_problem(default_host) : std::nullopt;
  if (problem) {
    return fail(std::move(*problem));
  }
  return address;
}

std::optional<Error> ProviderAddress::find_problem(std::string_view default_host) const {
  if (is_legacy() && host_ascii_ != default_host) {
    return Error{.code = Code::source_invalid,
                 .message = fmt::format("invalid provider namespace in source \"{}\": the legacy provider namespace "
                                        "\"-\" can be used only with hostname {}",
                                        to_string(), default_host),
                 .hint = std::string(kFormatHint)};
  }
  for (const std::string_view prefix : kRedundantPrefixes) {
    const std::string_view rest = skipped(type_, prefix);
    if (rest.empty() || (prefix == "opentofu-" && default_host == kTerraformRegistry)) {
      continue;
    }
    Error error{.code = Code::source_invalid,
                .message = fmt::format("invalid provider type: source \"{}\" has a type with the redundant prefix "
                                       "\"{}\", which isn't allowed",
                                       for_display(default_host), prefix),
                .hint = "if you are the author of this provider, rename it to not include the prefix"};
    if (const auto suggested = normalize_provider_part(skipped(rest, "provider-"))) {
      ProviderAddress right = *this;
      right.type_ = *suggested;
      error.hint = fmt::format("provider repositories have this prefix, provider sources do not: did you mean \"{}\"?",
                               right.for_display(default_host));
    }
    return error;
  }
  return std::nullopt;
}

Result<ProviderAddress> ProviderAddress::implied(std::string_view local_name, std::string_view default_host) {
  if (local_name == "terraform") {
    return parse(fmt::format("{}/{}/terraform", kTerraformBuiltinHost, kBuiltinNamespace), default_host);
  }
  return parse(local_name, default_host);
}

std::string ProviderAddress::to_string() const {
  return fmt::format("{}/{}/{}", host_, namespace_, type_);
}

std::string ProviderAddress::for_display(std::string_view default_host) const {
  return host_ascii_ == default_host ? fmt::format("{}/{}", namespace_, type_) : to_string();
}

bool ProviderAddress::is_builtin(std::string_view default_host) const {
  return namespace_ == kBuiltinNamespace &&
         (host_ascii_ == kTerraformBuiltinHost ||
          (host_ascii_ == kOpenTofuBuiltinHost && default_host != kTerraformRegistry));
}

bool ProviderAddress::is_legacy() const {
  return namespace_ == kLegacyNamespace;
}

std::strong_ordering ProviderAddress::operator<=>(const ProviderAddress& other) const {
  const auto key = [](const ProviderAddress& address) {
    return std::tie(address.host_ascii_, address.namespace_, address.type_);
  };
  return key(*this) <=> key(other);
}

Result<ProviderPattern> ProviderPattern::parse(std::string_view text, std::string_view default_host) {
  const auto parts = split(text, '/');
  if (parts.size() != 2 && parts.size() != 3) {
    return invalid_pattern(text, "must have either two or three slash-separated segments");
  }
  const std::string_view host = parts.size() == 3 ? parts[0] : default_host;
  ProviderPattern pattern;
  pattern.host_ = kWildcard;
  if (host != kWildcard) {
    auto forms = parse_service_host(host);
    if (!forms) {
      return invalid_pattern(text,
                             fmt::format("\"{}\" is not a host name with an optional port", printable_address(host)));
    }
    pattern.host_ = std::move(forms->ascii);
  }
  for (const auto& [given, part] :
       {std::pair(parts[parts.size() - 2], &pattern.namespace_), std::pair(parts[parts.size() - 1], &pattern.type_)}) {
    auto name = given == kWildcard ? Result<std::string>(given) : normalize_provider_part(given);
    if (!name) {
      return invalid_pattern(text,
                             fmt::format("\"{}\" is neither the wildcard * nor a name", printable_address(given)));
    }
    *part = std::move(*name);
  }
  if (pattern.host_ == kWildcard && (pattern.namespace_ != kWildcard || pattern.type_ != kWildcard)) {
    return invalid_pattern(text,
                           "hostname can be a wildcard only if both namespace and provider type are also wildcards");
  }
  if (pattern.namespace_ == kWildcard && pattern.type_ != kWildcard) {
    return invalid_pattern(text, "namespace can be a wildcard only if the provider type is also a wildcard");
  }
  return pattern;
}

bool ProviderPattern::matches(const ProviderAddress& provider) const {
  return fits(host_, provider.host_ascii()) && fits(namespace_, provider.name_space()) && fits(type_, provider.type());
}

bool ProviderInstallation::Method::serves(const ProviderAddress& provider) const {
  return !any_matches(exclude, provider) && (include.empty() || any_matches(include, provider));
}

}  // namespace modlock
