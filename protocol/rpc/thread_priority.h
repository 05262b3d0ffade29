#pragma once

namespace modlock {

// Lets all other threads of the process go first where the processors are busy: this thread, and those and the child
// processes that it starts, count for a tenth. Where the system refuses, all stays as it is.
void lower_thread_priority();

// Lets this thread take the place of a busy one at once, not at its next pause, where the system knows how
// (Linux 6.12). For threads that work for moments only; those that they start are as quick.
void answer_quickly();

}  // namespace modlock
