#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "backends/oci/reference.h"
#include "backends/remote/registry_store.h"
#include "plugin/lock/lock_file.h"
#include "protocol/base/result.h"
#include "protocol/messages/root_params.h"

namespace modlock {

// What Engine::create_bundle() writes.
struct BundleOptions {
  std::vector<messages::RootParams> roots;
  std::filesystem::path output;  // absolute: LayoutWriter::finish()
};

// What Engine::push_bundle() uploads.
struct PushOptions {
  std::vector<messages::RootParams> roots = {};
  std::filesystem::path bundle = {};  // absolute; empty: a new one of the roots
  std::string address;                // "oci://HOST/REPOSITORY"
};

// The content of a bundle.
struct BundleReport {
  struct Package {
    std::string source;  // of the lock entry
    std::string origin;  // "git:…"
    std::string h1;
    std::string manifest;  // the digest, for `oci://HOST/REPOSITORY?digest=`
    std::uint64_t bytes = 0;
    bool has_links = false;  // clients that read it as an OCI package see files instead
  };
  struct Closure {
    std::string tag;
    std::vector<Package> packages;
  };
  std::vector<Closure> closures;  // without duplicates
};

// Returns the repository of "oci://HOST/REPOSITORY". Errors: SOURCE_INVALID.
Result<oci::Repository> bundle_repository(const std::string& address);

// Returns the tag of the closure of a lock file: Closure::tag() of its entries, without those of hosts.
std::string closure_tag(const ModuleLocks& modules);

}  // namespace modlock
