#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/base/context.h"
#include "plugin/config/source_text.h"
#include "plugin/hcl/json_syntax.h"
#include "plugin/hcl/parser.h"
#include "plugin/value/client_kind.h"

namespace modlock {

struct ConfigText {
  ConfigFile::Role role = ConfigFile::Role::primary;
  std::string name;  // of the file
  std::string path;  // relative to the root
  bool json = false;
  bool is_link = false;  // on disk: it may point anywhere
  std::string text;
  hcl::ParsedFile parsed = {};
};

inline constexpr std::size_t kMaxModuleBytes = std::size_t{64} << 20U;

enum class ConfigKind { module, test };

// What is kept of the blocks: all, or what read_module() uses, in a module with override files or without. Variables
// are places then.
enum class ConfigParts { all, used, used_with_overrides };

// Returns the files of one kind that `tool` reads in a directory, parsed, sorted by name. Hidden and backup files are
// left out, as is tofu-modlock's own override file, and `X.tf` if there is an `X.tofu` of the same role (the same
// applies to the other extensions). Terraform ignores `.tofu` files. Errors: NOT_FOUND, IO_ERROR, LIMIT_EXCEEDED (a
// file of more than hcl::kMaxTextBytes, or more than kMaxModuleBytes in all of them), those of the context.
Result<std::vector<ConfigText>> read_config_files(const std::filesystem::path& directory,
                                                  const std::filesystem::path& root, const Documents& documents,
                                                  ConfigKind kind, ClientKind tool, const Context& context = {},
                                                  ConfigParts parts = ConfigParts::all);

// Returns whether a client knows this type of top-level blocks.
bool is_known_block(std::string_view type);

// Returns the type of a variable if it is text: "list", not list. Null in JSON syntax.
const hcl::Attribute* quoted_type(const ConfigText& file, const hcl::Block& variable);

// Parses the text of a file. `parts` set what is kept.
void parse_text(ConfigText& file, ConfigKind kind, ConfigParts parts, hcl::ParseOptions options = {});

// Returns the kind of configuration file that either client reads under this name in a directory of configuration;
// nullopt for other files, hidden and backup files, and tofu-modlock's own override file.
std::optional<ConfigKind> config_kind(std::string_view name);

// Returns whether a directory has configuration files of a module; true if it cannot be listed.
bool has_configuration(const std::filesystem::path& directory);

// Returns the document at a path, and marks it as read; null if there is none.
const DocumentText* find_document(const std::filesystem::path& path, const Documents& documents);

// Returns the overlaid text, else the content on disk; nullopt if neither has the file. Errors: IO_ERROR,
// LIMIT_EXCEEDED (a file on disk has more than `limit` bytes).
Result<std::optional<std::string>> read_document(const std::filesystem::path& path, const Documents& documents,
                                                 std::size_t limit = hcl::kMaxTextBytes);
// The same of a file that a run reads once.
Result<std::optional<std::string>> read_once(const std::filesystem::path& path, const Documents& documents);

// Returns the hashes of the files, for results; adds the syntax errors in them to `diagnostics`.
std::vector<ConfigFile> report_files(const std::vector<ConfigText>& files, Diagnostics& diagnostics);

// Calls `visit(file, block)` for each top-level block of a type in the files of a role, in their order.
template <typename Visit>
void for_each_block(const std::vector<ConfigText>& files, ConfigFile::Role role, std::string_view type, Visit visit) {
  for (const ConfigText& file : files) {
    if (file.role != role) {
      continue;
    }
    for (const hcl::Block& block : file.parsed.body.blocks) {
      if (block.type == type) {
        visit(file, block);
      }
    }
  }
}

// A path below another, both `/`-separated: "./a" below "modules/x" is "modules/x/a"; below "." it is "a".
std::string join_relative(const std::string& parent, const std::string& below);

// A path in the form of Documents: absolute, lexically normal, no trailing slash.
std::filesystem::path document_path(const std::filesystem::path& path);

inline constexpr std::string_view kOwnOverrideName = "modlock_override.tf";

}  // namespace modlock
