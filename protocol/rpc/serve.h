#pragma once

#include <chrono>
#include <cstddef>
#include <functional>

#include "protocol/base/log.h"
#include "protocol/rpc/line_reader.h"
#include "protocol/rpc/method_table.h"
#include "protocol/rpc/worker_pool.h"

namespace modlock {

struct ServeOptions {
  int in_fd = 0;
  int out_fd = 1;
  std::size_t max_message_bytes = kDefaultMaxMessageBytes;  // up to kLargestMaxMessageBytes
  std::chrono::milliseconds drain{60'000};                  // time for requests to finish after the last line
  std::chrono::milliseconds cancel_grace{5'000};            // time for cancelled requests to stop
  std::chrono::milliseconds unread_grace{500};              // the same if the reader of the answers is gone
  WorkerPool::Limits pool = {};
  Log* log = &null_log();  // stderr; gets warnings and errors until the host sets another level
  // Called if a handler does not stop after cancellation. Must not return, except in tests that let the handler stop.
  std::function<void(int exit_code)> abandon = {};  // default: std::_Exit
};

// Serves one session over two descriptors and returns the exit code of the process:
//   end of input          finishes the requests within `drain`, 0; after that cancels, answers, 1
//   exit after shutdown   the same
//   exit without          cancels, answers, 1
//   SIGTERM, SIGINT, SIGHUP (sent to the process or this thread)   cancels, answers, 128 + number; a second one does
//                         not wait for answers
//   the process that `initialize` named has ended   cancels, 1
//   the reader of `out_fd` is gone   cancels within `unread_grace`, 0 after shutdown, else 1
// Reading pauses while the host does not read. The three signals are blocked in this thread, and in the threads it
// starts, until it returns: child processes need their signal mask reset. Throws std::system_error if the process has
// no descriptors left.
int serve(const MethodTable& methods, const ServeOptions& options);

// Reserves stdout: returns a private copy of descriptor 1 (closed on exec) and points descriptor 1 at stderr. Errors:
// IO_ERROR.
Result<int> take_stdout();

}  // namespace modlock
