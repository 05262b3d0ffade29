#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "backends/address/source.h"
#include "backends/backend.h"
#include "plugin/install/verdict.h"
#include "plugin/lock/lock_file.h"

namespace modlock {

// Returns whether the source names the locked content itself: a commit (also by its first digits) or a digest.
bool names_content(const Source& source, const ModuleLock& lock);

// Returns a reference for messages: `the tag "v1.2.0"`, `the branch "main"`, `HEAD`, else the quoted name
// (`"default"`).
std::string reference_words(const Source& source, std::string_view ref);
std::string tag_words(std::string_view tag);

// A reference, version or archive whose id has changed since it was locked.
struct ReferenceMove {
  std::string thing;  // `the tag "v1.2.0"`
  std::string now;    // the id
  bool is_expected = false;
};

// Returns the verdict without its detail, which describe_descent() adds.
Verdict classify_move(const ReferenceMove& move, const std::string& locked, const Backend& backend);

// Queries whether the new id descends from the locked one, and adds the known distance and the detail to a verdict of
// classify_move().
void describe_descent(Verdict& verdict, const ReferenceMove& move, const std::string& locked,
                      const SourceAddress& source, Backend& backend, const Context& context);

// Returns whether the content of a locked id must have the locked h1. This is true of a commit or a digest. The
// checksum of an archive is only evidence: it may have been repacked.
bool names_fixed_content(std::string_view id);

// Returns a tampered verdict if the commit or digest of an entry is known to have another h1, because one of the two
// was edited. nullopt: they match, or the entry has no h1. `id` is the backend's; `h1` ("h1:…") is that of its content.
std::optional<Verdict> check_locked_content(const ModuleLock& lock, const Backend& backend, std::string_view id,
                                            std::string_view h1);

}  // namespace modlock
