#include "backends/credentials/credentials.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "backends/address/hostname.h"
#include "backends/base/ascii.h"
#include "backends/base/collections.h"
#include "backends/base/digest.h"
#include "backends/base/environment.h"
#include "backends/base/files.h"
#include "backends/base/single_flight_map.h"
#include "backends/base/text.h"
#include "backends/credentials/client_configuration.h"
#include "backends/credentials/credential_program.h"
#include "backends/credentials/netrc_credential_finder.h"
#include "backends/credentials/oci_credential_finder.h"
#include "backends/credentials/registry_credential_finder.h"

namespace modlock {
namespace {

bool ends_the_run(const std::optional<Error>& failure) {
  return failure && (failure->code == Code::request_cancelled || failure->code == Code::deadline_exceeded);
}

// A token with a line ending could add headers.
bool fits_a_header(std::string_view token) {
  return std::ranges::all_of(token, [](char c) { return c == '\t' || !ascii::is_control(c); });
}

using AwsSettings = std::map<std::string, std::string>;

std::string_view without_aws_comment(std::string_view text) {
  const auto starts = [](char a, char b) { return (a == ' ' || a == '\t') && (b == '#' || b == ';'); };
  return {text.begin(), std::ranges::adjacent_find(text, starts)};
}

// Reads a shared file of AWS as internal/ini of aws-sdk-go-v2 does: "profile work", {"aws_access_key_id", …}, ….
std::map<std::string, AwsSettings> read_aws_sections(std::string_view text) {
  std::map<std::string, AwsSettings> sections;
  AwsSettings* section = nullptr;
  std::string last;  // the setting that indented lines may belong to
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    const std::string_view content = trimmed(line);
    const std::string_view header = trimmed(line.substr(0, line.find_first_of("#;")));
    if (header.size() > 1 && header.starts_with('[') && header.ends_with(']')) {
      const std::string_view name = trimmed(header.substr(1, header.size() - 2));
      const std::size_t blank = std::min(name.find_first_of(" \t"), name.size());
      const std::string_view rest = trimmed(name.substr(blank));
      section = &sections[fmt::format("{}{}{}", name.substr(0, blank), rest.empty() ? "" : " ", rest)];
      last.clear();
      continue;
    }
    const bool is_indented = line.starts_with(' ') || line.starts_with('\t');
    const std::string_view setting = is_indented ? content : without_aws_comment(line);
    const std::size_t sign = setting.find_first_of("=:");
    const bool is_nested = is_indented && !last.empty() && (*section)[last].empty();
    if (section == nullptr || sign == std::string_view::npos || is_nested || content.find_first_of("#;") == 0) {
      continue;
    }
    std::string_view value = trimmed(setting.substr(sign + 1));
    if (value.size() > 1 && value.front() == value.back() && (value.front() == '"' || value.front() == '\'')) {
      value = value.substr(1, value.size() - 2);
    }
    last = ascii::lower(trimmed(setting.substr(0, sign)));
    (*section)[last] = is_indented ? trimmed(without_aws_comment(value)) : value;
  }
  return sections;
}

// Returns the settings of a profile in the shared files of AWS.
Result<AwsSettings> read_aws_profile(const ProcessEnvironment& environment, const std::string& profile) {
  AwsSettings settings;
  for (const auto& [variable, in_home, prefix] : {std::array{"AWS_CONFIG_FILE", ".aws/config", "profile "},
                                                  std::array{"AWS_SHARED_CREDENTIALS_FILE", ".aws/credentials", ""}}) {
    const std::string_view path = environment.variable(variable);
    const auto text = path.empty() && environment.home.empty()
                          ? fail(Code::not_found, "")
                          : read_file(path.empty() ? environment.home / in_home : environment.absolute(path));
    if (!text && text.error().code != Code::not_found) {
      return fail(text.error());
    }
    auto sections = read_aws_sections(text ? *text : std::string());
    const bool is_prefixed = ascii::lower(profile) != "default" || sections.contains(prefix + profile);
    AwsSettings later = std::move(sections[(is_prefixed ? prefix : "") + profile]);
    if (later.contains("aws_access_key_id") || later.contains("aws_secret_access_key")) {  // no half of another pair
      settings.erase("aws_access_key_id");
      settings.erase("aws_secret_access_key");
    }
    later.merge(settings);
    settings = std::move(later);
  }
  return settings;
}

// Returns the name of a variable, or its older name if only that is set.
const char* either(const ProcessEnvironment& environment, const char* name, const char* old) {
  return environment.variable(name).empty() && !environment.variable(old).empty() ? old : name;
}

// Returns the profile that the client chooses; empty: its default.
std::string_view aws_profile(const ProcessEnvironment& environment, std::string_view named) {
  return named.empty() ? environment.variable(either(environment, "AWS_PROFILE", "AWS_DEFAULT_PROFILE")) : named;
}

// Finds the key that signs requests to S3. `named`, the profile of the address, hides the variables. As in the client,
// a profile with a role_arn has no static keys.
CredentialLookup find_aws_key(const ProcessEnvironment& environment, std::string_view named) {
  CredentialLookup lookup;
  const auto variable = [&](const char* name) { return SecretText(std::string(environment.variable(name))); };
  const auto take = [&](AwsCredential key, std::string place, std::string_view otherwise) {
    const bool is_usable = !key.key_id.empty() && !key.secret_key.empty();
    lookup.add(place, is_usable ? "used" : std::string(otherwise));
    lookup.found = is_usable ? FoundCredential{.secret = std::move(key), .from = std::move(place)} : FoundCredential();
  };
  if (named.empty()) {
    const char* const id = either(environment, "AWS_ACCESS_KEY_ID", "AWS_ACCESS_KEY");
    const char* const secret = either(environment, "AWS_SECRET_ACCESS_KEY", "AWS_SECRET_KEY");
    take({variable(id), variable(secret), variable("AWS_SESSION_TOKEN")},
         fmt::format("environment variables {} and {}", id, secret), "not set");
  }
  if (lookup.found.found()) {
    return lookup;
  }
  const std::string chosen(aws_profile(environment, named));
  const std::string profile = chosen.empty() ? "default" : chosen;
  auto settings = read_aws_profile(environment, profile);
  const std::string place = fmt::format("profile \"{}\" of the shared files of AWS", profile);
  if (!settings) {
    lookup.add(place, "not usable: " + settings.error().message);
    lookup.failure = std::move(settings.error());
    return lookup;
  }
  const auto setting = [&](const char* name) {
    return SecretText(settings->contains("role_arn") ? "" : (*settings)[name]);
  };
  take({setting("aws_access_key_id"), setting("aws_secret_access_key"), setting("aws_session_token")}, place,
       "no static keys");
  return lookup;
}

CredentialLookup find_google_token(const ProcessEnvironment& environment) {
  CredentialLookup lookup;
  const std::string token(environment.variable("GOOGLE_OAUTH_ACCESS_TOKEN"));
  lookup.add("environment variable GOOGLE_OAUTH_ACCESS_TOKEN", token.empty() ? "not set" : "used");
  if (!token.empty()) {
    lookup.found = {.secret = TokenCredential{SecretText(token)}, .from = lookup.places.front().place};
  }
  return lookup;
}

class ClientCredentials final : public Credentials {
 public:
  ClientCredentials(ClientConfiguration configuration, ProcessEnvironment environment)
      : configuration_(std::move(configuration)),
        environment_(std::move(environment)),
        registry_(configuration_, environment_),
        oci_(configuration_, environment_) {}

  Result<FoundCredential> find(const CredentialQuery& query, const Context& context) override {
    CredentialLookup lookup = look(query, context);
    if (lookup.failure) {
      return fail(std::move(*lookup.failure));
    }
    return std::move(lookup.found);
  }

  Result<std::vector<CredentialLocation>> places(const CredentialQuery& query, const Context& context) override {
    CredentialLookup lookup = look(query, context);
    if (ends_the_run(lookup.failure)) {
      return fail(std::move(*lookup.failure));
    }
    return std::move(lookup.places);
  }

 private:
  CredentialLookup look(const CredentialQuery& query, const Context& context) {
    CredentialLookup lookup = look_in_places(query, context);
    const auto* token = std::get_if<TokenCredential>(&lookup.found.secret);
    const auto* aws = std::get_if<AwsCredential>(&lookup.found.secret);
    const std::string sent = token != nullptr ? token->access_token.reveal()
                             : aws != nullptr ? aws->key_id.reveal() + aws->session_token.reveal()
                                              : std::string();
    if (!fits_a_header(sent)) {
      lookup.failure =
          Error{.code = Code::config_parse,
                .message = fmt::format("the token of {} contains a line ending or another control character",
                                       lookup.found.from),
                .hint = "remove it from the token"};
      for (CredentialLocation& place : lookup.places) {
        place.outcome = place.outcome == "used" ? "not usable: " + lookup.failure->message : place.outcome;
      }
    }
    return lookup;
  }

  CredentialLookup look_in_places(const CredentialQuery& query, const Context& context) {
    switch (query.use) {
      case CredentialUse::registry:
        return registry_.look(query.host, context);
      case CredentialUse::oci:
        return oci_.look(query.host, query.repository, context);
      case CredentialUse::s3:
        return ask_cloud(find_aws_key(environment_, query.repository), query, context);
      case CredentialUse::gcs:
        return ask_cloud(find_google_token(environment_), query, context);
      case CredentialUse::download:
        break;
    }
    return find_in_netrc(environment_, query.host);
  }

  // Adds the last place, a program.
  CredentialLookup ask_cloud(CredentialLookup lookup, const CredentialQuery& query, const Context& context) {
    if (lookup.found.found() || lookup.failure) {
      return lookup;
    }
    const bool is_aws = query.use == CredentialUse::s3;
    const std::string profile(is_aws ? aws_profile(environment_, query.repository) : "");
    const std::string program = is_aws ? "aws" : "gcloud";
    const std::string place = "the program " + program;
    if (!contains(configuration_.credential_programs, program)) {
      lookup.add(place, "not allowed by credential_programs");
    } else if (!query.is_users) {
      lookup.add(place, "run only for calls in your own configuration");
    } else if (auto answer = cloud_answers_.get(program + " " + profile, context, [&] {
                 return is_aws ? ask_aws(profile, context) : ask_gcloud(context);
               })) {
      lookup.add(place, "used");
      lookup.found = {.secret = std::move(answer->secret), .from = place};
    } else {
      lookup.add(place, "failed: " + answer.error().message);
      lookup.failure = std::move(answer.error());
    }
    return lookup;
  }

  const ClientConfiguration configuration_;
  const ProcessEnvironment environment_;
  RegistryCredentialFinder registry_;
  OciCredentialFinder oci_;
  SingleFlightMap<std::string, FoundCredential> cloud_answers_{kHelperAnswerLife, std::chrono::steady_clock::now,
                                                               std::chrono::seconds(10)};
};

std::string registry_fix(std::string_view host) {
  const auto forms = parse_service_host(host);
  const std::string variable = forms ? token_variable_name(forms->ascii) : std::string();
  const std::string block =
      fmt::format("write credentials \"{}\" {{ token = \"…\" }} into the client's CLI configuration", host);
  return variable.empty() ? block : fmt::format("set {} to a token, or {}", variable, block);
}

std::string fix(CredentialUse use, std::string_view host) {
  switch (use) {
    case CredentialUse::registry:
      return registry_fix(host);
    case CredentialUse::oci:
      return fmt::format(
          "run \"docker login {0}\", or write oci_credentials \"{0}\" {{ username = \"…\", password = \"…\" }} into "
          "the client's CLI configuration",
          host);
    case CredentialUse::s3:
      return "set AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, or AWS_PROFILE, or write "
             "credential_programs = [\"aws\"] in your own settings, for calls in your own configuration";
    case CredentialUse::gcs:
      return "run: export GOOGLE_OAUTH_ACCESS_TOKEN=\"$(gcloud auth print-access-token)\"";
    case CredentialUse::download:
      break;
  }
  return fmt::format("add the line \"machine {} login … password …\" to ~/.netrc", host);
}

}  // namespace

SecretText basic_authorization(const BasicCredential& credential) {
  const std::string pair = credential.user.reveal() + ":" + credential.password.reveal();
  return SecretText("Basic " + base64(pair));
}

std::unique_ptr<Credentials> make_credentials(ClientConfiguration configuration, ProcessEnvironment environment) {
  return std::make_unique<ClientCredentials>(std::move(configuration), std::move(environment));
}

Error explain_refusal(Error error, const CredentialQuery& query, Credentials& credentials, const Context& context) {
  const std::string& host = query.host;
  if (error.code != Code::auth_required && error.code != Code::forbidden) {
    return error;
  }
  const auto places = credentials.places(query, context);
  std::string used;
  if (!places) {
    error.notes.push_back(fmt::format("cannot look up credentials for {}: {}", host, places.error().message));
  } else {
    for (const CredentialLocation& place : *places) {
      error.notes.push_back(fmt::format("looked for credentials for {} in {}: {}", host, place.place, place.outcome));
      used = place.outcome == "used" ? place.place : used;
    }
  }
  if (used.empty()) {
    error.hint = fix(query.use, host);
  } else if (error.code == Code::forbidden) {
    error.hint = fmt::format("{} denied access with the credential from {}: request access, or use another credential",
                             host, used);
  } else {
    error.hint = fmt::format("{} rejected the credential from {}: renew it there", host, used);
  }
  return error;
}

}  // namespace modlock
