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

// Runs `<program> <arguments…> get <host>` and reads {"token": "…"}. Returns an empty result if "token" is missing or
// not a string. Errors: UNREACHABLE (the program fails, or its output is not a JSON object), IO_ERROR,
// REQUEST_CANCELLED, DEADLINE_EXCEEDED. Errors never contain output of the program, which may be secret.
Result<FoundCredential> ask_registry_helper(const std::filesystem::path& program,
                                            const std::vector<std::string>& arguments, std::string_view host,
                                            const Context& context);

// Runs `docker-credential-<name> get` with https://<host> on stdin. Returns an empty result if the program reports that
// it has no credentials for the host. Errors: TOOL_MISSING (not on PATH), UNREACHABLE (the program fails, its output is
// not the expected JSON, or it returns an identity token, which OpenTofu does not accept from a program),
// REQUEST_CANCELLED, DEADLINE_EXCEEDED.
Result<FoundCredential> ask_docker_helper(std::string_view name, std::string_view host, const Context& context);

}  // namespace modlock
