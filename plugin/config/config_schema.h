#pragma once

#include "plugin/config/config_files.h"
#include "plugin/hcl/json_syntax.h"
#include "plugin/value/client_kind.h"

namespace modlock {

// Which members are blocks in the files of a module and in test files.
const hcl::BodySchema& module_file_schema();
const hcl::BodySchema& test_file_schema();

// What `tool` refuses in a module's files before it looks at any value: block types it does not know (with the nearest
// that it does), a wrong number of labels, arguments and blocks that a block does not have or lacks, names that are no
// identifiers, things declared twice, references and keywords that are none where one must stand, override files that
// override nothing. Of test files what their readers refuse before a test is run. One diagnostic each, in file order.
// Left to the readers of the things themselves: names, repetitions and overrides of variables, local values and module
// calls, a module call without source, the contents of language blocks, required_providers and provider references.
Diagnostics check_structure(const std::vector<ConfigText>& files, ClientKind tool);

}  // namespace modlock
