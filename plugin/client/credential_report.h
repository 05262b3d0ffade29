#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "backends/base/context.h"
#include "backends/credentials/credentials.h"
#include "protocol/base/result.h"
#include "protocol/messages/fields.h"

namespace modlock {

// The locations where a client looks for a credential, in order of precedence.
struct CredentialSearch {
  std::string use;                  // "registry", "oci", "download", "s3", "gcs" or "git"
  std::optional<std::string> used;  // the location whose credential is used; nullopt: none, or (git) not known
  std::vector<CredentialLocation> places;
};

struct CredentialReport {
  std::string host;
  std::string repository;  // empty: none was specified
  std::vector<std::string> warnings;
  std::vector<CredentialSearch> uses;
};

template <typename Form>
void fields(Form& form, In<Form, CredentialLocation> location) {
  form.member("place", location.place);
  form.member("outcome", location.outcome);
}
template <typename Form>
void fields(Form& form, In<Form, CredentialSearch> search) {
  form.member("use", search.use);
  form.nullable("used", search.used);
  form.member("places", search.places);
}
template <typename Form>
void fields(Form& form, In<Form, CredentialReport> report) {
  form.member("host", report.host);
  form.optional("repository", report.repository);
  form.optional("warnings", report.warnings);
  form.member("uses", report.uses);
}

// Reports where the credentials for `where`, HOST or HOST/REPOSITORY, come from, for some uses; empty: for all. Runs
// the credential programs as a request does: those of the setting `credential_programs` only if the call is of the
// user's own configuration (`is_users`). The report never contains a secret. Errors: INVALID_PARAMS (no host, or a URL;
// the message does not quote the text), REQUEST_CANCELLED.
Result<CredentialReport> explain_credentials(std::string_view where, const std::set<std::string>& wanted,
                                             const ClientConfiguration& configuration,
                                             const ProcessEnvironment& environment, const Context& context,
                                             bool is_users = true);

}  // namespace modlock
