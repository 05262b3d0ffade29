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

class GitConfiguration;

// Returns a variable of our own environment, or nullopt if it is not set.
using EnvironmentLookup = std::function<std::optional<std::string>(const char* name)>;
std::optional<std::string> lookup_environment(const char* name);

// Returns the logins of the entries of ~/.netrc for the host of an address; "" for a password without one before it,
// which may fit every user. The grammar is that of libcurl 7.88 (lib/netrc.c), which git uses: a macro ends at an empty
// line, and a keyword counts also where another host's entry has a value.
std::vector<std::string> netrc_logins(const RemoteAddress& remote, const EnvironmentLookup& environment);

// Makes a `git <arguments>` command for a remote. The user's configuration, credential helpers, proxies and
// certificates apply. Hooks, prompts, a repository from the environment, transports other than the five, and
// credentials after a redirect to another host do not. The environment supplies the user-info, by a credential helper,
// and the address with its query; the arguments contain only `remote.url`. git passes a whole address to its http
// program, so with a query a setting in the environment starts that program with only a remote name. A redirect from
// https to http makes git fail.
// If `follows_redirects` is false, any redirect makes git fail with "error: 30x"; otherwise git follows those of the
// first request. `users` is GitConfiguration::of() the remote: its transports, http.followRedirects=false and
// core.sshCommand apply. The user's askpass program is queried only if the address allows it, and only for the host of
// the address, so a redirect to another host does not get its password. `ssh_key` is a private key file that ssh offers
// too. git fails if an http(s) server is silent for `patience`.
Command network_command(const RemoteAddress& remote, std::vector<std::string> arguments,
                        const EnvironmentLookup& environment, const GitConfiguration* users = nullptr,
                        const std::filesystem::path& ssh_key = {}, bool follows_redirects = true,
                        std::chrono::seconds patience = std::chrono::seconds{30});

// Makes a `git <arguments>` command that sees the configuration of a clone of the remote: `users.includes()` too, and
// conditions about its URL apply.
Command configuration_command(const RemoteAddress& remote, std::vector<std::string> arguments,
                              const EnvironmentLookup& environment, const GitConfiguration& users);

// Returns the program that git would ask for a user name and a password; nullopt: none.
std::optional<std::string> askpass_program(const EnvironmentLookup& environment, const GitConfiguration& users);

// Makes a command that checks whether a remote with a hidden query speaks version 2 of git's protocol, in which git
// starts no program with the address. If so, the output starts with a line ending, otherwise with "fallback".
Command version_command(const RemoteAddress& remote, const EnvironmentLookup& environment,
                        const GitConfiguration* users, bool follows_redirects, std::chrono::seconds patience);

// Makes a `git <arguments>` command for a repository of tofu-modlock: no configuration except the repository's own, no
// attributes file, no network. `directory` and `index` name a work tree and its index file; empty: none.
Command local_command(const std::filesystem::path& repository, std::vector<std::string> arguments,
                      const std::filesystem::path& directory = {}, const std::filesystem::path& index = {});

// Makes a `git <arguments>` command that reads the user's repository around `directory`. It starts no file system
// monitor and no hook, and does not fetch objects that a partial clone lacks. Filters are run by git for the content of
// files in the work tree: read those without git, or switch the filters off as revision.cpp does. GIT_DIR and similar
// variables of a calling hook are dropped, because they may name another repository. The user's configuration applies.
Command enclosing_command(const std::filesystem::path& directory, std::vector<std::string> arguments);

}  // namespace modlock::git
