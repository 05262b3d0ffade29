#pragma once

#include <boost/test/unit_test.hpp>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "backends/base/context.h"
#include "backends/external/external_backend.h"
#include "tests/support/temporary_directory.h"

namespace modlock::test {

// Debug lines and all others, in order, without times.
class KeptLog final : public Log {
 public:
  void write(LogLevel level, std::string_view line) override {
    const std::lock_guard lock(mutex_);
    const std::size_t time = line.ends_with(" ms") ? line.rfind(" in ") : line.size();
    lines_.push_back(std::string(to_string(level)) + ": " + std::string(line.substr(0, time)));
  }
  std::vector<std::string> lines() const {
    const std::lock_guard lock(mutex_);
    return lines_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
};

// "CODE: message", and "ok" where there is no error.
template <typename T>
std::string outcome(const Result<T>& result) {
  return result ? "ok" : std::string(to_string(result.error().code)) + ": " + result.error().message;
}

// A backend whose program is a Python script that behaves as it is told. It serves "fake" with the tags v1.0.0 (id
// "id-v1.0.0"), v1.1.0 and "other", and fetches a tree of one file, "main.tf", that says which id it is.
struct ExternalFixture {
  // "git": a program for a host of git, whose ids are commits. "registry": one for a host of a registry.
  explicit ExternalFixture(std::string scheme = "fake");

  // A backend that has not been started. `behaviour` names a part of the script.
  std::unique_ptr<BackendCore> backend(const std::string& behaviour, ExternalLimits limits = {}) const;
  // How such a backend lists the versions: "ok", or "CODE: message".
  std::string list(const std::string& behaviour, ExternalLimits limits = {}) const;
  SourceAddress source(const std::string& more = {}) const;
  // How often the program was started, and whether all these processes, and those that they started, are gone.
  std::size_t starts() const { return pids("starts").size(); }
  bool all_gone() const;
  // "method params" of each request, without the member "url", in order.
  std::vector<std::string> requests() const;
  // `the backend "fake" ("<python>") could not <doing>: `
  std::string could_not(const std::string& doing) const;
  // The id of a name: "id-v1.0.0", or a commit.
  std::string id_of(const std::string& name) const;

  const std::string scheme;

  TemporaryDirectory directory;
  KeptLog log;
  Stats stats;
  Context context;

 private:
  ExternalCommand command(const std::string& behaviour) const;
  std::vector<int> pids(const std::string& file) const;
};

// The interpreter, empty where there is none.
const std::string& python();
// The precondition of a test that needs it.
boost::test_tools::assertion_result has_python(boost::unit_test::test_unit_id);

}  // namespace modlock::test
