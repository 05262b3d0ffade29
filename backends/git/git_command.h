#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "backends/base/process.h"
#include "backends/git/remote_address.h"

namespace modlock::git {

// A variable of our own environment, nullopt where it is not set.
using EnvironmentLookup = std::function<std::optional<std::string>(const char* name)>;
std::optional<std::string> lookup_environment(const char* name);

// `git <arguments>` that speaks with a remote. The user's configuration, credential helpers, proxies and certificates
// apply; hooks, prompts, a repository of the environment, transports beyond the five and credentials that follow a
// redirect to another host do not. User-info of the address is answered by a credential helper in the child's
// environment, and the address with its query is there too: arguments hold `remote.url`, never these. git hands a
// whole address to the program that speaks http, so that one is started by a rule of the environment, by name alone.
// An address of https is asked over http neither: a redirect there ends git.
// Where `follows_redirects` is false, a redirect ends git, which says "error: 30x"; else the first request follows any.
// `configured_ssh` is the user's core.sshCommand; `ssh_key` a file with a private key that ssh is to offer too. A
// server that is silent for `patience` over http(s) ends git.
Command network_command(const RemoteAddress& remote, std::vector<std::string> arguments,
                        const EnvironmentLookup& environment, const std::optional<std::string>& configured_ssh = {},
                        const std::filesystem::path& ssh_key = {}, bool follows_redirects = true,
                        std::chrono::seconds patience = std::chrono::seconds{30});

// Asks whether a remote whose query is hidden speaks version 2 of git's protocol, with which git starts no program that
// is given the address: the output starts with a line end, else with "fallback".
Command version_command(const RemoteAddress& remote, const EnvironmentLookup& environment, bool follows_redirects,
                        std::chrono::seconds patience);

// For an address of https that the user's own configuration rewrites to one of http: no server led there.
void allow_http(Command& command, const EnvironmentLookup& environment);

// `git <arguments>` on a repository of ours: no configuration but the repository's own, no attributes file, no network.
// `directory` and `index` name a work tree and its index file; empty: none.
Command local_command(const std::filesystem::path& repository, std::vector<std::string> arguments,
                      const std::filesystem::path& directory = {}, const std::filesystem::path& index = {});

// `git <arguments>` that reads the user's repository around `directory`. It starts no file system monitor and fetches
// nothing that a partial clone lacks. GIT_DIR and the like of a hook that runs us are dropped, because they may name
// another repository. The user's configuration applies.
Command enclosing_command(const std::filesystem::path& directory, std::vector<std::string> arguments);

}  // namespace modlock::git
