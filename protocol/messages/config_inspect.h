#pragma once

#include <optional>
#include <string>
#include <vector>

#include "protocol/messages/error_json.h"
#include "protocol/messages/root_params.h"

namespace modlock::messages {

struct InspectedFile {
  std::string path;
  std::string role;  // "primary", "override", "test"
  std::string sha256;
};

struct InspectedModule {
  std::string key;
  std::optional<std::string> source = {};  // absent if the call has no source that can be resolved
  std::optional<std::string> source_kind = {};
  std::optional<std::string> raw_source = {};  // the expression as written, if it may be shown
  std::optional<std::string> constraint = {};
  std::vector<Location> constraint_locations = {};  // of its parts: the `version` argument, then our settings
  Location location = {};                           // of the source
  bool locked = false;                              // the lock has an entry for this source
  std::optional<std::string> locked_version = {};
  std::optional<std::string> commit = {};       // of the lock entry
  std::optional<std::string> digest = {};       // of the OCI manifest in the lock entry
  std::optional<std::string> checksum = {};     // of the archive in the lock entry
  bool of_tests = false;                        // called by a test file, or by a module that a test file calls
  bool is_static = true;                        // written out, without references
  std::optional<std::string> repeated_by = {};  // "count" or "for_each"
  std::optional<std::string> replaced_by = {};  // the directory that `install` copied in place of the locked package
};

struct InspectedConstraint {
  std::string text;
  std::string module;  // key; "" is the root
  Location location;
};

struct InspectedProvider {
  std::string address;
  std::optional<std::string> local_name = {};
  std::vector<InspectedConstraint> constraints = {};
  std::vector<std::string> modules = {};       // keys of the modules that need it; "" is the root
  std::optional<std::string> implied_by = {};  // what needs an undeclared provider: "aws_instance.web", "state"
  bool builtin = false;                        // part of the client, never locked
};

// A module's constraint on the client version.
struct InspectedCoreVersion {
  std::string from;  // "required_version", "compatible_with"
  std::string constraint;
  std::string module;
  Location location;
};

struct ConfigInspectResult {
  std::vector<InspectedFile> files;
  std::vector<InspectedModule> modules;
  std::vector<InspectedProvider> providers;
  std::vector<InspectedCoreVersion> core_versions;
  Diagnostics diagnostics;
};

// Writes a location as members of the object that is there.
template <typename Form>
void place_fields(Form& form, const Location& location) {
  form.member("path", location.path, "the file, relative to the root");
  form.optional("range", location.range, "the part of it");
}

constexpr TypeName name_of(const InspectedFile*) {
  return {"InspectedFile", "A file of the root module."};
}
template <typename Form>
void fields(Form& form, In<Form, InspectedFile> file) {
  form.member("path", file.path, "relative to the root");
  form.member("role", file.role, "its role in the module", {"primary", "override", "test"});
  form.member("sha256", file.sha256, "SHA-256 of its bytes");
}

constexpr TypeName name_of(const InspectedModule*) {
  return {"InspectedModule", "A module call."};
}
template <typename Form>
void fields(Form& form, In<Form, InspectedModule> module) {
  form.member("key", module.key, "its names from the root down: `network.label`");
  form.optional("source", module.source, "OpenTofu's own form; absent if the call cannot be resolved");
  form.optional("sourceKind", module.source_kind,
                "how it is fetched: local, registry, git, oci, archive, directory, hg, "
                "s3, gcs, or another scheme, for which there may be an external backend");
  form.optional("rawSource", module.raw_source, "the expression as written in the file, if it cannot contain a secret");
  form.optional("constraint", module.constraint, "what its version must satisfy");
  form.optional("constraintLocations", module.constraint_locations,
                "of its parts: the `version` argument, then our settings");
  form.optional("locked", module.locked, "true: the lock has an entry for this source");
  form.optional("lockedVersion", module.locked_version, "the version in the lock");
  form.optional("commit", module.commit, "the commit in the lock");
  form.optional("digest", module.digest, "the digest of the OCI manifest in the lock: `sha256:…`");
  form.optional("checksum", module.checksum, "the SHA-256 of the archive in the lock, in hexadecimal digits");
  form.optional("ofTests", module.of_tests, "true: called by a test file, or by a module that a test file calls");
  place_fields(form, module.location);
  form.member("static", module.is_static, "source and version are written out, without references");
  form.optional("repeated", module.repeated_by.has_value(), "true: the call has `count` or `for_each`");
  form.optional("repeatedBy", module.repeated_by, "which of them", {"count", "for_each"});
  form.optional("replacedBy", module.replaced_by,
                "the directory, relative to the root, that `install` copied in place of the locked package");
}

constexpr TypeName name_of(const InspectedConstraint*) {
  return {"InspectedConstraint", "A constraint on a provider, as written."};
}
template <typename Form>
void fields(Form& form, In<Form, InspectedConstraint> constraint) {
  form.member("text", constraint.text, "as written");
  form.member("module", constraint.module, "key of the module that has it; empty is the root");
  place_fields(form, constraint.location);
}

constexpr TypeName name_of(const InspectedProvider*) {
  return {"InspectedProvider", "A provider that the configuration or the local state requires."};
}
template <typename Form>
void fields(Form& form, In<Form, InspectedProvider> provider) {
  form.member("address", provider.address, "`HOST/NAMESPACE/TYPE`");
  form.optional("localName", provider.local_name, "its name in the first of the modules");
  form.member("constraints", provider.constraints, "all of them");
  form.member("modules", provider.modules, "keys of the modules that require it; empty is the root");
  form.optional("impliedBy", provider.implied_by,
                "the object that requires it, if no declaration does: `aws_instance.web`, `state`");
  form.optional("builtin", provider.builtin, "true: part of the client, never locked");
}

constexpr TypeName name_of(const InspectedCoreVersion*) {
  return {"InspectedCoreVersion", "The constraint of a module on the client version."};
}
template <typename Form>
void fields(Form& form, In<Form, InspectedCoreVersion> requirement) {
  form.member("from", requirement.from, "the argument", {"required_version", "compatible_with"});
  form.optional("constraint", requirement.constraint, "as written");
  form.member("module", requirement.module, "key of the module; empty is the root");
  place_fields(form, requirement.location);
}

template <typename Form>
void fields(Form& form, In<Form, ConfigInspectResult> result) {
  form.member("files", result.files, "of the root module");
  form.member("modules", result.modules, "every call of the tree, as far as it can be read without the network");
  form.member("providers", result.providers, "sorted by address");
  form.member("coreVersion", result.core_versions, "of all modules");
  form.member("diagnostics", result.diagnostics, "the problems of the configuration");
}

}  // namespace modlock::messages
