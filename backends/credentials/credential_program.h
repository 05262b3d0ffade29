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

// `terraform-credentials-<name>` as OpenTofu finds it: in each directory in order, plain or with a version behind "_v",
// of which the newest counts. Names are compared in lower case. nullopt where there is none.
std::optional<std::filesystem::path> find_registry_helper(const std::vector<std::string>& directories,
                                                          std::string_view name);

// How long what a helper answered is used: a long-lived process sees what was renewed.
inline constexpr std::chrono::seconds kHelperAnswerLife{60};

// Runs `<program> <arguments…> get <host>` and reads {"token": "…"}; nothing found where there is no token, or no
// string. Errors: UNREACHABLE (a failing program, an answer that is no JSON object), IO_ERROR, REQUEST_CANCELLED,
// DEADLINE_EXCEEDED. What the program says is in none of them: it may be a secret.
Result<FoundCredential> ask_registry_helper(const std::filesystem::path& program,
                                            const std::vector<std::string>& arguments, std::string_view host,
                                            const Context& context);

// Runs `docker-credential-<name> get` with https://<host> on stdin; nothing found where the program says that it has
// no credentials for it. Errors: TOOL_MISSING (not on PATH), UNREACHABLE (a failing program, no such JSON as is
// expected, an identity token, which OpenTofu does not take from a program), REQUEST_CANCELLED, DEADLINE_EXCEEDED.
Result<FoundCredential> ask_docker_helper(std::string_view name, std::string_view host, const Context& context);

}  // namespace modlock
