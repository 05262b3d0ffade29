#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/credentials/credentials.h"

namespace modlock::test {

// Credentials in memory: what a test says, and a record of what was asked.
class FakeCredentials final : public Credentials {
 public:
  // `where` is a host ("example.com:5000") or a host with a repository, of which the longest prefix in whole segments
  // is found ("example.com/team/app").
  void add(CredentialUse use, std::string where, FoundCredential credential) {
    found_[{use, std::move(where)}] = std::move(credential);
  }
  void add_token(CredentialUse use, std::string where, std::string token) {
    add(use, where, {.secret = TokenCredential{.access_token = SecretText(std::move(token))}, .from = "test " + where});
  }
  void add_basic(CredentialUse use, std::string where, std::string user, std::string password) {
    add(use, where,
        {.secret = BasicCredential{.user = SecretText(std::move(user)), .password = SecretText(std::move(password))},
         .from = "test " + where});
  }
  // Every call fails with it from now on.
  void fail_with(Error error) { error_ = std::move(error); }

  Result<FoundCredential> find(const CredentialQuery& query, const Context& /*context*/) override {
    const std::lock_guard lock(mutex_);
    std::string where = query.host;
    if (!query.repository.empty()) {
      where.append("/").append(query.repository);
    }
    asked_.push_back(where);
    if (error_) {
      return fail(*error_);
    }
    while (true) {
      if (const auto entry = found_.find({query.use, where}); entry != found_.end()) {
        return entry->second;
      }
      const std::size_t slash = where.rfind('/');
      if (slash == std::string::npos) {
        return FoundCredential{};
      }
      where.resize(slash);
    }
  }

  Result<std::vector<CredentialLocation>> places(const CredentialQuery& query, const Context& context) override {
    const auto found = find(query, context);
    if (!found) {
      return fail(found.error());
    }
    if (found->found()) {
      return std::vector{CredentialLocation{.place = found->from, .outcome = "used"}};
    }
    return std::vector{CredentialLocation{.place = "test", .outcome = "no entry for " + query.host}};
  }

  // "host" or "host/repository", in the order asked.
  std::vector<std::string> asked() const {
    const std::lock_guard lock(mutex_);
    return asked_;
  }

 private:
  std::map<std::pair<CredentialUse, std::string>, FoundCredential> found_;
  std::optional<Error> error_;
  std::vector<std::string> asked_;
  mutable std::mutex mutex_;
};

}  // namespace modlock::test
