#pragma once

namespace modlock::cli {

// Lets the heap of each thread grow in steps of megabytes instead of pages: every step asks the kernel, and stops the
// threads that touch new memory meanwhile. What is not touched costs nothing. The first step of the first thread is
// taken at once, in huge pages: reading a large configuration spends a tenth of its time on faults of small ones.
void grow_memory_in_large_steps();

}  // namespace modlock::cli
