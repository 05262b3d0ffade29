#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "backends/base/context.h"
#include "backends/git/git_configuration.h"
#include "backends/git/git_error.h"
#include "backends/git/wire.h"
#include "backends/http/http_client.h"

namespace modlock::git {

// Where and how a repository was found, with everything that later requests need.
struct RepositoryEndpoint {
  HttpPlan plan;
  SecretText base;           // after all redirects
  SecretText authorization;  // accepted by the server; empty: none
  std::string capabilities;  // of the advertisement
  bool is_v2 = false;
};

struct Advertised {
  References references;
  RepositoryEndpoint found;
  WantedReferences wanted;  // what an endpoint of v2 was asked for; v0 lists everything
};

// Talks to one repository in git's smart HTTP protocol: v0, or v2 if the advertisement of v0 is larger than 256 KiB.
// Errors are those of Backend with the texts of git_error.h.
class HttpExchange {
 public:
  // All must outlive the object. `doing` as in git_error.h.
  HttpExchange(HttpClient& http, const HttpPlan& plan, std::string_view doing, const Context& context)
      : http_(http), plan_(plan), remote_(plan.remote), doing_(doing), context_(context) {}

  // One request, or two if the server requires credentials: those of the address, otherwise those of git's credential
  // helpers. A large repository costs two requests more. The file `record` remembers its endpoint, so that the next
  // call needs only one, unless the response is not the expected one, or the endpoint is that of an old redirect.
  Result<Advertised> advertise(const WantedReferences& wanted, const std::filesystem::path& record);
  // Returns the address that the redirects point to. Empty: no redirect, or the target is not this repository.
  Result<SecretText> resolve();
  // Whether fetch() supports the server.
  static bool can_fetch(const RepositoryEndpoint& found);
  // Fetches objects that the server advertised, without their history. One request. On success `answer` has installed
  // the pack. Returns false if the server no longer has one of the objects.
  Result<bool> fetch(const RepositoryEndpoint& found, const std::vector<std::string>& ids, PackResponse& answer);

  // Why git itself may succeed after a failure here; empty if it would fail too.
  const std::string& only_git() const { return only_git_; }

 private:
  std::string base() const;
  std::string tail() const;
  std::string url() const;
  HttpRequest request(const HttpPlan& plan, SecretText url, const SecretText& authorization) const;
  Result<HttpRequest> post(const RepositoryEndpoint& found, std::string body, BodySink& sink) const;
  Result<HttpResponse> get(const SecretText& authorization);
  Result<HttpResponse> send_with_credentials(const std::function<Result<HttpResponse>(const SecretText&)>& send);
  RepositoryEndpoint endpoint(std::string base, std::string capabilities, bool is_v2) const;
  std::optional<RepositoryEndpoint> recorded(const std::filesystem::path& record) const;
  void keep(const RepositoryEndpoint& found, const std::filesystem::path& record) const;
  Result<Advertised> list(RepositoryEndpoint found, const WantedReferences& wanted);
  Result<Advertisement> finish_advertisement();
  Result<void> check_advertisement(const HttpResponse& response);
  Error explain_failure(Error error);
  Error explain_status(HttpResponse response) const;
  // Explains a response that is malformed or contains a refusal. `said` is the text of the refusal.
  Error explain_content(const Error& error, std::string_view said) const;
  tl::unexpected<Error> failure(GitFailure failure) const;

  HttpClient& http_;
  const HttpPlan& plan_;
  const RemoteAddress& remote_;
  std::string_view doing_;
  const Context& context_;
  bool is_large_ = false;              // v2 is requested
  SecretText authorization_ = {};      // of the last request
  AdvertisementReader advertisement_;  // of its response
  std::string only_git_ = {};
};

}  // namespace modlock::git
