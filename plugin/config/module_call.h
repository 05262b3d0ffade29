#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plugin/config/config_files.h"

namespace modlock {

// An argument of a module call and the file it stands in.
struct Argument {
  const hcl::Attribute* attribute = nullptr;  // null: not given
  const ConfigText* file = nullptr;
};

// A module call before evaluation, overrides merged. Points into the parsed files.
struct WrittenCall {
  std::string name;   // ModuleCall::name
  std::string title;  // for messages: `module "vpc"`
  const ConfigText* file = nullptr;
  const hcl::Block* block = nullptr;
  Argument source = {};
  Argument version = {};
  bool repeated = false;
};

// Takes over the arguments that the block has.
void merge_arguments(WrittenCall& call, const hcl::Block& block, const ConfigText& file);

// The calls as OpenTofu sees them, sorted by name. A call whose source is missing or is no written-out string is left
// out and reported, as is one with such a version.
void evaluate_calls(const std::vector<WrittenCall>& calls, ModuleConfig& config);

// A CONFIG_PARSE error at a place.
Diagnostic config_error(const ConfigText& file, const Range& range, std::string message, std::string hint = {});

// Whether OpenTofu takes it for the name of a module or a run: a letter or `_`, then letters, digits, `_`, `-`.
bool is_identifier(std::string_view text);

}  // namespace modlock
