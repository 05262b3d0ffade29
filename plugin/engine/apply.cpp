#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <utility>

#include "backends/base/digest.h"
#include "backends/base/files.h"
#include "plugin/config/roots.h"
#include "plugin/engine/engine.h"
#include "plugin/install/data_directory.h"
#include "plugin/lock/backup.h"
#include "plugin/lock/edit.h"
#include "plugin/lock/lock_file.h"
#include "protocol/base/result.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;

// The protected backup lets a later `lock` restore entries that an unmodified client drops from the file.
Result<void> save_backup(const DataDirectory& data, const std::vector<messages::LockedModule>& modules,
                         const std::string& root, const Context& context) {
  ModuleLocks locks;
  for (const messages::LockedModule& module : modules) {
    locks.emplace(module.key, ModuleLock{.key = module.key,
                                         .version = module.version,
                                         .source = module.source,
                                         .constraints = module.constraints,
                                         .hashes = module.hashes});
  }
  return save_lock_backup(data.path, locks, root, context, [&] { return data.pin(data.ours()); });
}

// No other run may change a document between the check of its content and its replacement.
Result<std::optional<FileLock>> hold(const std::string& root, const DataDirectory& data,
                                     const std::vector<messages::EditedDocument>& documents, const Context& context) {
  auto held = documents.empty() ? Result<std::optional<FileLock>>() : lock_root(data, context);
  if (held && *held) {
    for (const messages::EditedDocument& document : documents) {
      const fs::path path = fs::path(root) / document.path;
      remove_unfinished_writes(path.parent_path(), path.filename().string());
    }
  }
  return held;
}

struct Replacement {
  fs::path path;
  fs::path directory = {};               // of the file, without links
  std::optional<std::string> text = {};  // nullopt: the file is removed
};

// nullopt: the file already has the new content.
Result<std::optional<Replacement>> replacement_of(const std::string& root, const messages::EditedDocument& document) {
  Replacement made{.path = fs::path(root) / document.path};
  const bool is_removal = document.operation == EditOperation::remove;
  if (document.is_configuration) {
    // Links below the root are followed. A file elsewhere in the repository is written only if none is on the way to
    // it.
    const fs::path repository = find_repository_root(root);
    const fs::path bound = lies_plainly_below(made.path, repository) ? repository : fs::path(root);
    std::error_code ignored;
    made.path = fs::weakly_canonical(made.path, ignored);
    if (auto inside = confine(made.path, {bound}); !inside) {
      inside.error().hint = "make the change there by hand: --dry-run shows it";
      return fail(std::move(inside.error()));
    }
    made.directory = made.path.parent_path();
  } else {
    MODLOCK_TRY(check_no_link(made.path));
    std::error_code ignored;
    made.directory = fs::weakly_canonical(made.path.parent_path(), ignored);
  }
  auto bytes = read_file(made.path);
  if (!bytes && bytes.error().code != Code::not_found) {
    return fail(std::move(bytes.error()));
  }
  const std::string found = bytes ? sha256_hex(*bytes) : std::string();
  if (is_removal ? !bytes : bytes && found == document.result_sha256) {
    return std::nullopt;
  }
  const bool same = document.base_sha256 ? bytes && found == *document.base_sha256 : !bytes;
  if (!same) {
    return fail(Code::content_modified,
                fmt::format("{} was modified while the command was running", made.path.string()),
                "run the same command again");
  }
  if (!is_removal) {
    made.text = text_after(bytes.value_or(std::string()), document);
  }
  return made;
}

// Writes nothing if the base of any document has changed.
Result<void> write_documents(const std::string& root, const messages::WorkspaceEdit& edits) {
  std::vector<Replacement> replacements;
  for (const messages::EditedDocument& document : edits.documents) {
    MODLOCK_TRY(auto replacement, replacement_of(root, document));
    if (replacement) {
      replacements.push_back(std::move(*replacement));
    }
  }
  for (const Replacement& replacement : replacements) {
    MODLOCK_TRY(replace_file(replacement.directory, replacement.path.filename(), replacement.text));
  }
  return {};
}

}  // namespace

std::string text_after(std::string_view base, const messages::EditedDocument& document) {
  if (document.new_text) {
    return *document.new_text;
  }
  return apply_edits(base, document.edits.value_or(std::vector<RangeEdit>()));
}

messages::RootParams with_edits(messages::RootParams root, const messages::WorkspaceEdit& edits) {
  for (const messages::EditedDocument& edit : edits.documents) {
    std::erase_if(root.documents, [&](const messages::Document& overlay) { return overlay.path == edit.path; });
    root.documents.push_back({edit.path, edit.operation == EditOperation::remove ? "" : text_after(edit.before, edit)});
  }
  return root;
}

Result<void> Engine::apply(const messages::RootParams& root, const messages::LockPlanResult& plan,
                           const messages::Include& include, Run& run) const {
  // Hooks copy the lock file of the working directory to the unit; its settings are those of the unit.
  if (const fs::path unit = find_unit_of_copy(root.root); !unit.empty() && !options().settings_place) {
    return fail(Code::invalid_params, fmt::format("{} is Terragrunt's copy of {}", root.root, unit.string()),
                fmt::format("run in {}: terragrunt init -upgrade", unit.string()));
  }
  const Context context = context_for(run);
  const auto data = find_data_directory(root.root, root.data_dir);
  MODLOCK_TRY(const auto held,
              data ? hold(root.root, *data, plan.edits.documents, context) : Result<std::optional<FileLock>>());
  std::unique_lock reading(run.texts->mutex);
  run.texts->texts.clear();
  reading.unlock();
  MODLOCK_TRY(write_documents(root.root, plan.edits));
  if (!include.modules) {
    return {};  // the plan contains no modules
  }
  if (auto saved = data ? save_backup(*data, plan.modules, root.root, context) : fail(data.error()); !saved) {
    // The lock itself was written: the backup only helps if an unmodified client drops blocks from it.
    run.diagnostics.push_back({Severity::warning, std::move(saved.error())});
  }
  return {};
}

}  // namespace modlock
