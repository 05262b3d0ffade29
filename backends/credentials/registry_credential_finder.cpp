#include "backends/credentials/registry_credential_finder.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "backends/address/hostname.h"
#include "backends/base/text.h"

namespace modlock {
namespace {

constexpr std::string_view kPrefix = "TF_TOKEN_";

// Converted to the readable form first, which makes punycode acceptable here, and only here.
std::optional<HostForms> host_of_variable(std::string_view name) {
  std::string host(name.substr(kPrefix.size()));
  replace_all(host, "__", "-");
  replace_all(host, "_", ".");
  const std::size_t colon = std::min(host.find(':'), host.size());
  const auto forms = lookup_host(host.substr(0, colon));
  return forms ? parse_service_host(forms->display + host.substr(colon)) : std::nullopt;
}

std::string outcome_of(const SecretText& token) {
  return token.empty() ? "used: it is empty, so no token is sent" : "used";
}

}  // namespace

std::map<std::string, TokenVariable> token_variables(const ProcessEnvironment& environment) {
  std::map<std::string, TokenVariable> variables;
  for (const auto& [name, value] : environment.environment) {
    if (name.starts_with(kPrefix)) {
      if (const auto host = host_of_variable(name)) {
        variables.insert_or_assign(host->ascii, TokenVariable{name, SecretText(value)});
      }
    }
  }
  return variables;
}

std::string token_variable_name(std::string_view ascii_host) {
  std::string name(ascii_host);
  if (name.find(':') != std::string::npos) {
    return {};
  }
  replace_all(name, "-", "__");
  replace_all(name, ".", "_");
  return std::string(kPrefix) + name;
}

RegistryCredentialFinder::RegistryCredentialFinder(const ClientConfiguration& configuration,
                                                   const ProcessEnvironment& environment)
    : configuration_(configuration), environment_(environment), variables_(token_variables(environment)) {}

CredentialLookup RegistryCredentialFinder::look(std::string_view given_host, const Context& context) {
  CredentialLookup lookup;
  const auto forms = parse_service_host(given_host);
  const std::string host = forms ? forms->ascii : std::string(given_host);
  const std::string shown = forms ? forms->display : std::string(given_host);
  std::string first;  // it hides all later locations
  const auto use = [&lookup, &first](const std::string& place, const SecretText& token) {
    lookup.add(place, first.empty() ? outcome_of(token) : "hidden by " + first);
    if (first.empty() && !token.empty()) {
      lookup.found = {.secret = TokenCredential{.access_token = token}, .from = place};
    }
    first = first.empty() ? place : first;
  };

  if (const auto variable = variables_.find(host); variable != variables_.end()) {
    use("environment variable " + variable->second.name, variable->second.token);
  } else {
    const std::string name = token_variable_name(host);
    lookup.add(
        name.empty() ? fmt::format("environment variable TF_TOKEN_* for {}", shown) : "environment variable " + name,
        "not set");
  }

  if (const auto block = configuration_.tokens.find(host); block != configuration_.tokens.end()) {
    use(fmt::format("credentials \"{}\" in {}", shown, block->second.from), block->second.token);
  } else if (configuration_.files.empty()) {
    lookup.add("credentials blocks of the CLI configuration", "no such file");
  } else {
    lookup.add(fmt::format("credentials blocks in {}", fmt::join(configuration_.files, ", ")), "no entry for " + shown);
  }

  if (!configuration_.helper) {
    lookup.add("credentials_helper of the CLI configuration", "not configured");
  } else if (!first.empty()) {
    lookup.add(fmt::format("credentials_helper \"{}\" in {}", configuration_.helper->name, configuration_.helper->from),
               "hidden by " + first);
  } else {
    ask_helper(host, lookup, context);
  }
  return lookup;
}

bool RegistryCredentialFinder::is_new_trouble(const std::string& host, const std::string& message) {
  const std::lock_guard lock(mutex_);
  return std::exchange(troubles_[host], message) != message;
}

void RegistryCredentialFinder::ask_helper(const std::string& host, CredentialLookup& lookup, const Context& context) {
  const ClientConfiguration::Helper& helper = *configuration_.helper;
  std::string place = fmt::format("credentials_helper \"{}\" in {}", helper.name, helper.from);
  const auto program = find_registry_helper(helper.directories, helper.name);
  if (!program) {
    std::vector<std::string> directories;
    for (const std::string& directory : helper.directories) {
      directories.push_back(environment_.display(directory));
    }
    lookup.add(std::move(place),
               fmt::format("terraform-credentials-{} not found in {}", helper.name, fmt::join(directories, ", ")));
    return;
  }
  auto answer = helper_answers_.get(host, context, [&program, &helper, &host, &context]() {
    return ask_registry_helper(*program, helper.arguments, host, context);
  });
  if (!answer) {
    const Code code = answer.error().code;
    if (code == Code::request_cancelled || code == Code::deadline_exceeded) {
      lookup.failure = std::move(answer.error());
      return;
    }
    if (is_new_trouble(host, answer.error().message)) {
      context.log->write(LogLevel::warning,
                         fmt::format("{}, so requests to {} are sent without a token", answer.error().message, host));
    }
    lookup.add(std::move(place), "failed: " + answer.error().message);
    return;
  }
  is_new_trouble(host, "");
  const auto* token = std::get_if<TokenCredential>(&answer->secret);
  if (token == nullptr) {
    lookup.add(std::move(place), "has none for " + host);
    return;
  }
  lookup.add(place, outcome_of(token->access_token));
  if (!token->access_token.empty()) {
    lookup.found = {.secret = *token, .from = std::move(place)};
  }
}

}  // namespace modlock
