// An external backend whose packages lie behind URLs: `fetched::https://host/vpc` has the tags that …/vpc/tags tells,
// as the result of backend/list, and one package, …/vpc/main.tf, whose id is its SHA-256. It is as careless as such a
// program may be: it shows its URL to everybody, and what it could not get whole stays where it lies.

#include <fmt/format.h>
#include <json/value.h>

#include <fstream>
#include <iostream>
#include <string>

#include "backends/base/digest.h"
#include "backends/http/curl_http_client.h"
#include "protocol/base/json.h"

namespace modlock {
namespace {

// A file and its hash.
class HashedFile final : public BodySink {
 public:
  explicit HashedFile(std::string path) : path_(std::move(path)) {}

  Result<void> begin(std::optional<std::uint64_t> /*length*/) override {
    file_.open(path_, std::ios::binary | std::ios::trunc);
    hash_.finish();
    return {};
  }
  Result<void> write(std::string_view bytes) override {
    file_ << bytes << std::flush;
    hash_.update(bytes);
    return {};
  }
  std::string id() { return hex(hash_.finish()); }

 private:
  std::string path_;
  std::ofstream file_;
  Sha256 hash_;
};

std::string url_of(const Json::Value& params, const std::string& name) {
  const std::string url = params["url"].asString();
  const std::size_t query = std::min(url.find('?'), url.size());
  return url.substr(0, query) + "/" + name + url.substr(query);
}

std::string error_text(const Error& error, const std::string& url) {
  Json::Value value;
  value["code"] = -32000;
  value["message"] = error.message + " (" + url + ")";
  value["data"]["code"] = std::string(to_string(error.code));
  value["data"]["hint"] = "look at " + url;
  if (error.retry_after) {
    value["data"]["retryAfterMs"] = Json::Int64(error.retry_after->count());
  }
  return R"("error":)" + write_json(value);
}

// The rest of the answer to a request.
std::string answer(HttpClient& http, const std::string& method, const Json::Value& params) {
  if (method == "backend/describe") {
    return R"("result":{"schemes":["fetched"],"name":"url backend","version":"1.0"})";
  }
  const bool lists = method == "backend/list";
  if (!lists && method != "backend/fetch") {
    return error_text({.code = Code::bad_response, .message = "nobody asks for " + method}, "");
  }
  HttpRequest request;
  const std::string url = url_of(params, lists ? "tags" : "main.tf");
  std::cerr << "asking " << url << std::endl;
  request.url = SecretText(url);
  request.purpose = "ask";
  request.retries = 0;
  request.body_limit = std::size_t{1} << 20U;
  HashedFile file(params["directory"].asString() + "/main.tf");
  request.sink = lists ? nullptr : &file;
  const auto response = expect_success(http.send(request, {}), request);
  if (!response) {
    return error_text(response.error(), url);
  }
  return R"("result":)" + (lists ? response->body : R"({"id":")" + file.id() + R"("})");
}

}  // namespace
}  // namespace modlock

int main() {
  const auto http = modlock::make_curl_http_client("url-backend/1.0");
  for (std::string line; std::getline(std::cin, line);) {
    const auto request = modlock::parse_json(line);
    if (!request) {
      return 1;
    }
    const Json::Value& asked = *request;
    std::cout << fmt::format(R"({{"jsonrpc":"2.0","id":{},{}}})", asked["id"].asInt(),
                             modlock::answer(*http, asked["method"].asString(), asked["params"]))
              << std::endl;
  }
  return 0;
}
