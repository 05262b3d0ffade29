#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "backends/oci/reference.h"
#include "backends/remote/closure.h"
#include "plugin/lock/lock_file.h"
#include "protocol/base/result.h"
#include "protocol/messages/bundle.h"
#include "protocol/messages/root_params.h"

namespace modlock {

// What Engine::create_bundle() writes.
struct BundleOptions {
  std::vector<messages::RootParams> roots;
  std::filesystem::path output;  // absolute: LayoutWriter::finish()
  bool with_providers = false;
  std::vector<std::string> platforms = {};  // of providers; empty: this machine's
};

// What Engine::push_bundle() uploads.
struct PushOptions {
  BundleOptions created = {};         // what to upload; it has no output
  std::filesystem::path bundle = {};  // absolute: upload this instead
  std::string address;                // "oci://HOST/REPOSITORY"
  bool check = false;                 // remote::Presence::checked
};

// What Engine::pull_bundle() downloads.
struct PullOptions {
  std::vector<messages::RootParams> roots;
  std::string address;           // "oci://HOST/REPOSITORY"
  std::filesystem::path output;  // absolute: LayoutWriter::finish()
};

// What Engine::unpack_bundle() writes. All are absolute.
struct UnpackOptions {
  std::filesystem::path bundle;
  std::filesystem::path provider_mirror;    // a directory
  std::filesystem::path cli_configuration;  // a file
};

// Returns the repository of "oci://HOST/REPOSITORY". Errors: SOURCE_INVALID, without the secrets of the address; with
// `plain_http` those of oci::over_plain_http().
Result<oci::Repository> bundle_repository(const std::string& address, bool plain_http);

// Returns the note of an error that names its root module.
std::string root_note(const messages::RootParams& root);

// Converts the content of a lock file in a bundle to a message.
messages::BundledClosure to_message(const remote::NamedClosure& closure);

// Returns what a bundle calls the package of a lock entry, without its blobs.
remote::BundledPackage bundled_entry(const ModuleLock& entry);

// Returns the tag of the closure of a lock file: Closure::tag() of its entries.
std::string closure_tag(const ModuleLocks& modules);

}  // namespace modlock
