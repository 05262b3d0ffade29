#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plugin/config/source_text.h"
#include "plugin/functions/functions.h"
#include "plugin/hcl/ast.h"
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
  hcl::Body body = {};
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
  hcl::Body values_;
  std::shared_ptr<const eval::FileAccess> access_;
};

}  // namespace modlock::terragrunt
