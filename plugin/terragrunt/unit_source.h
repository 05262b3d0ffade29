#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/base/context.h"
#include "plugin/config/source_text.h"
#include "plugin/functions/functions.h"
#include "plugin/hcl/parser.h"
#include "plugin/lock/lock_file.h"
#include "plugin/value/client_kind.h"
#include "plugin/value/value.h"
#include "protocol/base/result.h"

namespace modlock::terragrunt {

// Returns the value of an attribute that uses neither functions nor variables; nullopt if it is absent, null or
// computed in another way.
std::optional<eval::Value> constant_of(const hcl::Attribute* attribute);

// Returns a string; nullopt if it is null or anything else.
std::optional<std::string> text_in(const std::optional<eval::Value>& value);
// Returns the texts of a tuple; none if it is anything else.
std::vector<std::string> texts_in(const std::optional<eval::Value>& value);

// Returns the content of the first block of that type; an empty one if there is none.
const hcl::Body& block_in(const hcl::Body& body, std::string_view type);

// A file of the configuration of a unit.
struct UnitFile {
  std::filesystem::path path = {};  // empty: the path of the include, or the file, cannot be read
  hcl::ParsedFile parsed = {};
  std::optional<std::string> label = {};  // of its include block
};

// The configuration of a unit, as far as it can be read without Terragrunt. Nothing is executed or decrypted.
// Expressions have a value here if they are computed from literals, local values, exposed includes, `values` of a
// generated stack, functions of OpenTofu, get_repo_root(), get_terragrunt_dir(), get_original_terragrunt_dir(),
// find_in_parent_folders() and the locals of read_terragrunt_config(). A value of an included file is known only if all
// of its locals are, so that try() cannot hide what is unknown. Only files of the repository are read.
class UnitConfig {
 public:
  // `documents` overlay files, and outlive the configuration. Errors: CONFIG_PARSE for syntax of terragrunt.hcl and of
  // the files that Terragrunt reads with it; IO_ERROR.
  static Result<UnitConfig> read(const std::filesystem::path& unit, const std::filesystem::path& repository,
                                 const Documents& documents);

  // The files that are merged; none if there is no terragrunt.hcl. Those that win are first:
  // terragrunt.autoinclude.hcl, terragrunt.hcl, and the included ones, the last include first.
  const std::vector<UnitFile>& files() const { return files_; }

  // Returns the value of an attribute of one of the files; nullopt if it is absent, null, or computed in another way.
  // `is_of_hook`: it may also use the functions of modlock.hcl, as if Terragrunt was started without flags, and
  // get_env() with a default.
  std::optional<eval::Value> value_of(const UnitFile& file, const hcl::Attribute* attribute,
                                      bool is_of_hook = false) const;

 private:
  void read_includes();

  std::vector<UnitFile> files_;
  std::vector<UnitFile> exposed_;  // that are not merged
  hcl::ParsedFile values_;
  std::shared_ptr<const eval::FileAccess> access_;
};

// The source of a package that Terragrunt downloads for a unit, and in which the client then runs.
struct UnitSource {
  SourceText source = {};                   // as in a module call
  std::optional<std::string> version = {};  // the constraint of a registry module
};

// The key of its lock entry. A hook cannot choose its version; it can only reject content that is not locked.
inline constexpr std::string_view kUnitSourceKey = "terragrunt:source";

// The file that Terragrunt writes with each download.
inline constexpr std::string_view kVersionFile = ".terragrunt-source-version";

struct FoundSource {
  bool is_known = true;                   // false: it is computed in a way that only Terragrunt knows
  bool is_literal = false;                // it uses no function of Terragrunt and no other file of the configuration
  bool is_replaced = false;               // for all units, by the environment; then it is not known
  std::optional<UnitSource> source = {};  // empty if none is specified
  std::string written = {};               // the source as Terragrunt has it: "tfr:///ns/name/system?version=1.2.3"
};

// How Terragrunt knows a download again: the name of its directory, the content of the file
// `.terragrunt-source-version` in it, and the directory in it where the client runs.
struct DownloadName {
  std::string directory;
  std::string version;
  std::string subdir = {};
};
// Returns nullopt if the source is invalid, or if Terragrunt chooses among its versions. The directory is not right for
// an address that Terragrunt and the clients write in full in different ways. Of a local source, relative to `unit`,
// only the directory is right.
std::optional<DownloadName> download_name(const FoundSource& found, const std::filesystem::path& unit);
// Returns the directory of the downloads of a unit, unless Terragrunt is told another one.
std::filesystem::path cache_of(const std::filesystem::path& unit);
// Returns the directory of the downloaded source that contains `working_directory`, or `working_directory` if there is
// none.
std::filesystem::path find_downloaded_source(const std::filesystem::path& working_directory);
// Returns the names that a download of this lock entry may have; those with the version first.
std::vector<DownloadName> download_names(const ModuleLock& entry, ClientKind tool);
// Returns the source that this lock entry of a unit was made for.
UnitSource source_of(const ModuleLock& entry);

// Reads the configuration of a unit (UnitConfig), and `documents` in place of files. A non-empty `named` replaces the
// source; "." is no source. A source is not known if it is computed in a way that only Terragrunt knows, if there is no
// terragrunt.hcl, or if TG_SOURCE is set. Errors: CONFIG_PARSE for syntax; IO_ERROR.
Result<FoundSource> find_unit_source(const std::filesystem::path& unit, const std::string& named, ClientKind tool,
                                     const std::filesystem::path& repository = {}, const Documents& documents = {});
// Lets Terragrunt print the configuration, which executes run_cmd() and decrypts files: for hooks that Terragrunt
// itself has started. The source is not known if that fails.
FoundSource render_unit_source(const std::filesystem::path& unit, ClientKind tool, const Context& context);
// Converts a source as Terragrunt writes it.
FoundSource found_source(std::string written, std::optional<std::string> version, Location location, ClientKind tool);

}  // namespace modlock::terragrunt
