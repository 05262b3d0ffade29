#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "protocol/messages/lock_plan.h"

namespace modlock::messages {

struct ModulesInstallParams {
  RootParams root;
  LockParams lock;
  std::optional<bool> overrides;
  std::optional<bool> offline;
  std::optional<std::string> from;
  std::optional<bool> remote_only;
  std::optional<bool> link;
  std::optional<bool> strict;
  // Not sent: absolute directories in place of packages, by key; whether the command `ci`, which refuses them,
  // installs.
  std::map<std::string, std::string> replaced = {};
  bool is_ci = false;
};
template <typename Form>
void fields(Form& form, In<Form, ModulesInstallParams> params) {
  form.include(params.root);
  form.optional("lock", params.lock, "what to install; absent: the lock on disk");
  form.optional("overrides", params.overrides, "override files: absent: leave them; true: write; false: remove");
  form.optional("offline", params.offline, "send no request; what the cache lacks is OFFLINE_MISS");
  form.optional("from", params.from,
                "a bundle, an absolute path or `oci://HOST/REPOSITORY`: packages that the cache lacks are installed "
                "from it if they have the locked h1");
  form.optional("remoteOnly", params.remote_only,
                "send no request to a source: what neither the cache nor `from` or the remote store has is an error");
  form.optional("link", params.link,
                "true: a package is a symbolic link into the cache; false: a copy; absent: as in the user's settings");
  form.optional("strict", params.strict,
                "a Git LFS pointer in place of its content is an error; absent: only in CI, otherwise a warning");
}

struct InstalledModule {
  std::string key;
  std::string directory;         // as the manifest names it, without the subdirectory
  std::string h1 = {};           // empty for local modules
  std::string replaced_by = {};  // the directory that was copied in place of the locked package: "../vpc"
};

struct ModulesInstallResult {
  std::vector<InstalledModule> installed;
  std::vector<InstalledModule> reused;
  std::vector<InstalledModule> removed;
  std::vector<std::string> unlocked;
  std::string manifest;
  Diagnostics diagnostics;
  RunStats stats;
};

constexpr TypeName name_of(const InstalledModule*) {
  return {"InstalledModule", "A module call and its directory."};
}
template <typename Form>
void fields(Form& form, In<Form, InstalledModule> module) {
  form.member("key", module.key, "the names of the call from the root down");
  form.member("dir", module.directory, "relative to the root");
  form.optional("h1", module.h1, "hash of the tree; absent for a local module");
  form.optional("replacedBy", module.replaced_by,
                "the directory, relative to the root, that was copied in place of the locked package");
}

template <typename Form>
void fields(Form& form, In<Form, ModulesInstallResult> result) {
  form.member("installed", result.installed, "what was put there");
  form.member("reused", result.reused, "the packages that were already in place");
  form.member("removed", result.removed, "what is no longer called");
  form.optional("unlocked", result.unlocked,
                "keys of calls that no backend serves and that the settings allow: the client has to download them");
  form.member("manifest", result.manifest, "`modules.json`, relative to the root");
  form.member("diagnostics", result.diagnostics,
              "warnings; HASH_MISMATCH for each module that was edited in place and is restored now");
  form.member("stats", result.stats, "the requests and the time");
}

}  // namespace modlock::messages
