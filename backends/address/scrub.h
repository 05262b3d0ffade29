#pragma once

#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "backends/address/source.h"
#include "protocol/base/error.h"
#include "protocol/base/log.h"

namespace modlock {

// How secrets are taken out of what others say before anybody sees it: a server or a program may give back what it was
// sent.

// The text without user-info, query and fragment of any URL in it, "…" in their place; "https://…" where they cannot be
// told apart.
std::string scrub_urls(std::string_view text);

// What the address of a source holds and nobody else may read: the password of its URL, its user name (but ssh's, and
// one that the identity has as a part) and the values of the query arguments that the identity lacks, and the same of
// the address of a list of checksums. Names of less than four and values of less than six characters are left out:
// taking them from every text would make it unreadable.
std::vector<std::string> secrets_of(const SourceAddress& source);

// Secrets, and what of a text must not be shown because of them. They are found in any case, for a host name loses it,
// and percent-encoded too.
class Secrets {
 public:
  void add(std::string_view secret);

  // Whether the text holds a whole one; of those alone that are long enough not to be found by chance.
  bool are_in(std::string_view text) const;
  // The text with "…" for each, also for the beginning of one that "…" cuts off.
  std::string scrub(std::string_view text) const;
  // The same of all that people read of an error.
  void scrub(Error& error) const;

 private:
  friend class KnownSecrets;
  std::deque<std::string> texts_;  // in lower case, not empty, each once
};

// The secrets that this process has sent. Thread-safe.
class KnownSecrets {
 public:
  // One of less than four characters is not kept, and of all the latest 256 only.
  void add(std::string_view secret);
  Secrets all() const;

 private:
  mutable std::mutex mutex_;
  Secrets secrets_;
};

// `inner`, to which lines go without what `secrets` knows.
class ScrubbingLog final : public Log {
 public:
  ScrubbingLog(Log& inner, const KnownSecrets& secrets) : inner_(inner), secrets_(secrets) {}

  void write(LogLevel level, std::string_view line) override { inner_.write(level, secrets_.all().scrub(line)); }

 private:
  Log& inner_;
  const KnownSecrets& secrets_;
};

}  // namespace modlock
