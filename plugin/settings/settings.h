#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/address/platform.h"
#include "plugin/config/source_text.h"
#include "protocol/base/result.h"

namespace modlock {

// A `module "key" { … }` block of a `.tofu-modlock.hcl`.
struct ModuleRule {
  std::optional<SourceText> version;
  std::optional<SourceText> tag_prefix;
  Location location;
  bool is_inherited = false;  // from a file above the root, which may serve other roots
};

// A `source "glob" { … }` block.
struct SourceRule {
  std::string glob;  // `*` matches any run of characters, on Source::identity()
  std::optional<SourceText> version;
  std::optional<SourceText> tag_prefix;
  std::optional<SourceText> minimum_release_age;
  Location location;
  bool of_user = false;  // from the user's file
};

// A list of globs that one file allows: a source must match one glob of every such list.
struct AllowList {
  std::vector<SourceText> globs;
  Location location;
};

// A `backend "scheme" { command = [...] }` block of the user's file.
struct BackendSetting {
  std::string scheme;
  std::vector<std::string> command;
  Location location;
};

enum class Resolution { automatic, unified, per_call };
enum class LockPlacement { in_lock_file, sidecar };

inline constexpr std::size_t kMostConnections = 64;

// The settings in force for one root. In lists, values of the nearest file are first.
struct Settings {
  std::optional<std::string> implementation;  // "opentofu" or "terraform"
  std::vector<Platform> platforms;
  std::optional<Resolution> resolution;
  std::optional<LockPlacement> module_lock_file;
  std::vector<AllowList> allow_lists;  // nearest file first; each one narrows the others
  std::vector<SourceText> deny_sources;
  std::map<std::string, ModuleRule, std::less<>> modules;  // by key, from the nearest file; none of the user's file
  std::vector<SourceRule> sources;                         // nearest file first, then file order
  std::vector<BackendSetting> backends;                    // only from the user's file
  std::optional<std::string> git_engine;                   // "auto", "libgit2", "git"; only from the user's file
  std::optional<std::size_t> connections;                  // to one host, 1 to 64; only from the user's file
  std::optional<std::chrono::seconds> fetch_timeout;       // that a git server or a program may be silent
  std::optional<std::uint64_t> child_memory;               // bytes, of a program; only from the user's file
  std::vector<std::filesystem::path> workspace_roots;      // absolute; only from the user's file
  std::vector<std::string> oci_token_realms;               // hosts, in ASCII; only from the user's file
  std::vector<std::string> git_helpers;                    // only "codecommit"; only from the user's file
  std::optional<SourceText> remote_store;                  // "oci://HOST/REPOSITORY"; only from the user's file
  // Registry hosts, as in Source::host, whose publication dates are trusted; only from the user's file.
  // Unset: only registry.opentofu.org.
  std::optional<std::vector<std::string>> trust_publication_dates;
  std::vector<SourceText> roots;    // globs of directories that are roots, relative to their file's directory
  std::vector<SourceText> exclude;  // globs of directories that are not roots, likewise
  std::vector<std::string> files;   // that were read, nearest first
};

// Reads `.tofu-modlock.hcl` from `root` up to `repository_root`, then `user_file` (nearest wins per setting).
// Errors: CONFIG_PARSE with location (syntax, unknown setting, wrong type, `module` block in the user's file, invalid
// duration, platform or glob of directories); SOURCE_DENIED (a setting that starts a program, anywhere but in
// `user_file`); LOCK_NEWER (`required_version` excludes this build, naming the required version); PATH_OUTSIDE_ROOT (a
// file is a link to a file outside of the repository); IO_ERROR.
Result<Settings> load_settings(const std::filesystem::path& root, const std::filesystem::path& repository_root,
                               const std::optional<std::filesystem::path>& user_file, const Documents& documents);

// Reads only the `.tofu-modlock.hcl` in `directory`, which need not be a root; if it does not exist, nothing is set.
// Its locations have its absolute path. Errors: as above; PATH_OUTSIDE_ROOT if it is a link to a file outside of
// `bound`.
Result<Settings> load_directory_settings(const std::filesystem::path& directory, const std::filesystem::path& bound);

// Reads only `user_file`, for commands without a root; if it does not exist, nothing is set. Errors: as above.
Result<Settings> load_user_settings(const std::filesystem::path& user_file);

// Errors: SOURCE_DENIED, naming file and line of the list, if a deny list matches the identity or an allow list has no
// matching glob.
Result<void> check_source_allowed(const Settings& settings, std::string_view identity);

// Whether the whole text matches; `*` matches any run of characters, `/` included.
bool matches_glob(std::string_view glob, std::string_view text);

// Reads a duration in Go's syntax with the units w, d, h, m and s: "3d", "1h30m", "1.5h", "0". nullopt for any other
// text, and if it does not fit. Fractions of a second are cut off.
std::optional<std::chrono::seconds> parse_duration(std::string_view text);

// What `fetch_timeout` may be: a duration from "1s" to "10m". nullopt for any other text.
std::optional<std::chrono::seconds> parse_fetch_timeout(std::string_view text);

// A size: a whole number of "MiB" or "GiB". In bytes; nullopt for any other text, and where it does not fit.
std::optional<std::uint64_t> parse_size(std::string_view text);

inline constexpr std::string_view kSettingsFileName = ".tofu-modlock.hcl";

}  // namespace modlock
