#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plugin/config/source_text.h"
#include "plugin/hcl/parser.h"
#include "plugin/settings/settings.h"

namespace modlock {

// A settings file as text: its blocks and arguments as values, and errors with their location. All errors are
// CONFIG_PARSE (CONFIG_NON_STATIC for an expression that is not literal).
class SettingsText {
 public:
  using Words = std::vector<std::string_view>;

  SettingsText(std::string_view text, std::string path);

  const hcl::Body& body() const { return parsed_.body; }
  const Diagnostics& diagnostics() const { return parsed_.diagnostics; }
  const std::string& path() const { return path_; }

  tl::unexpected<Error> reject(const Range& range, std::string message, Hint hint = {}) const;
  // "unknown <what> "<name>" in file:line", with the most similar known word, or all of them.
  tl::unexpected<Error> unknown(std::string_view what, std::string_view name, const Range& range,
                                const Words& known) const;
  // "file:line"
  std::string at(const Range& range) const;

  // Checks for one label that is not empty, only arguments among `known`, no blocks.
  Result<void> check_block(const hcl::Block& block, std::string_view label_meaning, const Words& known) const;
  // Returns the index of the value, which must be one of `words`.
  Result<std::size_t> read_choice(const hcl::Attribute& attribute, const Words& words) const;
  Result<std::size_t> read_count(const hcl::Attribute& attribute, std::size_t least, std::size_t most) const;
  Result<bool> read_flag(const hcl::Attribute& attribute) const;
  Result<SourceText> read_string(const hcl::Attribute& attribute) const;
  Result<std::vector<SourceText>> read_strings(const hcl::Attribute& attribute) const;
  // Returns whether a body has `link = false`; another value is an error.
  Result<bool> forbids_links(const hcl::Body& body) const;
  // nullopt if the body has no such argument.
  Result<std::optional<SourceText>> read_argument(const hcl::Body& body, std::string_view name) const;

 private:
  std::string path_;
  hcl::ParsedFile parsed_;
};

enum class SettingsPlace { beside_root, repository, user, local };  // local: load_replacements()

// Adds the settings of one file to those of the nearer files.
class SettingsReader final : private SettingsText {
 public:
  // Messages name `path`.
  SettingsReader(std::string_view text, std::string path, SettingsPlace place, Settings& settings);

  // Errors: as load_settings(). `required_version` is checked first: a newer file may have settings that this version
  // does not know.
  Result<void> read();

 private:
  Result<void> check_release() const;
  Result<void> deny_programs(const hcl::Body& body) const;
  Result<void> read_setting(const hcl::Attribute& attribute);
  Result<void> read_block(const hcl::Block& block);
  Result<void> read_module(const hcl::Block& block);
  Result<void> read_source(const hcl::Block& block);
  Result<void> read_provider(const hcl::Block& block);
  Result<SourcePattern> read_pattern(const hcl::Block& block) const;
  Result<std::optional<SourceText>> read_age(const hcl::Body& body) const;
  Result<std::optional<SourceText>> read_replacement(const hcl::Block& block) const;
  Result<std::optional<SignatureRule>> read_signature(const hcl::Block& block) const;
  Result<void> read_deny(const hcl::Block& block);
  Result<void> read_backend(const hcl::Block& block);

  SettingsPlace place_;
  Settings& settings_;
  std::vector<const hcl::Block*> read_blocks_;
};

// A setting of `.tofu-modlock.hcl` or of the user's file. The reader, `init`, `doctor`, the JSON Schema, and the flag
// that overrides the setting use this description.
struct SettingInfo {
  enum class Kind { text, choice, list, count, flag, no };  // no: only `false`
  enum class File { any, repository, user };

  std::string_view block;  // "module", "source", "deny" or "backend"; empty outside of a block
  std::string_view name;
  Kind kind;
  File file;
  std::string_view value;  // the default if there is one, otherwise an example; both in HCL and in JSON
  bool is_default;
  std::string_view meaning;  // without a final period
  // Of a setting outside of blocks. `read` adds the value of one file to those of nearer files, which win:
  // CONFIG_PARSE. `print` returns the value for people; empty: it is not set.
  struct Access {
    Result<void> (*read)(const SettingInfo& setting, const SettingsText& in, const hcl::Attribute& attribute,
                         Settings& settings) = nullptr;
    std::string (*print)(const SettingInfo& setting, const Settings& settings) = nullptr;
  };
  Access access = {};
  // What overrides the setting. The commands of `on` get the flag from here; `elsewhere`: from their own code.
  struct Override {
    enum class On { elsewhere, roots, network };

    std::string_view flag = {};      // "--connections"; empty: none
    std::string_view variable = {};  // empty: none
    std::string_view value = {};     // its name in the help
    On on = On::elsewhere;
  };
  Override overridden_by = {};
  std::vector<std::string_view> choices = {};  // of a choice
  std::size_t least = 0;                       // of a count
  std::size_t most = 0;
};

// Returns all settings; those of a block are together.
const std::vector<SettingInfo>& setting_table();

// Returns the names of the settings of a block, or of those outside of blocks, in the order of the table.
std::vector<std::string_view> setting_names(std::string_view block);

// Returns the setting outside of blocks that has this name, or null.
const SettingInfo* find_setting(std::string_view name);

// Sets the values of a flag, of which only a list has several. Errors: INVALID_PARAMS, which names the flag.
Result<void> override_setting(const SettingInfo& setting, const std::vector<std::string>& values, Settings& overrides);

// An example of the label of a block, and its meaning.
struct BlockLabel {
  std::string_view block;
  std::string_view example;
  std::string_view meaning;
  std::string (*print)(const Settings& settings);  // returns the labels of all such blocks
};
const std::vector<BlockLabel>& block_labels();

}  // namespace modlock
