#pragma once

#include <memory>

#include "backends/address/scrub.h"
#include "backends/http/http_client.h"

namespace modlock {

// Returns `client`, which adds the secrets of each request to `secrets`: its secret headers (of Authorization the token
// or the password), the user-info of its URL, and the refresh token in its body.
// The lines that it logs are free of them. Both references outlive it.
std::unique_ptr<HttpClient> make_secret_recording_client(HttpClient& client, KnownSecrets& secrets);

}  // namespace modlock
