#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/fault_server.h"

namespace modlock::test {

// Checks AWS Signature Version 4 as a server does, from the bytes that arrived: the path and the query must be in their
// canonical form, and the signature must be that of the key. Returns the error code of S3, or an empty text.
std::string signature_fault(const ReceivedRequest& request, const std::string& key_id, const std::string& secret,
                            const std::string& session_token, const std::string& region);

// A server of S3 on the loopback, path-style over http: GetObject and ListObjectsV2. Also the list of the JSON API of
// Google Cloud Storage, whose library needs no other request than that and GetObject. Thread-safe.
class S3Server {
 public:
  S3Server();

  // "http://localhost:PORT"
  std::string url() const { return "http://" + server_.host(); }
  // Adds a version of an object: "1" is the id of its first one.
  void put(const std::string& bucket, const std::string& key, std::string body);
  void remove(const std::string& bucket, const std::string& key);
  // From now on every request must be signed with this key.
  void require(std::string key_id, std::string secret, std::string session_token = {},
               std::string region = "us-east-1");
  // From now on every request must carry this bearer token, as for Google Cloud Storage, which also has generations.
  void require_token(std::string token);
  // How many objects a page of a list has.
  void set_page_size(std::size_t size);

  FaultServer& server() { return server_; }
  const FaultServer& server() const { return server_; }

 private:
  using Objects = std::map<std::string, std::vector<std::string>>;

  ServerAnswer answer(const ReceivedRequest& request);
  ServerAnswer list(const std::string& bucket, std::map<std::string, std::string>& query);
  ServerAnswer list_as_json(const std::string& bucket, std::map<std::string, std::string>& query);
  // Sets `next` to the token of the next page, if there is one.
  Objects page_of(const std::string& bucket, const std::string& prefix, const std::string& token, std::string& next);

  std::mutex mutex_;
  std::map<std::string, Objects> buckets_;
  std::vector<std::string> required_;  // key id, secret, session token, region; empty: none
  std::string token_;                  // empty: none
  std::size_t page_size_ = 1000;
  FaultServer server_;
};

}  // namespace modlock::test
