#pragma once

#include <functional>
#include <string>

#include "backends/git/references.h"
#include "protocol/result.h"

namespace modlock::git {

// What a server that speaks git's smart protocol over http advertises, read by libgit2. `request` gives the body of its
// answer to GET <url>/info/refs?service=git-upload-pack and is called once, on this thread.
// Errors: those of `request`; BAD_RESPONSE with libgit2's words as its message.
Result<References> read_advertisement(const std::string& url, std::function<Result<std::string>()> request);

}  // namespace modlock::git
