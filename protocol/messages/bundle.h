#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "protocol/messages/fields.h"

namespace modlock::messages {

// The package of a lock entry.
struct BundledPackage {
  std::string source;
  std::string origin;  // "git:…"
  std::string h1;
  std::string manifest;  // the digest, for `oci://HOST/REPOSITORY?digest=`
  std::uint64_t bytes = 0;
  bool has_links = false;  // clients that read it as an OCI package see files instead
};

// The archive of a provider for one platform.
struct BundledArchive {
  std::string platform;
  std::string h1;
  std::string zh;
  std::uint64_t bytes = 0;
};

struct BundledProvider {
  std::string address;
  std::string version;
  std::vector<BundledArchive> archives;
};

// The content of one lock file.
struct BundledClosure {
  std::string tag;
  std::vector<BundledPackage> packages;
  std::vector<BundledProvider> providers;
};

struct PushedBundle {
  std::uint64_t sent = 0;       // packages of modules and providers
  std::uint64_t present = 0;    // those that the registry had
  std::uint64_t providers = 0;  // versions in the bundle
};

template <typename Form>
void fields(Form& form, In<Form, BundledPackage> package) {
  form.member("source", package.source);
  form.member("origin", package.origin);
  form.member("h1", package.h1);
  form.member("manifest", package.manifest);
  form.member("bytes", package.bytes);
  form.member("hasLinks", package.has_links);
}
template <typename Form>
void fields(Form& form, In<Form, BundledArchive> archive) {
  form.member("platform", archive.platform);
  form.member("h1", archive.h1);
  form.member("zh", archive.zh);
  form.member("bytes", archive.bytes);
}
template <typename Form>
void fields(Form& form, In<Form, BundledProvider> provider) {
  form.member("address", provider.address);
  form.member("version", provider.version);
  form.member("archives", provider.archives);
}
template <typename Form>
void fields(Form& form, In<Form, BundledClosure> closure) {
  form.member("tag", closure.tag);
  form.member("packages", closure.packages);
  form.member("providers", closure.providers);
}
template <typename Form>
void fields(Form& form, In<Form, PushedBundle> pushed) {
  form.member("sent", pushed.sent);
  form.member("present", pushed.present);
  form.member("providers", pushed.providers);
}

}  // namespace modlock::messages
