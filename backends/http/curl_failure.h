#pragma once

#include <curl/curl.h>

#include <string>
#include <string_view>

#include "backends/http/retrying_http_client.h"

namespace modlock::http {

// What libcurl says of a transfer that failed.
struct CurlVerdict {
  CURLcode code = CURLE_OK;
  std::string_view text = {};  // of CURLOPT_ERRORBUFFER: read for what the code does not tell, never shown
  long system_error = 0;       // CURLINFO_OS_ERRNO
  long verify_result = 0;      // CURLINFO_SSL_VERIFYRESULT
  long connect_status = 0;     // of a proxy's answer to CONNECT
  std::string server = {};     // host and port
  std::string proxy = {};      // scheme, host and port; empty: none
};

// The same in our words, which hold no secret.
ExchangeFailure failure_of(const CurlVerdict& verdict);

}  // namespace modlock::http
