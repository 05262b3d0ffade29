#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plugin/config/body_rules.h"
#include "plugin/config/config_files.h"
#include "plugin/value/client_kind.h"

// The parts of check_structure() (config_schema.h). Each reports what it finds in one block; wrong labels, arguments
// and block types are the matter of check_body() alone.
namespace modlock {

// Where a block stands, and where to report.
struct StructureContext {
  const ConfigText& file;
  ClientKind tool = ClientKind::opentofu;
  Diagnostics& diagnostics;

  bool is_override() const { return file.role == ConfigFile::Role::override_file; }
  void report(const Range& range, std::string message, std::string hint = {}) const;
  void warn(const Range& range, std::string message, std::string hint = {}) const;
};

// What `rule` refuses in the body of a file, and in all blocks below it.
void check_file_body(const hcl::Body& body, const BodyRule& rule, const StructureContext& context);

// A label must be an identifier; `what` says whose name it is.
void check_name(const hcl::Label& label, std::string_view what, const StructureContext& context);

// structure_resource.cpp
enum class ResourceKind { managed, data, ephemeral, nested_data };
void check_resource(const hcl::Block& block, ResourceKind kind, const StructureContext& context);
void check_provisioner(const hcl::Block& block, const StructureContext& context);

// structure_module.cpp
void check_module(const hcl::Block& block, const StructureContext& context);
void check_provider(const hcl::Block& block, const StructureContext& context);
// The alias of a provider or mock_provider block, and what for_each needs one for.
void check_alias(const hcl::Block& block, const StructureContext& context);
// providers = { aws = aws.west }
void check_passed_providers(const hcl::Body& body, const StructureContext& context);

// structure_test_file.cpp
void check_test_file(const hcl::Body& body, const StructureContext& context);

// structure_settings.cpp
void check_terraform(const hcl::Block& block, const StructureContext& context);

// structure_values.cpp
void check_variable(const hcl::Block& block, const StructureContext& context);
void check_output(const hcl::Block& block, const StructureContext& context);
void check_check(const hcl::Block& block, const StructureContext& context);
// A precondition, postcondition, assert or validation block. False: it has no condition that could be checked further.
bool check_rule(const hcl::Block& block, const StructureContext& context);

// structure_moves.cpp
void check_moved(const hcl::Block& block, const StructureContext& context);
void check_removed(const hcl::Block& block, const StructureContext& context);
void check_import(const hcl::Block& block, const StructureContext& context);

// structure_declarations.cpp: things declared twice, and override files that override nothing.
void check_declarations(const std::vector<ConfigText>& files, ClientKind tool, Diagnostics& diagnostics);

// structure_arguments.cpp
// Blocks of a type that may stand once: the others are reported. `title` is of the block they stand in.
void check_once(const hcl::Body& body, std::string_view type, std::string_view title, const StructureContext& context);
// Blocks of a type that is kept for future use.
void check_reserved(const hcl::Body& body, std::string_view type, std::string_view title,
                    const StructureContext& context);
// count, for_each and lifecycle.enabled exclude each other.
void check_repetition(const hcl::Body& body, const StructureContext& context);
// A list of references such as depends_on, which override files may not give.
void check_references(const hcl::Body& body, std::string_view name, const StructureContext& context);
// A value that must be written out, and a bool or a string.
enum class Literal { boolean, text };
void check_literal(const hcl::Body& body, std::string_view name, Literal type, const StructureContext& context);

}  // namespace modlock
