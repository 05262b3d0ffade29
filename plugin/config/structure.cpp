#include "plugin/config/structure.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "plugin/config/config_schema.h"
#include "plugin/config/module_call.h"

namespace modlock {
namespace {

void check_block(const hcl::Block& block, const StructureContext& context) {
  const std::string_view type = block.type;
  if (type == "terraform") {
    check_terraform(block, context);
  } else if (type == "provider") {
    check_provider(block, context);
  } else if (type == "variable") {
    check_variable(block, context);
  } else if (type == "output") {
    check_output(block, context);
  } else if (type == "module") {
    check_module(block, context);
  } else if (type == "resource") {
    check_resource(block, ResourceKind::managed, context);
  } else if (type == "data") {
    check_resource(block, ResourceKind::data, context);
  } else if (type == "ephemeral") {
    check_resource(block, ResourceKind::ephemeral, context);
  } else if (type == "check") {
    check_check(block, context);
  } else if (type == "moved") {
    check_moved(block, context);
  } else if (type == "removed") {
    check_removed(block, context);
  } else if (type == "import") {
    check_import(block, context);
  } else if (type == "required_providers") {
    context.report(block.type_range,
                   "Invalid required_providers block: a required_providers block must be nested inside a terraform "
                   "block",
                   "write terraform { required_providers { … } }");
  } else if (type == "locals" && context.file.json) {
    for (const hcl::Attribute& attribute : block.body.attributes) {
      if (!is_identifier(attribute.name)) {
        context.report(attribute.name_range,
                       "Invalid local value name: a name must start with a letter or underscore and may contain only "
                       "letters, digits, underscores and dashes");
      }
    }
  }
}

void sort_as_written(const std::vector<ConfigText>& files, Diagnostics& diagnostics) {
  std::map<std::string_view, std::size_t> places;
  for (const ConfigText& file : files) {
    places.emplace(file.path, places.size());
  }
  const auto place = [&](const Diagnostic& diagnostic) {
    const Location& location = *diagnostic.what.location;
    return std::tuple(places[location.path], location.range->start.byte);
  };
  std::stable_sort(diagnostics.begin(), diagnostics.end(),
                   [&](const Diagnostic& left, const Diagnostic& right) { return place(left) < place(right); });
}

}  // namespace

void StructureContext::report(const Range& range, std::string message, std::string hint) const {
  diagnostics.push_back(config_error(file, range, std::move(message), std::move(hint)));
}

void StructureContext::warn(const Range& range, std::string message, std::string hint) const {
  report(range, std::move(message), std::move(hint));
  diagnostics.back().severity = Severity::warning;
}

Diagnostics check_structure(const std::vector<ConfigText>& files, ClientKind tool) {
  Diagnostics diagnostics;
  for (const ConfigText& file : files) {
    const StructureContext context{.file = file, .tool = tool, .diagnostics = diagnostics};
    if (file.role == ConfigFile::Role::test) {
      check_file_body(file.parsed.body, test_file_rule(), context);
      check_test_file(file.parsed.body, context);
      continue;
    }
    check_file_body(file.parsed.body, module_file_rule(), context);
    for (const hcl::Block& block : file.parsed.body.blocks) {
      check_block(block, context);
    }
  }
  check_declarations(files, tool, diagnostics);
  sort_as_written(files, diagnostics);
  return diagnostics;
}

}  // namespace modlock
