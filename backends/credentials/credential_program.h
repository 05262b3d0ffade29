#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/base/context.h"
#include "backends/credentials/credentials.h"
#include "protocol/base/result.h"

namespace modlock {

// Finds `terraform-credentials-<name>` as OpenTofu does: in each directory in order, plain or with a version after
// "_v"; the newest version is used. Compares names in lower case. Returns nullopt if there is no such program.
std::optional<std::filesystem::path> find_registry_helper(const std::vector<std::string>& directories,
                                                          std::string_view name);

// How long the output of a helper is used. A long-lived process then sees renewed credentials.
inline constexpr std::chrono::seconds kHelperAnswerLife{60};

// Each function runs one program. Errors: TOOL_MISSING (not on PATH), UNREACHABLE (it fails, or its output is not the
// expected one), TIMEOUT (after a minute), IO_ERROR, REQUEST_CANCELLED, DEADLINE_EXCEEDED. Errors never contain output
// of the program, which may be secret.

// Runs `<program> <arguments…> get <host>` and reads {"token": "…"}. Returns an empty result if "token" is missing or
// not a string.
Result<FoundCredential> ask_registry_helper(const std::filesystem::path& program,
                                            const std::vector<std::string>& arguments, std::string_view host,
                                            const Context& context);

// Runs `docker-credential-<name> get` with https://<host> on stdin. Returns an empty result if the program reports that
// it has no credentials for the host. An identity token is UNREACHABLE, because OpenTofu does not accept one from a
// program.
Result<FoundCredential> ask_docker_helper(std::string_view name, std::string_view host, const Context& context);

// Runs `aws configure export-credentials --format process`, with `--profile=<profile>` unless the profile is empty, and
// reads the key. A key that expires within kHelperAnswerLife is UNREACHABLE.
Result<FoundCredential> ask_aws(const std::string& profile, const Context& context);

// Runs `gcloud auth print-access-token`.
Result<FoundCredential> ask_gcloud(const Context& context);

}  // namespace modlock
