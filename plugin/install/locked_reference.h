#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "backends/address/source.h"
#include "backends/backend.h"
#include "plugin/install/verdict.h"
#include "plugin/lock/lock_file.h"

namespace modlock {

// Whether the source names the locked content itself: a commit, also by its first digits, or a digest.
bool names_content(const Source& source, const ModuleLock& lock);

// A reference for people: `the tag "v1.2.0"`, `the branch "main"`, `HEAD`, else `"default"` in quotes.
std::string reference_words(const Source& source, std::string_view ref);
std::string tag_words(std::string_view tag);

// The first digits of a commit or digest.
std::string short_id(std::string_view id);

// What gives another id now than when it was locked.
struct ReferenceMove {
  std::string thing;  // `the tag "v1.2.0"`
  std::string now;    // the id
  bool is_expected = false;
};

// Without the sentence: describe_descent() writes it.
Verdict classify_move(const ReferenceMove& move, const std::string& locked, const Backend& backend);

// Asks whether the new id descends from the locked one, and adds what is known of it, and the sentence, to a verdict of
// classify_move().
void describe_descent(Verdict& verdict, const ReferenceMove& move, const std::string& locked,
                      const SourceAddress& source, Backend& backend, const Context& context);

// Whether what an entry names beside its h1 has to have that h1: a commit or a digest, whose content never changes. The
// checksum of an archive is evidence alone: it may have been packed again.
bool names_fixed_content(std::string_view id);

// The entry contradicts itself where its commit or digest is known to have another h1: tampered, for one of the two
// was edited. nullopt: both say the same. `id` is the backend's, `h1` ("h1:…") what its content has.
std::optional<Verdict> check_locked_content(const ModuleLock& lock, const Backend& backend, std::string_view id,
                                            std::string_view h1);

}  // namespace modlock
