#pragma once

namespace modlock::git {

// Has libgit2 refuse to allocate more than 512 MiB at once: a pack of a few bytes can claim objects of any size. To be
// called before libgit2 is started.
void bound_allocations();

}  // namespace modlock::git
