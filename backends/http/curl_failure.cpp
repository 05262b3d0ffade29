#include "backends/http/curl_failure.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <system_error>

#include "backends/address/source_text.h"
#include "backends/http/text.h"
#include "backends/http/tls_failure.h"
#include "protocol/base/system_reason.h"
#include "protocol/base/utf8.h"

namespace modlock::http {
namespace {

constexpr std::string_view kCheckProxy = "check HTTPS_PROXY, HTTP_PROXY and NO_PROXY";
constexpr std::string_view kTrustHint =
    "if you trust its authority, name a file with the authority's certificate in SSL_CERT_FILE, or a directory of such "
    "files in SSL_CERT_DIR";

bool says(const CurlVerdict& verdict, std::string_view words) {
  return verdict.text.find(words) != std::string_view::npos;
}

ExchangeFailure unreachable(std::string reason, std::string_view hint = {}) {
  return {.code = Code::unreachable, .reason = std::move(reason), .hint = std::string(hint)};
}

ExchangeFailure bad_response(std::string reason) {
  return {.code = Code::bad_response, .reason = std::move(reason), .is_final = true};
}

ExchangeFailure tls(std::string reason, std::string_view hint) {
  return {.code = Code::unreachable, .reason = std::move(reason), .hint = std::string(hint), .is_final = true};
}

std::string system_text(long number) {
  return system_reason(static_cast<int>(number));
}

// Returns the library's text after the last of these marks; OpenSSL's texts contain no secrets.
std::string behind(std::string_view text, std::string_view mark) {
  const std::size_t at = text.rfind(mark);
  const std::string_view rest = at == std::string_view::npos ? text : text.substr(at + mark.size());
  return to_valid_utf8(escape_controls(cut_text(std::string(rest), 100)));
}

ExchangeFailure not_connected(const CurlVerdict& verdict) {
  const std::string whom = verdict.proxy.empty() ? verdict.server : "the proxy " + verdict.proxy;
  std::string_view hint =
      verdict.proxy.empty() ? "check the address, and the network and proxy settings of this machine" : kCheckProxy;
  if (verdict.system_error == ECONNREFUSED) {
    return unreachable(whom + " refused the connection", hint);
  }
  if (verdict.system_error == EMFILE || verdict.system_error == ENFILE) {
    hint = system_advice(static_cast<int>(verdict.system_error));
  }
  return verdict.system_error == 0
             ? unreachable("no connection to " + whom, hint)
             : unreachable(fmt::format("no connection to {}: {}", whom, system_text(verdict.system_error)), hint);
}

ExchangeFailure certificate_failure(const CurlVerdict& verdict) {
  // The numbers of X509_V_ERR_* are part of OpenSSL's interface.
  constexpr long kNotYetValid = 9;
  constexpr long kExpired = 10;
  constexpr std::array kUnknownAuthority = {2L, 18L, 19L, 20L, 21L};
  const std::string whose =
      fmt::format("the TLS certificate of {}",
                  verdict.proxy.empty() || !says(verdict, "proxy") ? verdict.server : "the proxy " + verdict.proxy);
  if (verdict.verify_result == kExpired) {
    return tls(whose + " has expired", "ask its operator to renew it; also check the clock of this machine");
  }
  if (verdict.verify_result == kNotYetValid) {
    return tls(whose + " is not valid yet", "check the clock of this machine");
  }
  for (const long number : kUnknownAuthority) {
    if (verdict.verify_result == number) {
      return tls(whose + " is signed by an authority that is not trusted here", kTrustHint);
    }
  }
  if (says(verdict, "subject name")) {
    return tls(whose + " is for another host", "check the host name, and whether a proxy responds in its place");
  }
  return tls(fmt::format("{} was not accepted: {}", whose, behind(verdict.text, "SSL certificate problem: ")),
             kTrustHint);
}

ExchangeFailure handshake_failure(const CurlVerdict& verdict) {
  if (says(verdict, "Connection reset") || says(verdict, "SSL_ERROR_SYSCALL") || says(verdict, "unexpected eof")) {
    return unreachable("the connection was closed during the TLS handshake");
  }
  return tls(fmt::format("{}{}: {}", kNoTls, verdict.server, behind(verdict.text, "::")),
             "check that the port uses TLS");
}

ExchangeFailure receive_failure(const CurlVerdict& verdict) {
  if (verdict.connect_status >= 300) {
    const std::string_view hint = verdict.connect_status == 407
                                      ? "put the user name and password for the proxy into the URL of HTTPS_PROXY"
                                      : kCheckProxy;
    ExchangeFailure failure = unreachable(
        fmt::format("the proxy {} refused the connection (status {})", verdict.proxy, verdict.connect_status), hint);
    failure.is_final = verdict.connect_status < 500;
    return failure;
  }
  if (says(verdict, "chunk")) {
    return bad_response("the chunked encoding of the body is malformed");
  }
  return unreachable("the connection was interrupted");
}

ExchangeFailure strange_answer(const CurlVerdict& verdict) {
  return bad_response(says(verdict, "Content-Length") ? "invalid Content-Length" : "the response is not HTTP");
}

}  // namespace

ExchangeFailure failure_of(const CurlVerdict& verdict) {
  switch (verdict.code) {
    case CURLE_COULDNT_RESOLVE_HOST:
      return unreachable("the host name could not be resolved",
                         "check the host name, and the name service and proxy settings of this machine");
    case CURLE_COULDNT_RESOLVE_PROXY:
      return unreachable(fmt::format("the name of the proxy {} could not be resolved", verdict.proxy), kCheckProxy);
    case CURLE_COULDNT_CONNECT:
      return not_connected(verdict);
    case CURLE_PEER_FAILED_VERIFICATION:
      return certificate_failure(verdict);
    case CURLE_SSL_CONNECT_ERROR:
      return handshake_failure(verdict);
    case CURLE_SSL_CACERT_BADFILE:
      return tls("the certificates of trusted authorities cannot be read", "check SSL_CERT_FILE and SSL_CERT_DIR");
    case CURLE_GOT_NOTHING:
      return unreachable("the connection was closed without a response");
    case CURLE_PARTIAL_FILE:
      return unreachable("the body was truncated");
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
      return receive_failure(verdict);
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_WEIRD_SERVER_REPLY:
      return strange_answer(verdict);
    case CURLE_BAD_CONTENT_ENCODING:
      return bad_response("the body does not match its Content-Encoding");
    case CURLE_OUT_OF_MEMORY:
      return bad_response("a header is too long");
    case CURLE_URL_MALFORMAT:
      return {.code = Code::source_invalid, .reason = "the URL cannot be read", .is_final = true};
    default:
      return unreachable(curl_easy_strerror(verdict.code));
  }
}

}  // namespace modlock::http
