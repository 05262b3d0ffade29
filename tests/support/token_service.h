#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/certificates.h"

namespace modlock::test {

// A token service as docker-registry trusts it, over https on a free port of the loopback: user and password may pull
// from everywhere, the refresh token is worth as much, the anonymous may pull from repositories "public/…". Its tokens
// live a minute.
class TokenService {
 public:
  TokenService(const ServerCertificate& certificate, const std::string& user, const std::string& password,
               const std::string& refresh_token);
  ~TokenService();
  TokenService(const TokenService&) = delete;
  TokenService& operator=(const TokenService&) = delete;

  // The certificate of the key that its tokens are signed with.
  std::filesystem::path signer() const;
  std::string url() const;  // "https://127.0.0.1:PORT/token"
  std::string issue(const std::string& repository, const std::vector<std::string>& actions) const;
  // "GET <scopes> <anonymous, basic or refused>", "POST <scopes> <refresh or refused>", in order.
  std::vector<std::string> log() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace modlock::test
