#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "plugin/bundle/bundle.h"
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

// Returns the note of an error that names its root module.
std::string root_note(const messages::RootParams& root);

}  // namespace modlock
