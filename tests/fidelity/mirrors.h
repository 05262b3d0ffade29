#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tests/fidelity/offers.h"
#include "tests/support/module_registry.h"
#include "tests/support/oci_registry.h"

namespace modlock::fidelity {

// Mirrors of what the registry of these tests has, for providers on these hosts.

// A filesystem mirror below `directory`: what is sound, some packed, some unpacked.
void fill_mirror(const test::ProviderRegistry& registry, const std::vector<Offer>& offers,
                 const std::filesystem::path& directory, const std::vector<std::string>& hosts);

// A network mirror, and where it is: "https://127.0.0.1:PORT/mirror/". What it says of hashes differs by provider, from
// nothing to what is wrong; what is not sound is not sound in ways of its own.
std::string serve_mirror(const test::ProviderRegistry& registry, const std::vector<Offer>& offers,
                         test::ModuleRegistry& server, const std::vector<std::string>& hosts);

// An OCI mirror, and the template of its repositories.
std::string push_mirror(const test::ProviderRegistry& registry, const std::vector<Offer>& offers,
                        test::OciRegistry& server, const std::vector<std::string>& hosts);

}  // namespace modlock::fidelity
