#include "plugin/settings/setting_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "backends/address/hostname.h"
#include "backends/address/scrub.h"
#include "backends/base/collections.h"
#include "backends/base/text.h"
#include "plugin/hcl/characters.h"
#include "plugin/settings/directory_glob.h"

namespace modlock {
namespace {

using hcl::Attribute;

std::string text_of(const std::string& text) {
  return text;
}
std::string text_of(const SourceText& written) {
  return scrub_urls(written.text);
}
std::string text_of(const Platform& platform) {
  return platform.to_string();
}
std::string text_of(const std::filesystem::path& path) {
  return path.string();
}
std::string text_of(std::chrono::seconds time) {
  return fmt::format("{}s", time.count());
}
std::string text_of(std::size_t count) {
  return std::to_string(count);
}
std::string text_of(const AllowList& list);
template <typename Item>
std::string text_of(const std::vector<Item>& list) {
  std::string text;
  for (const Item& item : list) {
    text += (text.empty() ? "" : ", ") + text_of(item);
  }
  return text;
}
std::string text_of(const AllowList& list) {
  return text_of(list.globs);
}
std::string text_of(const std::optional<std::vector<std::string>>& list) {
  return list ? fmt::format("[{}]", text_of(*list)) : "";
}
template <typename Value>
std::string text_of(const std::optional<Value>& value) {
  return value ? text_of(*value) : "";
}

// Returns the labels of blocks.
template <typename Blocks, typename Label>
std::string labels_of(const Blocks& blocks, const Label& label) {
  std::vector<std::string> labels;
  std::transform(blocks.begin(), blocks.end(), std::back_inserter(labels), label);
  return text_of(labels);
}

template <auto kMember>
std::string print(const SettingInfo& /*setting*/, const Settings& settings) {
  return text_of(settings.*kMember);
}

template <auto kMember, auto kReader>
constexpr SettingInfo::Access kRead = {kReader, print<kMember>};

// Values in the order of the choices.
template <auto kMember, auto... kValues>
Result<void> read_choice(const SettingInfo& setting, const SettingsText& in, const Attribute& attribute, Settings& to) {
  return in.read_choice(attribute, setting.choices).map([&](std::size_t choice) {
    to.*kMember = (to.*kMember).value_or(std::array{kValues...}.at(choice));
  });
}
template <auto kMember, auto... kValues>
std::string print_choice(const SettingInfo& setting, const Settings& settings) {
  std::size_t choice = 0;
  const bool is_set = (... || (settings.*kMember == kValues || (++choice, false)));
  return is_set ? std::string(setting.choices.at(choice)) : "";
}
template <auto kMember, auto... kValues>
constexpr SettingInfo::Access kChoice = {read_choice<kMember, kValues...>, print_choice<kMember, kValues...>};

template <auto kMember>
Result<void> read_word(const SettingInfo& setting, const SettingsText& in, const Attribute& attribute, Settings& to) {
  return in.read_choice(attribute, setting.choices).map([&](std::size_t choice) {
    to.*kMember = (to.*kMember).value_or(std::string(setting.choices.at(choice)));
  });
}
template <auto kMember>
constexpr SettingInfo::Access kWord = kRead<kMember, read_word<kMember>>;

// Adds what is written, and its place, to the rule that a value breaks.
tl::unexpected<Error> reject(const SettingsText& in, const SourceText& written, const Error& rule) {
  return in.reject(*written.location.range, fmt::format("{}, found \"{}\"", rule.message, written.text), rule.hint);
}

template <auto kMember, auto kParse>
Result<void> read_value(const SettingInfo& /*setting*/, const SettingsText& in, const Attribute& attribute,
                        Settings& to) {
  MODLOCK_TRY(const auto written, in.read_string(attribute));
  const auto value = kParse(written.text);
  if (!value) {
    return reject(in, written, value.error());
  }
  to.*kMember = (to.*kMember).value_or(*value);
  return {};
}

template <typename Value>
void assign(std::vector<Value>& to, std::vector<Value> list) {
  if (to.empty()) {
    to = std::move(list);
  }
}
template <typename Value>
void assign(std::optional<std::vector<Value>>& to, std::vector<Value> list) {
  to = std::move(list);
}

template <auto kMember, auto kParse>
Result<void> read_list(const SettingInfo& /*setting*/, const SettingsText& in, const Attribute& attribute,
                       Settings& to) {
  MODLOCK_TRY(const auto texts, in.read_strings(attribute));
  std::vector<typename decltype(kParse(std::string()))::value_type> list;
  for (const SourceText& written : texts) {
    auto item = kParse(written.text);
    if (!item) {
      return reject(in, written, item.error());
    }
    list.push_back(std::move(*item));
  }
  assign(to.*kMember, std::move(list));
  return {};
}
template <auto kMember, auto kParse>
constexpr SettingInfo::Access kList = kRead<kMember, read_list<kMember, kParse>>;

// Globs of all files add up.
template <auto kMember>
Result<void> read_globs(const SettingInfo& setting, const SettingsText& in, const Attribute& attribute, Settings& to) {
  MODLOCK_TRY(const auto globs, in.read_strings(attribute));
  for (const SourceText& written : globs) {
    const auto glob = DirectoryGlob::parse(written.text);
    if (!setting.name.ends_with("_sources") && !glob) {
      return reject(in, written,
                    {.message = fmt::format("a glob of {} {}", attribute.name, glob.error().message),
                     .hint = "write it relative to the directory of this file, as in \"live/*\""});
    }
  }
  (to.*kMember).insert((to.*kMember).end(), globs.begin(), globs.end());
  return {};
}
template <auto kMember>
constexpr SettingInfo::Access kGlobs = kRead<kMember, read_globs<kMember>>;

Result<void> read_allow_list(const SettingInfo& /*setting*/, const SettingsText& in, const Attribute& attribute,
                             Settings& to) {
  return in.read_strings(attribute).map([&](std::vector<SourceText> globs) {
    to.allow_lists.push_back({std::move(globs), {in.path(), attribute.range()}});
  });
}

Result<Platform> read_platform(const std::string& text) {
  auto platform = Platform::parse(text);
  return platform ? std::move(platform)
                  : fail({}, "a platform must be written as os_arch", "write it as \"linux_amd64\"");
}

Result<void> read_platforms(const SettingInfo& setting, const SettingsText& in, const Attribute& attribute,
                            Settings& to) {
  auto read = read_list<&Settings::platforms, read_platform>(setting, in, attribute, to);
  return read && to.platforms.empty()
             ? in.reject(attribute.value.range, "platforms must name one platform at least, found an empty list",
                         "write it as platforms = [\"linux_amd64\"], or leave it out")
             : read;
}

template <auto kMember>
Result<void> read_count(const SettingInfo& setting, const SettingsText& in, const Attribute& attribute, Settings& to) {
  return in.read_count(attribute, setting.least, setting.most).map([&](std::size_t count) {
    to.*kMember = (to.*kMember).value_or(count);
  });
}

Result<void> read_remote_store(const SettingInfo& /*setting*/, const SettingsText& in, const Attribute& attribute,
                               Settings& to) {
  return in.read_string(attribute).map([&](SourceText written) { to.remote_store = std::move(written); });
}

Result<std::chrono::seconds> read_timeout(const std::string& text) {
  const auto timeout = parse_fetch_timeout(text);
  return timeout ? Result<std::chrono::seconds>(*timeout)
                 : fail({}, "fetch_timeout must be a duration from 1s to 10m",
                        "write it in minutes and seconds: \"30s\" or \"2m\"");
}

Result<std::uint64_t> read_memory(const std::string& text) {
  const auto size = parse_size(text);
  return size && *size >> 20U >= 64
             ? Result<std::uint64_t>(*size)
             : fail({}, "child_memory must be a size of at least 64MiB", "write it in MiB or GiB: \"512MiB\"");
}

constexpr SettingInfo::Access kChildMemory = {
    read_value<&Settings::child_memory, read_memory>, [](const SettingInfo& /*setting*/, const Settings& settings) {
      return settings.child_memory ? fmt::format("{}MiB", *settings.child_memory >> 20U) : "";
    }};

Result<std::filesystem::path> read_workspace_root(const std::string& text) {
  const std::filesystem::path path(text);
  return path.is_absolute() ? Result<std::filesystem::path>(path.lexically_normal())
                            : fail({}, "a workspace root must be an absolute path", "write it as \"/srv/modules\"");
}

Result<std::string> read_realm(const std::string& text) {
  const auto host = lookup_host(text);
  return host && !host->ascii.empty()
             ? Result<std::string>(host->ascii)
             : fail({}, "a token realm must be the name of a host", "write it as \"auth.example.com\"");
}

Result<std::string> read_registry(const std::string& text) {
  const auto host = parse_service_host(text);
  return host ? Result<std::string>(host->display)
              : fail({}, "trust_publication_dates must name registry hosts", "write it as \"registry.example.com\"");
}

Result<std::string> read_helper(const std::string& text) {
  return text == "codecommit" ? Result<std::string>(text)
                              : fail({}, "git_helpers may contain only \"codecommit\"", "remove it");
}

Result<std::string> read_program(const std::string& text) {
  return text == "aws" || text == "gcloud"
             ? Result<std::string>(text)
             : fail({}, "credential_programs may contain only \"aws\" and \"gcloud\"", "remove it");
}

SettingInfo::Override by(std::string_view flag = "", std::string_view variable = "", std::string_view value = "",
                         SettingInfo::Override::On on = {}) {
  return {flag, variable, value, on};
}

std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> list;
  while (!text.empty()) {
    list.push_back(take_line(text, ' '));
  }
  return list;
}

}  // namespace

const std::vector<SettingInfo>& setting_table() {
  using Kind = SettingInfo::Kind;
  using File = SettingInfo::File;
  using On = SettingInfo::Override::On;
  static const std::vector<SettingInfo> table = {
      {"", "resolution", Kind::choice, File::any, "\"auto\"", true,
       "Which calls share a version: those of one repository (auto), of one source (unified), or none (per-call)",
       kChoice<&Settings::resolution, Resolution::automatic, Resolution::unified, Resolution::per_call>,
       by("--resolution", "TOFU_MODLOCK_RESOLUTION"), words("auto unified per-call")},
      {"", "module_lock_file", Kind::choice, File::any, "\"inline\"", false,
       "The file of module blocks: .terraform.lock.hcl (inline) or .terraform.modules.lock.hcl (default: unchanged)",
       kChoice<&Settings::uses_sidecar, false, true>, by(), words("inline sidecar")},
      {"", "implementation", Kind::choice, File::any, "\"opentofu\"", false,
       "The client that the configuration is read for (default: determined from the project)",
       kWord<&Settings::implementation>, by("--implementation", "TOFU_MODLOCK_IMPLEMENTATION"),
       words("opentofu terraform")},
      {"", "platforms", Kind::list, File::any, "[\"linux_amd64\", \"darwin_arm64\"]", false,
       "The platforms whose provider packages get hashes in the lock file (default: this machine)",
       kRead<&Settings::platforms, read_platforms>},
      {"", "required_version", Kind::text, File::any, "\">= 0.1.0\"", false,
       "The releases of tofu-modlock that may be used"},
      {"", "allow_sources", Kind::list, File::any, "[\"git::https://git.example.com/*\", \"registry.opentofu.org/*\"]",
       false, "Globs of source addresses: only these sources are allowed",
       kRead<&Settings::allow_lists, read_allow_list>},
      {"", "deny_sources", Kind::list, File::any, "[\"git::ssh://*\"]", false,
       "Globs of source addresses: these sources are not allowed", kGlobs<&Settings::deny_sources>},
      {"", "unlocked_sources", Kind::list, File::any, "[\"hg::https://hg.example.com/*\"]", false,
       "Globs of source addresses: calls of these sources need no lock if no backend serves them",
       kGlobs<&Settings::unlocked_sources>,
       by("--unlocked-sources", "TOFU_MODLOCK_UNLOCKED_SOURCES", "GLOB", On::roots)},
      {"", "roots", Kind::list, File::any, "[\"tools/*/example\"]", false,
       "Globs of directories that --recursive processes as root modules, in addition to those that it finds",
       kGlobs<&Settings::roots>},
      {"", "exclude", Kind::list, File::any, "[\"live/sandbox\"]", false, "Globs of directories that --recursive skips",
       kGlobs<&Settings::exclude>},
      {"", "fetch_timeout", Kind::text, File::any, "\"30s\"", true,
       "How long a git or archive server, or a git or helper process, may be silent: from \"1s\" to \"10m\"",
       kRead<&Settings::fetch_timeout, read_value<&Settings::fetch_timeout, read_timeout>>,
       by("--fetch-timeout", "TOFU_MODLOCK_FETCH_TIMEOUT", "DURATION", On::network)},
      {"", "connections", Kind::count, File::user, "32", true, "The maximum number of connections to one host",
       kRead<&Settings::connections, read_count<&Settings::connections>>,
       by("--connections", "TOFU_MODLOCK_CONNECTIONS", "N", On::network), words(""), 1, kMostConnections},
      {"", "child_memory", Kind::text, File::user, "\"512MiB\"", true,
       "The memory that a git process, a helper or an external backend may use: \"64MiB\" or more", kChildMemory},
      {"", "git_engine", Kind::choice, File::user, "\"auto\"", true, "The git implementation for https and http",
       kWord<&Settings::git_engine>, by("--git-engine", "TOFU_MODLOCK_GIT_ENGINE", "", On::network),
       words("auto in-process libgit2 git")},
      {"", "workspace_roots", Kind::list, File::user, "[\"/srv/modules\"]", false,
       "Absolute paths of further directories that root modules may read",
       kList<&Settings::workspace_roots, read_workspace_root>},
      {"", "oci_token_realms", Kind::list, File::user, "[\"auth.example.com\"]", false,
       "Hosts of token services on other domains that may receive the credentials of OCI registries",
       kList<&Settings::oci_token_realms, read_realm>},
      {"", "git_helpers", Kind::list, File::user, "[\"codecommit\"]", false,
       "Remote helpers of git that may serve module sources: only \"codecommit\"",
       kList<&Settings::git_helpers, read_helper>},
      {"", "credential_programs", Kind::list, File::user, "[\"aws\", \"gcloud\"]", false,
       "Programs that may be run for the credentials of S3 (aws) and Google Cloud Storage (gcloud)",
       kList<&Settings::credential_programs, read_program>},
      {"", "remote_store", Kind::text, File::user, "\"oci://registry.example.com/platform/modules\"", false,
       "The repository of module packages that is read before the sources of locked modules",
       kRead<&Settings::remote_store, read_remote_store>, by("", "TOFU_MODLOCK_REMOTE")},
      {"", "install", Kind::choice, File::user, "\"copy\"", true,
       "Whether install copies packages, or makes symbolic links into the cache",
       kChoice<&Settings::links, false, true>, by(), words("copy link")},
      {"", "trust_publication_dates", Kind::list, File::user, "[\"registry.opentofu.org\"]", true,
       "Registries whose publication dates count for minimum_release_age",
       kList<&Settings::trust_publication_dates, read_registry>},
      {"module", "version", Kind::text, File::repository, "\"~> 1.2\"", false,
       "The version constraint of this call, also for a git or OCI source; a full commit id pins it"},
      {"module", "tag_prefix", Kind::text, File::repository, "\"label/\"", false,
       "Only tags with this prefix are versions of the module"},
      {"module", "link", Kind::no, File::repository, "false", false,
       "A package that is never a link into the cache, because it writes into its own directory"},
      {"source", "version", Kind::text, File::any, "\">= 1.0\"", false,
       "The version constraint of calls that no module block constrains"},
      {"source", "tag_prefix", Kind::text, File::any, "\"label/\"", false,
       "Only tags with this prefix are versions of the module"},
      {"source", "minimum_release_age", Kind::text, File::any, "\"3d\"", false,
       "How long a version must have been known before it is selected, in days, hours, minutes and seconds",
       SettingInfo::Access(), by("--minimum-release-age", "TOFU_MODLOCK_MINIMUM_RELEASE_AGE")},
      {"source", "link", Kind::no, File::any, "false", false,
       "A package that is never a link into the cache, because it writes into its own directory"},
      {"source", "replace", Kind::text, File::user, "\"/home/me/src/vpc\"", false,
       "The directory that install copies in place of the locked packages", SettingInfo::Access(), by("--replace")},
      {"source", "signed_by_ssh", Kind::text, File::any, "\"signers\"", false,
       "An allowed-signers file of ssh-keygen: the tags of versions must have a signature by one of its keys"},
      {"source", "signed_by_openpgp", Kind::text, File::any, "\"signers.asc\"", false,
       "A file of OpenPGP public keys: the tags of versions must have a signature by one of them"},
      {"source", "signed_object", Kind::choice, File::any, "\"tag\"", true,
       "What must be signed: the tag of a version, or its commit", SettingInfo::Access(), by(), words("tag commit")},
      {"provider", "minimum_release_age", Kind::text, File::any, "\"3d\"", false,
       "How long a version must have been known before it is selected, in days, hours, minutes and seconds",
       SettingInfo::Access(), by("--minimum-release-age", "TOFU_MODLOCK_MINIMUM_RELEASE_AGE")},
      {"deny", "versions", Kind::text, File::any, "\"= 5.1.0\"", false,
       "A constraint of versions that must not be used, in the dialect of modules and providers"},
      {"deny", "commits", Kind::list, File::any, "[\"8f2c0d0b6c1f\"]", false,
       "Commits that must not be used, with at least 7 digits"},
      {"deny", "digests", Kind::list, File::any,
       "[\"sha256:0000000000000000000000000000000000000000000000000000000000000000\"]", false,
       "Digests of OCI manifests, or hashes of lock files, that must not be used"},
      {"deny", "reason", Kind::text, File::any, "\"see INC-1234\"", false, "The reason, which every error contains"},
      {"backend", "command", Kind::list, File::user, "[\"/usr/local/bin/hg-backend\"]", false,
       "The program that serves sources of this scheme, and its arguments"},
      {"backend", "hosts", Kind::list, File::user, "[\"git.example.com\"]", false,
       "The hosts of a built-in kind (git, registry, oci, archive, s3, gcs) that it serves in place of tofu-modlock"},
  };
  return table;
}

std::vector<std::string_view> setting_names(std::string_view block) {
  std::vector<std::string_view> names;
  for (const SettingInfo& setting : setting_table()) {
    if (setting.block == block) {
      names.push_back(setting.name);
    }
  }
  return names;
}

const SettingInfo* find_setting(std::string_view name) {
  return find_where(setting_table(),
                    [&](const SettingInfo& setting) { return setting.block.empty() && setting.name == name; });
}

Result<void> override_setting(const SettingInfo& setting, const std::vector<std::string>& values, Settings& overrides) {
  std::string text;
  for (const std::string& value : values) {
    text += (text.empty() ? "" : ", ") + (setting.kind == SettingInfo::Kind::count ? value : hcl::quoted(value));
  }
  const bool is_list = setting.kind == SettingInfo::Kind::list;
  const std::string written = fmt::format("{} = {}{}{}\n", setting.name, is_list ? "[" : "", text, is_list ? "]" : "");
  const SettingsText in(written, "");
  auto read = setting.access.read(setting, in, in.body().attributes.at(0), overrides);
  return read.map_error([&](const Error& error) {
    std::string hint = error.hint.text();
    std::erase(hint, '"');  // of HCL
    return Error{.code = Code::invalid_params,
                 .message = std::string(setting.overridden_by.flag) + error.message.substr(setting.name.size()),
                 .hint = std::move(hint)};
  });
}

const std::vector<BlockLabel>& block_labels() {
  static const std::vector<BlockLabel> labels = {
      {"module", "network.label", "Settings of one module call; the label is its address without \"module.\"",
       [](const Settings& s) { return labels_of(s.modules, [](const auto& rule) { return rule.first; }); }},
      {"source", "git::https://git.example.com/*", "Settings of all calls whose normalized source address matches",
       [](const Settings& s) { return labels_of(s.sources, [](const auto& rule) { return scrub_urls(rule.glob); }); }},
      {"provider", "hashicorp/*", "Settings of all providers whose address matches",
       [](const Settings& s) {
         return labels_of(s.providers, [](const auto& rule) { return std::string(rule.provider.text()); });
       }},
      {"deny", "terraform-aws-modules/vpc/aws", "Releases of matching modules and providers that must not be used",
       [](const Settings& s) {
         return labels_of(s.deny_rules, [](const auto& rule) { return std::string(rule.releases.source.text()); });
       }},
      {"backend", "hg", "A further kind of source",
       [](const Settings& s) { return labels_of(s.backends, [](const auto& backend) { return backend.scheme; }); }},
  };
  return labels;
}

}  // namespace modlock
