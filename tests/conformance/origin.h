#pragma once

#include <mutex>
#include <string>

#include "tests/support/fault_server.h"
#include "tests/support/git_repository.h"
#include "tests/support/oci_module.h"

namespace modlock::test {

// What a good server of everything answers: a module registry, an OCI registry with its token service, archives, and a
// git repository, each with the module of version 1.0.0, each for the right canary alone. Thread-safe.
class Origin {
 public:
  // `repository` outlives it.
  explicit Origin(const GitRepository& repository);

  // The base of links, "https://127.0.0.1:4711": those to what begins with `path` lead to `place`, all others home.
  void lead(const std::string& home, const std::string& path, const std::string& place);

  ServerAnswer answer(const ReceivedRequest& request) const { return answer(request, false); }
  // The same without asking for credentials.
  ServerAnswer answer_anybody(const ReceivedRequest& request) const { return answer(request, true); }

  // The digests and the commit of version 1.0.0.
  const OciModule& module() const { return module_; }
  const std::string& commit() const { return commit_; }

  static PackageFiles files() { return {{"main.tf", "output \"version\" {\n  value = \"1.0.0\"\n}\n"}}; }

 private:
  ServerAnswer answer(const ReceivedRequest& request, bool is_open) const;
  ServerAnswer registry(const std::string& path) const;
  ServerAnswer oci(const std::string& path) const;
  ServerAnswer git(const ReceivedRequest& request) const;
  std::string link(const std::string& path) const;
  std::string challenge(const std::string& path) const;

  const GitRepository& repository_;
  std::string commit_;
  OciModule module_ = make_oci_module(files());
  mutable std::mutex mutex_;
  std::string home_;
  std::string moved_;
  std::string place_;
};

}  // namespace modlock::test
