#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "tests/support/fault_server.h"

// What servers and the ways to them do wrong, by name: `server.add({.behaviour = faults::truncated(), .path = "/v1"})`.
namespace modlock::test::faults {

// Takes the request and never says a word.
Behaviour black_hole();
// Half of the good answer's body, then a reset.
Behaviour reset_mid_body();
// The good answer's headers, and its body a byte at a time.
Behaviour slow_drip(std::chrono::milliseconds between);
// Half of the good answer's body, then the end of the stream.
Behaviour truncated();
// The good answer with this Content-Length.
Behaviour wrong_length(std::string length);
// Headers, or one header line, without end.
Behaviour endless_headers();
Behaviour endless_header();
// A body without a length and without end, of this status.
Behaviour endless_body(int status = 200);
// `start`, then `piece` again and again.
Behaviour endless(std::string start, std::string piece);
// Bytes that are no HTTP.
Behaviour not_http();
// Closes without an answer.
Behaviour no_answer();
// Redirects to the very same URL.
Behaviour redirect_loop();
Behaviour redirect(std::string location, int status = 302);
Behaviour answer(ServerAnswer answer);
// 429, with a Retry-After where one is given.
Behaviour rate_limited(std::string retry_after = {});
Behaviour status(int status);
// These bytes, then the end of the stream.
Behaviour bytes(std::string text);

}  // namespace modlock::test::faults
