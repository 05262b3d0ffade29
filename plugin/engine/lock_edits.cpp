#include "plugin/engine/lock_edits.h"

#include "plugin/lock/edit.h"

namespace modlock {
namespace {

// The text of a lock file on disk; nullopt: there is none.
std::optional<std::string_view> text_on_disk(const LockDocument& lock, const std::string& path,
                                             const LockFile& before) {
  if (lock.merge) {
    if (const auto text = lock.merge->on_disk.find(path); text != lock.merge->on_disk.end()) {
      return text->second;
    }
  }
  return before.exists ? std::optional<std::string_view>(before.text) : std::nullopt;
}

// `before`: nullopt for a file that is not there.
void add_edit(messages::WorkspaceEdit& out, const std::string& path, std::optional<std::string_view> before,
              std::string_view after, const EngineOptions& options, const char* operation) {
  auto edit = make_document_edit(path, before, after);
  if (!edit) {
    return;
  }
  messages::EditedDocument document{.path = edit->path,
                                    .operation = operation,
                                    .base_sha256 = edit->base_sha256,
                                    .new_text = std::nullopt,
                                    .edits = std::nullopt,
                                    .result_sha256 = edit->result_sha256};
  if (options.edits_as_full_text) {
    document.new_text = edit->new_text;
  }
  if (options.edits_as_ranges) {
    document.edits.emplace();
    for (TextEdit& change : edit->edits) {
      document.edits->push_back(
          {change.start, change.end, std::move(change.old_text), std::move(change.new_text), change.range});
    }
  }
  out.documents.push_back(std::move(document));
}

void add_edit(messages::WorkspaceEdit& out, const LockDocument& lock, const std::string& path, const LockFile& before,
              const std::string& after, const EngineOptions& options) {
  const auto base = text_on_disk(lock, path, before);
  add_edit(out, path, base, after, options, base ? "modify" : "create");
}

// What is left of `.terraform.lock.hcl` when its module blocks move to a sidecar. A file that had nothing else goes.
void add_lock_without_modules(messages::WorkspaceEdit& out, const LockDocument& lock, const LockFile& before,
                              const EngineOptions& options) {
  const std::string path(kLockFileName);
  const std::string after = write_lock(before, {});
  const bool is_empty = !before.modules.empty() && (after == kOpenTofuLockHeader || after == kTerraformLockHeader);
  if (is_empty) {
    add_edit(out, path, text_on_disk(lock, path, before), "", options, "delete");
  } else {
    add_edit(out, lock, path, before, after, options);
  }
}

}  // namespace

void add_file_edit(messages::WorkspaceEdit& out, const std::string& path, std::string_view before,
                   const std::optional<std::string>& after, const EngineOptions& options) {
  add_edit(out, path, before, after.value_or(""), options, after ? "modify" : "delete");
}

messages::WorkspaceEdit lock_edit(const LockDocument& lock, const NewLock& after, ClientKind tool,
                                  const EngineOptions& options) {
  const std::string_view header = tool == ClientKind::terraform ? kTerraformLockHeader : kOpenTofuLockHeader;
  const bool writes_providers = after.providers != nullptr && after.providers->is_written;
  messages::WorkspaceEdit out;
  if (writes_providers && !lock.beside) {
    const ModuleLocks& modules = after.modules != nullptr ? *after.modules : lock.file.modules;
    add_edit(out, lock, lock.path, lock.file, write_whole_lock(modules, after.providers->providers, header), options);
  } else if (after.modules != nullptr && (lock.file.exists || !after.modules->empty())) {
    add_edit(out, lock, lock.path, lock.file, write_lock(lock.file, *after.modules, header), options);
  }
  if (after.modules != nullptr && lock.left_sidecar) {
    const std::string path(kSidecarFileName);
    if (const auto before = text_on_disk(lock, path, *lock.left_sidecar)) {
      add_edit(out, path, before, "", options, "delete");
    }
  }
  if (writes_providers && lock.beside) {
    const ModuleLocks modules = after.modules != nullptr ? ModuleLocks{} : lock.beside->modules;
    add_edit(out, lock, std::string(kLockFileName), *lock.beside,
             write_whole_lock(modules, after.providers->providers, header), options);
  } else if (after.modules != nullptr && lock.beside && lock.beside->exists) {
    add_lock_without_modules(out, lock, *lock.beside, options);
  }
  return out;
}

}  // namespace modlock
