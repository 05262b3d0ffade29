#pragma once

#include <optional>
#include <string>
#include <vector>

#include "protocol/messages/lock_plan.h"

namespace modlock::messages {

struct LockFindParams {
  RootParams root;
  LockParams lock;
  std::string release;
};
template <typename Form>
void fields(Form& form, In<Form, LockFindParams> params) {
  form.include(params.root);
  form.optional("lock", params.lock, "the lock to search; absent: the one on disk");
  form.member("release", params.release,
              "`SOURCE[@VERSION|COMMIT|DIGEST]`: a module source or a provider, which may be a glob");
}

// A lock entry that matches.
struct FoundRelease {
  std::string subject;
  std::string source;
  std::optional<std::string> version;
  std::string origin;
  std::optional<Location> location;
};

struct LockFindResult {
  bool is_locked = false;
  std::vector<FoundRelease> found;
};

constexpr TypeName name_of(const FoundRelease*) {
  return {"FoundRelease", "A module call or provider that is locked to the release."};
}
template <typename Form>
void fields(Form& form, In<Form, FoundRelease> found) {
  form.member("subject", found.subject, "the call path, `module.vpc.nested`, or `provider.HOST/NAMESPACE/TYPE`");
  form.member("source", found.source, "of the module, or the address of the provider");
  form.optional("version", found.version, "that is locked");
  form.optional("origin", found.origin, "the commit or digest that is locked, `git:8f2c…`, `oci:sha256:…`");
  form.optional("location", found.location, "the block in the lock file");
}
template <typename Form>
void fields(Form& form, In<Form, LockFindResult> result) {
  form.member("isLocked", result.is_locked, "there is a lock file");
  form.member("found", result.found, "modules by call path, then providers by address");
}

}  // namespace modlock::messages
