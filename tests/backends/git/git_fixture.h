#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "backends/context.h"
#include "tests/support/environment.h"
#include "tests/support/git_repository.h"
#include "tests/support/temporary_directory.h"

namespace modlock::test {

// A git backend with an empty cache, in an environment where neither the user's configuration nor preset certificates
// count.
struct GitFixture {
  GitFixture();

  SourceAddress source(const std::string& url) const;
  std::vector<Result<FetchedTree>> fetch(const std::string& url, const std::vector<FetchWish>& wishes);
  Result<FetchedTree> fetch_one(const std::string& url, const FetchWish& wish);
  std::uint64_t requests() const { return stats.requests.load(); }

  TemporaryDirectory directory;
  Stats stats;
  Context context;
  std::unique_ptr<Backend> backend;
  std::vector<std::unique_ptr<ScopedEnvironment>> environment;
};

// "CODE: message", and "ok" where there is no error.
template <typename T>
std::string outcome(const Result<T>& result) {
  return result ? "ok" : std::string(to_string(result.error().code)) + ": " + result.error().message;
}

}  // namespace modlock::test
