#pragma once

#include <functional>
#include <string>
#include <vector>

#include "backends/store/store.h"
#include "plugin/install/data_directory.h"
#include "plugin/lock/lock_file.h"
#include "plugin/resolve/module_tree.h"
#include "plugin/resolve/origin.h"
#include "plugin/verify/verdict.h"

namespace modlock {

struct VerifyRequest {
  WalkRequest walk;
  LockFile lock;
  std::string lock_path;  // relative to the root, for locations
  DataDirectory data;
  std::function<bool(const Source&)> serves;  // which sources a backend can lock
  Origin* origin = nullptr;                   // where the sources are to be asked too
  bool full = false;                          // hash every file, whatever is known of it
  bool strict = false;  // files that tofu leaves out or ignores count too, and so do sources that nobody serves
};

struct VerifyReport {
  std::vector<Verdict> verdicts;  // by subject
  Diagnostics diagnostics;        // errors: sources that did not answer
  bool ok() const;
  int exit_code() const;  // of the worst verdict or error
};

// Compares what is installed below the data directory with the lock, without any request; with an origin then what the
// sources give now. Every called module gets a verdict, and every lock entry that no call has.
// Errors: an unreadable configuration (the worst of its errors), an unreadable manifest, cancellation.
Result<VerifyReport> verify_modules(const VerifyRequest& request, const Store& store, const Context& context);

}  // namespace modlock
