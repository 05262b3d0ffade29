#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "plugin/config/config_files.h"
#include "plugin/config/core_requirement.h"
#include "plugin/config/module_call.h"
#include "plugin/config/provider_requirement.h"
#include "plugin/config/variable.h"

namespace modlock {

// The location of a root's state, as far as its files specify it.
struct StateStorage {
  // "local" (also if no backend is configured), the type of another backend, or "cloud".
  std::string backend = "local";
  std::optional<std::string> path = {};           // `path` of backend "local"
  std::optional<std::string> workspace_dir = {};  // `workspace_dir` of backend "local"
  bool written_out = true;                        // false: one of the two is an expression and is left out
  Location location = {};
};

// A top-level block of an unknown type with an argument `source`: a newer client may fetch code from there.
struct UnknownSource {
  std::string address;  // "symbols.lib"
  Location location;    // of the block header; in JSON syntax of the name of the argument
};

// All declarations in the files of one directory, override files merged, nothing evaluated. It does not depend on the
// caller of the module, so calls of one directory share it. Locations name paths relative to the directory. All
// pointers point into `files`. They do not keep blocks that are read only once: resources, data sources, outputs,
// checks.
struct ParsedModule {
  std::filesystem::path directory;
  std::vector<ConfigText> files;        // sorted by name
  std::vector<ConfigFile> file_hashes;  // the same files, for results
  std::vector<ModuleCallSyntax> calls;  // sorted by name
  VariableBlocks variables;
  LocalValues locals;
  std::vector<ProviderRequirement> providers;  // see provider_requirements()
  std::vector<CoreRequirement> core;           // in file order
  StateStorage state;
  std::vector<UnknownSource> unknown_sources;  // each with a warning
  Diagnostics diagnostics;                     // errors: something may be missing above
  bool incomplete = false;                     // a file could not be read to its end, so names may be missing

  ParsedModule() = default;
  ParsedModule(const ParsedModule&) = delete;  // pointers into itself
  ParsedModule& operator=(const ParsedModule&) = delete;
};

// Reads the module in `directory` as `tool` does. Leaves out tofu-modlock's own `modlock_override.tf`, and for
// Terraform also `.tofu` files. Errors: NOT_FOUND (no such directory), IO_ERROR, those of the context. Errors inside
// the files are in `diagnostics`.
Result<std::shared_ptr<const ParsedModule>> read_module(const std::filesystem::path& directory,
                                                        const Documents& documents, ClientKind tool,
                                                        const Context& context = {});

// Reads the test files in the root module's directory and in its `test_directory`: the modules of their run blocks as
// calls (named by their key in modules.json, "test.<directory parts>.<file without .tftest.hcl>.<run>"), and their
// provider blocks, which are not requirements for Terraform. Missing directories contain no tests. Locations name paths
// relative to `root`.
Result<std::shared_ptr<const ParsedModule>> read_test_files(const ParsedModule& root, const Documents& documents,
                                                            ClientKind tool, std::string_view test_directory = "tests");

}  // namespace modlock
