#pragma once

namespace modlock::git {

// Makes libgit2 refuse to allocate more than 512 MiB at once, because a pack of a few bytes can claim objects of any
// size. Must be called before libgit2 is started.
void bound_allocations();

}  // namespace modlock::git
