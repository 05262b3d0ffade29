#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/address/provider_address.h"
#include "backends/base/context.h"
#include "plugin/config/source_text.h"
#include "plugin/settings/release_pattern.h"
#include "protocol/base/result.h"

namespace modlock {

// A `module "key" { … }` block of a `.tofu-modlock.hcl`.
struct ModuleRule {
  std::optional<SourceText> version;
  std::optional<SourceText> tag_prefix;
  // The directory that `install` copies in place of the locked package, relative to the root; of load_replacements().
  std::optional<SourceText> replace;
  Location location;
  bool is_inherited = false;  // from a file above the root, which may serve other roots
  bool is_copied = false;     // `link = false`: never a link into the cache
};

// The signature that a source block demands.
struct SignatureRule {
  bool is_openpgp = false;
  bool of_commit = false;
  SourceText file;             // of the keys, as written
  std::filesystem::path path;  // absolute
};

// A `source "glob" { … }` block.
struct SourceRule {
  std::string glob;  // `*` matches any run of characters, on Source::identity()
  std::optional<SourceText> version;
  std::optional<SourceText> tag_prefix;
  std::optional<SourceText> minimum_release_age;
  std::optional<SignatureRule> signature;
  std::optional<SourceText> replace;  // as in ModuleRule; only from the user's file
  Location location;
  bool of_user = false;    // from the user's file
  bool is_copied = false;  // as in ModuleRule
};

// A `provider "glob" { … }` block.
struct ProviderRule {
  SourcePattern provider;
  std::optional<SourceText> minimum_release_age;
  bool of_user = false;  // from the user's file
};

// A `deny "glob" { … }` block: releases that must not be used.
struct DenyRule {
  ReleasePattern releases;
  std::string reason;  // may be empty
  Location location;

  // Returns `denied by "github.com/acme/*" in .tofu-modlock.hcl:3: REASON`.
  std::string text() const;
};

// A list of globs that one file allows: a source must match one glob of every such list.
struct AllowList {
  std::vector<SourceText> globs;
  Location location;
};

// A `backend "scheme" { command = [...] }` block of the user's file, perhaps with hosts.
struct BackendSetting {
  std::string scheme;
  std::vector<std::string> command;
  std::vector<std::string> hosts;  // of a built-in kind of source
  Location location;
};

enum class Resolution { automatic, unified, per_call };

inline constexpr std::size_t kMostConnections = 64;

// The settings in force for one root. In lists, values of the nearest file are first.
struct Settings {
  std::optional<std::string> implementation;  // "opentofu" or "terraform"; that of the user's file wins
  bool is_client_of_user = false;             // `implementation` is from the user's file
  std::vector<Platform> platforms;
  std::optional<Resolution> resolution;
  std::optional<bool> uses_sidecar;    // module_lock_file: "sidecar", not "inline"
  std::vector<AllowList> allow_lists;  // nearest file first; each one narrows the others
  std::vector<SourceText> deny_sources;
  std::vector<SourceText> unlocked_sources;  // globs of sources whose calls need no lock if no backend serves them
  // Globs of the checkout that do not apply, because the base revision does not have them.
  std::vector<SourceText> unapproved_sources;
  std::vector<DenyRule> deny_rules;                        // of all files, nearest file first
  std::map<std::string, ModuleRule, std::less<>> modules;  // by key, from the nearest file; none of the user's file
  std::vector<SourceRule> sources;                         // nearest file first, then file order
  std::vector<ProviderRule> providers;                     // in the same order
  std::optional<std::chrono::seconds> requested_age;       // not of a file: replaces the minimum ages of one run
  std::vector<BackendSetting> backends;                    // only from the user's file
  std::optional<std::string> git_engine;   // "auto", "in-process" ("libgit2"), "git"; only from the user's file
  std::optional<std::size_t> connections;  // to one host, 1 to 64; only from the user's file
  std::optional<std::chrono::seconds> fetch_timeout;   // that a git or archive server or a program may be silent
  std::optional<std::uint64_t> child_memory;           // bytes, of a program; only from the user's file
  std::vector<std::filesystem::path> workspace_roots;  // absolute; only from the user's file
  std::vector<std::string> oci_token_realms;           // hosts, in ASCII; only from the user's file
  std::vector<std::string> git_helpers;                // only "codecommit"; only from the user's file
  std::vector<std::string> credential_programs;        // "aws", "gcloud"; only from the user's file
  std::optional<SourceText> remote_store;              // "oci://HOST/REPOSITORY"; only from the user's file
  std::optional<bool> links;                           // `install` links packages; only from the user's file
  // Registry hosts, as in Source::host, whose publication dates are trusted; only from the user's file.
  // Unset: only registry.opentofu.org.
  std::optional<std::vector<std::string>> trust_publication_dates;
  std::vector<SourceText> roots;     // globs of directories that are roots, relative to their file's directory
  std::vector<SourceText> exclude;   // globs of directories that are not roots, likewise
  std::vector<std::string> files;    // that were read, nearest first
  std::vector<std::string> ignored;  // warnings about settings of older versions in the user's file
};

// Reads `.tofu-modlock.hcl` from `root` up to `repository_root`, then `user_file` (nearest wins per setting).
// `overrides`: values of flags and variables, which win over every file.
// Errors: CONFIG_PARSE with location (syntax, unknown setting, wrong type, `module` block in the user's file, invalid
// duration, platform or glob of directories); SOURCE_DENIED (a setting that starts a program, anywhere but in
// `user_file`); LOCK_NEWER (`required_version` excludes this build, naming the required version); PATH_OUTSIDE_ROOT (a
// file is a link to a file outside of the repository; a key file of a repository is outside of it, or one of the user
// is inside); IO_ERROR.
Result<Settings> load_settings(const std::filesystem::path& root, const std::filesystem::path& repository_root,
                               const std::optional<std::filesystem::path>& user_file, const Documents& documents,
                               Settings overrides = {});

// Reads only the `.tofu-modlock.hcl` in `directory`, which need not be a root; if it does not exist, nothing is set.
// Its locations have its absolute path. Errors: as above; PATH_OUTSIDE_ROOT if it is a link to a file outside of
// `bound`.
Result<Settings> load_directory_settings(const std::filesystem::path& directory, const std::filesystem::path& bound);

// Reads the `replace` of calls from the `.tofu-modlock.local.hcl` in a root, which has nothing else, into `settings`.
// Errors: CONFIG_PARSE; IO_ERROR.
Result<void> load_replacements(const std::filesystem::path& root, Settings& settings);

// Reads only `user_file`, for commands without a root; if it does not exist, nothing is set. Errors: as above.
Result<Settings> load_user_settings(const std::filesystem::path& user_file, Settings overrides = {});

// Turns a source of S3 or Google Cloud Storage into one that only the backend of the user interprets, if there is one
// for all of that kind: it has versions and ids of its own, and its identity no `version` and no generation.
void serve_externally(const Settings& settings, Source& source);

// Errors: SOURCE_DENIED, naming file and line of the list, if a deny list matches the source (matches_source()) or an
// allow list has no glob that matches the whole identity. A redirect (`hop`) is also denied by a glob that matches the
// URL to which it leads, and not the URL from which: "https://*" denies archives, and no redirect of git.
Result<void> check_source_allowed(const Settings& settings, std::string_view identity, const ServerHop& hop = {});

// Returns whether a glob matches the whole identity, for rules that allow something. False for an address that has a
// plainer spelling.
bool allows_source(const std::vector<SourceText>& globs, std::string_view identity);

// Returns the first rule that denies a release; null: none. `version` and `hashes` as in ReleasePattern::matches().
template <typename Address, typename Version>
const DenyRule* find_denial(std::span<const DenyRule> rules, const Address& address, const Version& version,
                            std::span<const std::string> hashes) {
  for (const DenyRule& rule : rules) {
    if (rule.releases.matches(address, version, hashes)) {
      return &rule;
    }
  }
  return nullptr;
}

// Returns RELEASE_DENIED for a release: `2.1.0 of "…"` (version or origin, then the source or provider). `command`
// selects another one.
Error denied_release(const DenyRule& rule, std::string_view release, std::string_view address,
                     const std::string& subject, const Hint& command);

// Whether the whole text matches; `*` matches any run of characters, `/` included.
bool matches_glob(std::string_view glob, std::string_view text);

// Whether a glob matches the identity of a source, for rules that deny or demand something: also without its query
// arguments or its subdirectory, with or without `.git` and a slash at the end of a git address, by https for http, by
// github.com for www.github.com, at the top of the server for below its home directory (`/~/`), and in any letter case.
bool matches_source(std::string_view glob, std::string_view identity);

// Reads a duration in Go's syntax with the units w, d, h, m and s: "3d", "1h30m", "1.5h", "0". nullopt for any other
// text, and if it does not fit. Fractions of a second are cut off.
std::optional<std::chrono::seconds> parse_duration(std::string_view text);

// What `fetch_timeout` may be: a duration from "1s" to "10m". nullopt for any other text.
std::optional<std::chrono::seconds> parse_fetch_timeout(std::string_view text);

// A size: a whole number of "MiB" or "GiB". In bytes; nullopt for any other text, and where it does not fit.
std::optional<std::uint64_t> parse_size(std::string_view text);

// The end of a warning about remote_write, which has no effect any more.
inline constexpr std::string_view kPushInstead = "; to push packages, run: tofu-modlock bundle push --recursive";

inline constexpr std::string_view kSettingsFileName = ".tofu-modlock.hcl";
inline constexpr std::string_view kLocalSettingsFileName = ".tofu-modlock.local.hcl";

}  // namespace modlock
