#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "backends/base/context.h"
#include "protocol/base/result.h"
#include "protocol/messages/config_inspect.h"
#include "protocol/messages/root_params.h"

namespace modlock::cli {

// A work tree compared with a revision of its repository.
struct RevisionDiff {
  std::string revision;                      // as it was named
  std::vector<std::filesystem::path> files;  // changed, added or deleted since the revision; absolute
  // `documents` that give a method these files as they were: the text at the revision, and for an added file one that
  // says nothing.
  std::vector<messages::Document> documents = {};
  // Of these, changed like the others, the revision has no text here: submodules, symbolic links to directories, what
  // a partial clone lacks.
  std::vector<std::filesystem::path> unknown = {};
};

// Compares the files that git tracks or would add with a revision. Installed modules (`.terraform`) are left out.
// `repository` is its top directory. Errors: INVALID_PARAMS (not a repository, no such revision); TOOL_MISSING (git);
// IO_ERROR (git fails); those of the context.
Result<RevisionDiff> diff_with_revision(const std::filesystem::path& repository, const std::string& revision,
                                        const Context& context);

// What the configuration of a root module changed since a revision.
struct ConfigurationChange {
  bool is_changed = false;  // calls, constraints or the lock file are different
  // The locked calls and providers whose source or constraints changed while their lock entry did not: they have to be
  // resolved again. The calls below one of these are left out.
  std::vector<std::string> targets = {};
};

// Compares two results of `config/inspect`, of the revision and of now. Errors: those of parse_lock() and read_file().
Result<ConfigurationChange> compare_configurations(const std::filesystem::path& root, const RevisionDiff& diff,
                                                   const messages::ConfigInspectResult& before,
                                                   const messages::ConfigInspectResult& now);

}  // namespace modlock::cli
