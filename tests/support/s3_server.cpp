#include "tests/support/s3_server.h"

#include <algorithm>
#include <cstdio>
#include <iomanip>
#include <sstream>
#include <utility>

#include "backends/base/digest.h"

namespace modlock::test {
namespace {

constexpr std::string_view kJsonBuckets = "/storage/v1/b/";

std::string digest(Hash algorithm, std::string_view text) {
  return hex(hash_of(algorithm, text));
}

// Nothing below is shared with the code under test: escapes, order and the parts of a signature.
std::string decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      out += static_cast<char>(std::stoi(std::string(text.substr(i + 1, 2)), nullptr, 16));
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::string encoded(std::string_view text, bool keeps_slashes) {
  constexpr std::string_view kPlain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~";
  std::string out;
  for (const char byte : text) {
    if (kPlain.find(byte) != std::string_view::npos || (byte == '/' && keeps_slashes)) {
      out += byte;
    } else {
      char three[4];
      std::snprintf(three, sizeof three, "%%%02X", static_cast<unsigned>(static_cast<unsigned char>(byte)));
      out += three;
    }
  }
  return out;
}

std::map<std::string, std::string> arguments_of(const ReceivedRequest& request) {
  std::map<std::string, std::string> arguments;
  std::string_view rest = std::string_view(request.target).substr(request.path().size());
  rest.remove_prefix(rest.empty() ? 0 : 1);
  while (!rest.empty()) {
    const std::string_view argument = rest.substr(0, rest.find('&'));
    const std::size_t equals = std::min(argument.find('='), argument.size());
    arguments[decoded(argument.substr(0, equals))] = decoded(argument.substr(std::min(equals + 1, argument.size())));
    rest.remove_prefix(std::min(argument.size() + 1, rest.size()));
  }
  return arguments;
}

std::string field(const std::string& text, const std::string& name) {
  const std::size_t at = text.find(name + "=");
  return at == std::string::npos ? std::string()
                                 : text.substr(at + name.size() + 1, text.find(',', at) - at - name.size() - 1);
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char byte : text) {
    out += byte == '&'   ? "&amp;"
           : byte == '<' ? "&lt;"
           : byte == '>' ? "&gt;"
           : byte == '"' ? "&#34;"
                         : std::string(1, byte);
  }
  return out;
}

ServerAnswer refusal(int status, const std::string& code) {
  return {.status = status,
          .headers = {{"Content-Type", "application/xml"}},
          .body = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>" + code + "</Code></Error>"};
}

std::string etag_of(const std::string& body) {
  return "\"" + digest(Hash::md5, body) + "\"";
}

}  // namespace

std::string signature_fault(const ReceivedRequest& request, const std::string& key_id, const std::string& secret,
                            const std::string& session_token, const std::string& region) {
  const std::string given = request.header("Authorization");
  const std::string time = request.header("X-Amz-Date");
  if (given.empty()) {
    return "AccessDenied";
  }
  const std::string scope = time.substr(0, 8) + "/" + region + "/s3/aws4_request";
  if (field(given, "Credential") != key_id + "/" + scope) {
    return "AuthorizationHeaderMalformed";
  }
  if (request.header("X-Amz-Security-Token") != session_token) {
    return "InvalidToken";
  }
  std::string query;
  for (const auto& [name, value] : arguments_of(request)) {  // sorted by name
    query += (query.empty() ? "" : "&") + encoded(name, false) + "=" + encoded(value, false);
  }
  const std::string path = encoded(decoded(request.path()), true);
  if (path + (query.empty() ? "" : "?" + query) != request.target) {
    return "NotCanonical";
  }
  std::string headers;
  std::string names = field(given, "SignedHeaders");
  for (std::string rest = names + ";"; !rest.empty(); rest.erase(0, rest.find(';') + 1)) {
    const std::string name = rest.substr(0, rest.find(';'));
    headers += name + ":" + request.header(name) + "\n";
  }
  for (const char* name : {"host", "x-amz-content-sha256", "x-amz-date"}) {
    if (headers.find(std::string(name) + ":") == std::string::npos) {
      return "UnsignedHeader";
    }
  }
  const std::string content = request.header("X-Amz-Content-Sha256");
  const std::string text = request.method + "\n" + path + "\n" + query + "\n" + headers + "\n" + names + "\n" + content;
  const std::string key = hmac_sha256(
      hmac_sha256(hmac_sha256(hmac_sha256("AWS4" + secret, time.substr(0, 8)), region), "s3"), "aws4_request");
  const std::string expected =
      hmac_sha256(key, "AWS4-HMAC-SHA256\n" + time + "\n" + scope + "\n" + digest(Hash::sha256, text));
  const std::vector<std::uint8_t> bytes(expected.begin(), expected.end());
  return field(given, "Signature") == hex(bytes) ? "" : "SignatureDoesNotMatch";
}

S3Server::S3Server() : server_([this](const ReceivedRequest& request) { return answer(request); }) {}

void S3Server::put(const std::string& bucket, const std::string& key, std::string body) {
  const std::lock_guard lock(mutex_);
  buckets_[bucket][key].push_back(std::move(body));
}

void S3Server::remove(const std::string& bucket, const std::string& key) {
  const std::lock_guard lock(mutex_);
  buckets_[bucket].erase(key);
}

void S3Server::require(std::string key_id, std::string secret, std::string session_token, std::string region) {
  const std::lock_guard lock(mutex_);
  required_ = {std::move(key_id), std::move(secret), std::move(session_token), std::move(region)};
}

void S3Server::require_token(std::string token) {
  const std::lock_guard lock(mutex_);
  token_ = std::move(token);
}

void S3Server::set_page_size(std::size_t size) {
  const std::lock_guard lock(mutex_);
  page_size_ = size;
}

ServerAnswer S3Server::answer(const ReceivedRequest& request) {
  const std::lock_guard lock(mutex_);
  if (!required_.empty()) {
    const std::string fault = signature_fault(request, required_[0], required_[1], required_[2], required_[3]);
    if (!fault.empty()) {
      ServerAnswer refused = refusal(fault == "AccessDenied" || fault == "SignatureDoesNotMatch" ? 403 : 400, fault);
      refused.headers.push_back({"x-amz-bucket-region", required_[3]});
      return refused;
    }
  }
  if (!token_.empty() && request.header("Authorization") != "Bearer " + token_) {
    return refusal(401, "AuthenticationRequired");
  }
  std::string path = decoded(request.path());
  const bool is_json = path.starts_with(kJsonBuckets) && path.ends_with("/o");
  path.erase(1, is_json ? kJsonBuckets.size() - 1 : 0);
  const std::size_t slash = std::min(path.find('/', 1), path.size());
  const auto bucket = buckets_.find(path.substr(1, slash - 1));
  auto query = arguments_of(request);
  if (bucket == buckets_.end()) {
    return refusal(404, "NoSuchBucket");
  }
  if (is_json) {
    return list_as_json(bucket->first, query);
  }
  if (query.count("list-type") != 0) {
    return list(bucket->first, query);
  }
  const auto object = bucket->second.find(path.substr(std::min(slash + 1, path.size())));
  if (object == bucket->second.end()) {
    return refusal(404, "NoSuchKey");
  }
  const std::string version = query["versionId"] + query["generation"];
  const std::size_t number = version.empty() ? object->second.size() : std::strtoul(version.c_str(), nullptr, 10);
  if (number == 0 || number > object->second.size()) {
    return refusal(404, "NoSuchVersion");
  }
  const std::string& body = object->second[number - 1];
  if (request.header("If-None-Match") == etag_of(body)) {
    return {.status = 304};
  }
  return {.headers = {{"ETag", etag_of(body)}, {"x-goog-generation", std::to_string(number)}}, .body = body};
}

ServerAnswer S3Server::list(const std::string& bucket, std::map<std::string, std::string>& query) {
  const std::string prefix = query["prefix"];
  std::string next;
  std::string body =
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<ListBucketResult "
      "xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Name>" +
      escaped(bucket) + "</Name><Prefix>" + escaped(prefix) + "</Prefix>";
  for (const auto& [key, versions] : page_of(bucket, prefix, query["continuation-token"], next)) {
    body += "<Contents><Key>" + escaped(key) + "</Key><ETag>" + escaped(etag_of(versions.back())) + "</ETag><Size>" +
            std::to_string(versions.back().size()) + "</Size><Generation>" + std::to_string(versions.size()) +
            "</Generation></Contents>";
  }
  body += next.empty()
              ? "<IsTruncated>false</IsTruncated>"
              : "<IsTruncated>true</IsTruncated><NextContinuationToken>" + escaped(next) + "</NextContinuationToken>";
  return {.body = body + "</ListBucketResult>"};
}

ServerAnswer S3Server::list_as_json(const std::string& bucket, std::map<std::string, std::string>& query) {
  std::string next;
  std::ostringstream body;
  body << "{\"items\": [";
  std::string separator;
  for (const auto& [key, versions] : page_of(bucket, query["prefix"], query["pageToken"], next)) {
    body << std::exchange(separator, ", ") << "{\"bucket\": " << std::quoted(bucket)
         << ", \"name\": " << std::quoted(key) << ", \"generation\": \"" << versions.size() << "\", \"size\": \""
         << versions.back().size() << "\"}";
  }
  body << "]";
  if (!next.empty()) {
    body << ", \"nextPageToken\": " << std::quoted(next);
  }
  body << "}";
  return {.headers = {{"Content-Type", "application/json"}}, .body = body.str()};
}

S3Server::Objects S3Server::page_of(const std::string& bucket, const std::string& prefix, const std::string& token,
                                    std::string& next) {
  Objects page;
  for (const auto& [key, versions] : buckets_[bucket]) {
    if (!key.starts_with(prefix) || (!token.empty() && key <= decoded(token.substr(6)))) {
      continue;
    }
    if (page.size() == page_size_) {
      next = "next+=" + encoded(page.rbegin()->first, false);
      return page;
    }
    page.emplace(key, versions);
  }
  return page;
}

}  // namespace modlock::test
