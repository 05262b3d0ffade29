#pragma once

#include <functional>
#include <string>
#include <vector>

#include "backends/store/store.h"
#include "plugin/install/data_directory.h"
#include "plugin/lock/lock_file.h"
#include "plugin/resolve/module_tree.h"

namespace modlock {

// What is true of one locked thing. By what it means for the exit code: held and update_available are fine.
enum class VerdictKind { held, update_available, not_locked, missing, vanished, moved, tampered };
std::string_view to_string(VerdictKind kind);
int exit_code(VerdictKind kind);

struct Verdict {
  std::string subject;
  VerdictKind kind = VerdictKind::held;
  std::string expected;            // "h1:…" of the lock, where there is one
  std::string actual;              // "h1:…" of what is installed, where there is something
  std::string detail;              // one sentence; empty for a plain held
  std::vector<std::string> paths;  // the first differing files, each with what happened to it
};

struct VerifyRequest {
  WalkRequest walk;
  LockFile lock;
  DataDirectory data;
  std::function<bool(const Source&)> serves;  // which sources a backend can lock
  bool strict = false;  // files that tofu leaves out or ignores count too, and so do sources that nobody serves
};

struct VerifyReport {
  std::vector<Verdict> verdicts;  // by subject
  Diagnostics diagnostics;
  bool ok() const;
  int exit_code() const;  // of the worst verdict
};

// Compares what is installed below the data directory with the lock, without any request. Every called module gets a
// verdict, and every lock entry that no call has.
// Errors: an unreadable configuration (the worst of its errors), an unreadable manifest, cancellation.
Result<VerifyReport> verify_modules(const VerifyRequest& request, const Store& store, const Context& context);

}  // namespace modlock
