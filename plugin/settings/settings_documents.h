#pragma once

#include <json/value.h>

#include <string>

// What is generated from the table of settings (plugin/settings/setting_table.h).
namespace modlock {

// Returns a JSON Schema (draft 7) of both settings files, in the JSON form of HCL: a block is an object by label, or a
// list of one object, as hcl2json prints it.
Json::Value settings_schema();

// Returns a `.tofu-modlock.hcl` in which each setting of a repository is a comment, with its default or an example.
// With `uses_sidecar`, it sets module_lock_file = "sidecar".
std::string commented_settings(bool uses_sidecar = false);

}  // namespace modlock
