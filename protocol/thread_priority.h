#pragma once

namespace modlock {

// Lets all other threads of the process go first where the processors are busy: this thread, and those and the child
// processes that it starts, count for a tenth. Where the system refuses, all stays as it is.
void lower_thread_priority();

}  // namespace modlock
