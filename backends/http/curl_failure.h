#pragma once

#include <curl/curl.h>

#include <string>
#include <string_view>

#include "backends/http/retrying_http_client.h"

namespace modlock::http {

// libcurl's report of a failed transfer.
struct CurlVerdict {
  CURLcode code = CURLE_OK;
  std::string_view text = {};  // of CURLOPT_ERRORBUFFER: adds to the code; never shown
  long system_error = 0;       // CURLINFO_OS_ERRNO
  long verify_result = 0;      // CURLINFO_SSL_VERIFYRESULT
  long connect_status = 0;     // of a proxy's response to CONNECT
  std::string server = {};     // host and port
  std::string proxy = {};      // scheme, host and port; empty: none
};

// Describes the failure in tofu-modlock's own wording, which contains no secret.
ExchangeFailure failure_of(const CurlVerdict& verdict);

}  // namespace modlock::http
