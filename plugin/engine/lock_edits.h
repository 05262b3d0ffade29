#pragma once

#include "plugin/engine/root_request.h"
#include "plugin/resolve/provider_plan.h"
#include "protocol/messages/workspace_edit.h"

namespace modlock {

// The new content of a lock, or of what its parts are in.
struct NewLock {
  const ModuleLocks* modules = nullptr;     // null: their blocks stay as they are
  const ProviderPlan* providers = nullptr;  // null: their blocks stay as they are
};

// What turns the documents of a lock into what it should be: none where nothing changes. A second file that holds no
// blocks any more is deleted. Where provider blocks change,
// their file is written anew as the client would, else everything but module blocks stays as it is to the byte.
messages::WorkspaceEdit lock_edit(const LockDocument& lock, const NewLock& after, ClientKind tool,
                                  const EngineOptions& options);

// Adds the change of a file that is there: to another text, or with none its removal. Nothing where it stays the same.
void add_file_edit(messages::WorkspaceEdit& out, const std::string& path, std::string_view before,
                   const std::optional<std::string>& after, const EngineOptions& options);

}  // namespace modlock
