#include "plugin/settings/setting_table.h"

#include <algorithm>

#include "plugin/settings/settings.h"

namespace modlock {

const std::vector<SettingInfo>& setting_table() {
  using Kind = SettingInfo::Kind;
  using File = SettingInfo::File;
  static const std::vector<SettingInfo> table = {
      {"",
       "resolution",
       Kind::choice,
       File::any,
       "\"auto\"",
       true,
       "Which calls share a version: those of one repository (auto), of one source (unified), or none (per-call)",
       {"auto", "unified", "per-call"}},
      {"",
       "module_lock_file",
       Kind::choice,
       File::any,
       "\"inline\"",
       false,
       "The file of module blocks: .terraform.lock.hcl (inline) or .terraform.modules.lock.hcl (default: unchanged)",
       {"inline", "sidecar"}},
      {"",
       "implementation",
       Kind::choice,
       File::any,
       "\"opentofu\"",
       false,
       "The client that the configuration is read for (default: determined from the project)",
       {"opentofu", "terraform"}},
      {"", "platforms", Kind::list, File::any, "[\"linux_amd64\", \"darwin_arm64\"]", false,
       "The platforms whose provider packages get hashes in the lock file (default: this machine)"},
      {"", "required_version", Kind::text, File::any, "\">= 0.1.0\"", false,
       "The releases of tofu-modlock that may be used"},
      {"", "allow_sources", Kind::list, File::any, "[\"git::https://git.example.com/*\", \"registry.opentofu.org/*\"]",
       false, "Globs of source addresses: only these sources are allowed"},
      {"", "deny_sources", Kind::list, File::any, "[\"git::ssh://*\"]", false,
       "Globs of source addresses: these sources are not allowed"},
      {"", "roots", Kind::list, File::any, "[\"tools/*/example\"]", false,
       "Globs of directories that --recursive processes as root modules, in addition to those that it finds"},
      {"", "exclude", Kind::list, File::any, "[\"live/sandbox\"]", false,
       "Globs of directories that --recursive skips"},
      {"", "fetch_timeout", Kind::text, File::any, "\"30s\"", true,
       "How long a git server, or a git or helper process, may be silent: from \"1s\" to \"10m\""},
      {"",
       "connections",
       Kind::count,
       File::user,
       "32",
       true,
       "The maximum number of connections to one host",
       {},
       1,
       kMostConnections},
      {"", "child_memory", Kind::text, File::user, "\"512MiB\"", true,
       "The memory that a git process, a helper or an external backend may use: \"64MiB\" or more"},
      {"",
       "git_engine",
       Kind::choice,
       File::user,
       "\"auto\"",
       true,
       "The git implementation for https and http",
       {"auto", "libgit2", "git"}},
      {"", "workspace_roots", Kind::list, File::user, "[\"/srv/modules\"]", false,
       "Absolute paths of further directories that root modules may read"},
      {"", "oci_token_realms", Kind::list, File::user, "[\"auth.example.com\"]", false,
       "Hosts of token services on other domains that may receive the credentials of OCI registries"},
      {"", "git_helpers", Kind::list, File::user, "[\"codecommit\"]", false,
       "Remote helpers of git that may serve module sources: only \"codecommit\""},
      {"", "remote_store", Kind::text, File::user, "\"oci://registry.example.com/platform/modules\"", false,
       "The repository of module packages that is read before the sources of locked modules"},
      {"",
       "install",
       Kind::choice,
       File::user,
       "\"copy\"",
       true,
       "Whether install copies packages, or makes symbolic links into the cache",
       {"copy", "link"}},
      {"", "trust_publication_dates", Kind::list, File::user, "[\"registry.opentofu.org\"]", true,
       "Registries whose publication dates count for minimum_release_age"},
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
       "How long a version must have been known before it is selected, in days, hours, minutes and seconds"},
      {"source", "link", Kind::no, File::any, "false", false,
       "A package that is never a link into the cache, because it writes into its own directory"},
      {"source", "signed_by_ssh", Kind::text, File::any, "\"signers\"", false,
       "An allowed-signers file of ssh-keygen: the tags of versions must have a signature by one of its keys"},
      {"source", "signed_by_openpgp", Kind::text, File::any, "\"signers.asc\"", false,
       "A file of OpenPGP public keys: the tags of versions must have a signature by one of them"},
      {"source",
       "signed_object",
       Kind::choice,
       File::any,
       "\"tag\"",
       true,
       "What must be signed: the tag of a version, or its commit",
       {"tag", "commit"}},
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
  const auto& table = setting_table();
  const auto found = std::find_if(table.begin(), table.end(), [&](const SettingInfo& setting) {
    return setting.block.empty() && setting.name == name;
  });
  return found == table.end() ? nullptr : &*found;
}

const std::vector<BlockLabel>& block_labels() {
  static const std::vector<BlockLabel> labels = {
      {"module", "network.label", "Settings of one module call; the label is its address without \"module.\""},
      {"source", "git::https://git.example.com/*", "Settings of all calls whose normalized source address matches"},
      {"deny", "terraform-aws-modules/vpc/aws", "Releases of matching modules and providers that must not be used"},
      {"backend", "hg", "A further kind of source"},
  };
  return labels;
}

}  // namespace modlock
