#pragma once

#include <filesystem>
#include <map>
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

// Where the state of a root lies, as far as its files say.
struct StateStorage {
  // "local" (also where no backend is configured), the type of another backend, or "cloud".
  std::string backend = "local";
  std::optional<std::string> path = {};           // `path` of backend "local"
  std::optional<std::string> workspace_dir = {};  // `workspace_dir` of backend "local"
  bool written_out = true;                        // false: one of the two is given by an expression, and left out
  Location location = {};
};

// The files of one directory with all that stands in them, override files merged, nothing evaluated. It does not depend
// on who calls the module, so calls of one directory share it. Locations name paths relative to the directory.
// Everything that points, points into `files`, which keep no blocks that nobody asks for again: resources, data
// sources, outputs, checks.
struct ParsedModule {
  std::filesystem::path directory;
  std::vector<ConfigText> files;        // sorted by name
  std::vector<ConfigFile> file_hashes;  // the same files, for results
  std::vector<ModuleCallSyntax> calls;  // sorted by name
  std::map<std::string, VariableDeclaration, std::less<>> variables;
  std::map<std::string, Argument, std::less<>> locals;
  std::vector<ProviderRequirement> providers;  // see provider_requirements()
  std::vector<CoreRequirement> core;           // in file order
  StateStorage state;
  Diagnostics diagnostics;  // errors: something may be missing above
  bool incomplete = false;  // a file could not be read to its end, so names may be missing

  ParsedModule() = default;
  ParsedModule(const ParsedModule&) = delete;  // pointers into itself
  ParsedModule& operator=(const ParsedModule&) = delete;
};

// Reads the module in `directory` as `tool` does. Our own `modlock_override.tf` is left out, for Terraform also `.tofu`
// files. Errors: NOT_FOUND (no such directory), IO_ERROR, those of the context. What is wrong inside the files is in
// `diagnostics`.
Result<std::shared_ptr<const ParsedModule>> read_module(const std::filesystem::path& directory,
                                                        const Documents& documents, ClientKind tool,
                                                        const Context& context = {});

// Reads the test files beside the root module and in its `test_directory`: the modules of their run blocks as calls
// (named by their key in modules.json, "test.<directory parts>.<file without .tftest.hcl>.<run>"), and their provider
// blocks, which are no requirements to Terraform. Directories that are not there hold no tests. Locations name paths
// relative to `root`.
Result<std::shared_ptr<const ParsedModule>> read_test_files(const ParsedModule& root, const Documents& documents,
                                                            ClientKind tool, std::string_view test_directory = "tests");

}  // namespace modlock
