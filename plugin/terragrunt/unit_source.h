#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "plugin/config/source_text.h"
#include "plugin/hcl/ast.h"
#include "plugin/value/client_kind.h"
#include "plugin/value/value.h"
#include "protocol/base/result.h"

namespace modlock::terragrunt {

// Returns the value of an attribute that uses no function and only these variables; nullopt if it is absent, null or
// computed in another way.
std::optional<eval::Value> value_of(const hcl::Attribute* attribute, const eval::Value::Members& variables = {});
// The same for a string.
std::optional<std::string> text_of(const hcl::Attribute* attribute, const eval::Value::Members& variables = {});

// The source of a package that Terragrunt downloads for a unit, and in which the client then runs.
struct UnitSource {
  SourceText source = {};                   // as in a module call
  std::optional<std::string> version = {};  // the constraint of a registry module
};

// The key of its lock entry. A hook cannot choose its version; it can only reject content that is not locked.
inline constexpr std::string_view kUnitSourceKey = "terragrunt:source";

struct FoundSource {
  bool is_known = true;                   // false: it is computed from more than local and given values
  std::optional<UnitSource> source = {};  // empty if none is specified
  std::string written = {};               // the source as Terragrunt has it: "tfr:///ns/name/system?version=1.2.3"
};

// How Terragrunt knows a download again: the name of its directory, and the content of the file
// `.terragrunt-source-version` in it.
struct DownloadName {
  std::string directory;
  std::string version;
};
// Returns nullopt if the source is invalid, or if Terragrunt chooses among its versions. The directory is not right for
// an address that Terragrunt and the clients write in full in different ways.
std::optional<DownloadName> download_name(const FoundSource& found);

// Reads terragrunt.hcl of the unit, and terragrunt.values.hcl of a generated stack. A non-empty `named` replaces the
// source; "." is no source. The source of terragrunt.autoinclude.hcl wins. Other included files are not read, so a
// source that only they specify is not known, nor is one if there is no terragrunt.hcl or if TG_SOURCE is set. With a
// `repository` get_repo_root() and get_terragrunt_dir() have values. Errors: CONFIG_PARSE for syntax; IO_ERROR.
Result<FoundSource> find_unit_source(const std::filesystem::path& unit, const std::string& named, ClientKind tool,
                                     const std::filesystem::path& repository = {});

}  // namespace modlock::terragrunt
