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

// Removal of secrets from the text of others before it is shown: a server or a program may return what it received.

// Replaces user-info, query and fragment of every URL in the text by "…"; returns "https://…" for a URL whose parts
// cannot be distinguished.
std::string scrub_urls(std::string_view text);

// Returns the secrets in the address of a source: the password of its URL, its user name (except ssh's, and one that is
// a part of the identity), the values of the query arguments that the identity omits, and the same parts of the address
// of a checksum file. Names shorter than four and values shorter than six characters are left out, because removing
// them from every text would make it unreadable.
std::vector<std::string> secrets_of(const SourceAddress& source);

// Secrets that no text may show. They are found regardless of case, because a host name loses its case, and also
// percent-encoded.
class Secrets {
 public:
  void add(std::string_view secret);

  // Returns whether the text contains a whole secret that is too long to be found by chance.
  bool are_in(std::string_view text) const;
  // Returns the text with "…" for each secret, also for the beginning of one that is cut off by "…".
  std::string scrub(std::string_view text) const;
  // The same for all parts of an error that people read.
  void scrub(Error& error) const;

 private:
  friend class KnownSecrets;
  std::deque<std::string> texts_;  // in lower case, not empty, each once
};

// The secrets that this process has sent. Thread-safe.
class KnownSecrets {
 public:
  // Ignores secrets of less than four characters, and keeps only the latest 256.
  void add(std::string_view secret);
  Secrets all() const;

 private:
  mutable std::mutex mutex_;
  Secrets secrets_;
};

// Writes lines to `inner` without the secrets in `secrets`.
class ScrubbingLog final : public Log {
 public:
  ScrubbingLog(Log& inner, const KnownSecrets& secrets) : inner_(inner), secrets_(secrets) {}

  void write(LogLevel level, std::string_view line) override { inner_.write(level, secrets_.all().scrub(line)); }

 private:
  Log& inner_;
  const KnownSecrets& secrets_;
};

}  // namespace modlock
