#pragma once

#include "backends/context.h"
#include "backends/source.h"
#include "protocol/result.h"

namespace modlock {

// Whether a source may be asked that a server names (a registry's answer, X-Terraform-Get). SOURCE_DENIED for what lies
// on this machine, whose files are none of a server's business (OpenTofu follows there), and where
// Context::check_source says so. Local git repositories are judged by the backend that serves them (led_git_backend.h).
Result<void> check_redirected_source(const Source& source, const Context& context);

}  // namespace modlock
