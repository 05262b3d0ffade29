#include <httplib.h>

#include <boost/test/unit_test.hpp>

#include "tests/backends/http/http_fixture.h"
#include "tests/support/certificates.h"
#include "tests/support/needs.h"
#include "tests/support/server_thread.h"
#include "tests/support/temporary_directory.h"

// What a server that is not ours makes of our requests, and we of its answers.
namespace modlock::test {
namespace {

struct InteroperationFixture {
  InteroperationFixture()
      : certificate(authority.issue("server")), server(certificate.certificate.c_str(), certificate.key.c_str()) {
    server.Get("/text", [this](const httplib::Request& request, httplib::Response& response) {
      accepted = request.get_header_value("Accept-Encoding");
      response.set_content(text, "text/plain");
    });
    server.Get("/pieces", [this](const httplib::Request&, httplib::Response& response) {
      response.set_chunked_content_provider("text/plain", [this](std::size_t offset, httplib::DataSink& sink) {
        if (offset < text.size()) {
          sink.write(text.data() + offset, std::min(text.size() - offset, std::size_t{1000}));
        } else {
          sink.done();
        }
        return true;
      });
    });
    server.Post("/echo", [](const httplib::Request& request, httplib::Response& response) {
      response.set_content(request.body, request.get_header_value("Content-Type"));
    });
    server.Get("/moved",
               [](const httplib::Request&, httplib::Response& response) { response.set_redirect("/text", 301); });
    thread.start(server, "the server");
  }

  HttpRequest request(const std::string& path) const {
    return get("https://localhost:" + std::to_string(thread.port()) + path);
  }

  CleanHttpEnvironment clean;
  TemporaryDirectory directory;
  CertificateAuthority authority{directory.path()};
  ServerCertificate certificate;
  ScopedEnvironment trusted{"SSL_CERT_FILE", authority.certificate().string()};
  std::string text = std::string(100'000, 'x');
  std::string accepted;
  httplib::SSLServer server;
  ServerThread thread;
  std::unique_ptr<HttpClient> client = make_client_without_waits();
  Stats stats;
  Context context{.stats = &stats};
};

}  // namespace

BOOST_AUTO_TEST_SUITE(curl_interoperation, *needs("openssl"))

BOOST_FIXTURE_TEST_CASE(gzip, InteroperationFixture) {
  const auto response = client->send(request("/text"), context);
  BOOST_TEST_REQUIRE(response.has_value());
  BOOST_TEST((response->body == text));
  BOOST_TEST(response->header("Content-Encoding").value_or("") == "gzip");
  BOOST_TEST(accepted == "gzip, deflate");
  BOOST_TEST(stats.bytes < 1000U);  // counted as they came over the wire
}

BOOST_FIXTURE_TEST_CASE(the_limit_is_for_the_decoded_body, InteroperationFixture) {
  HttpRequest limited = request("/text");
  limited.body_limit = text.size();
  BOOST_TEST(client->send(limited, context).has_value());
  limited.body_limit = text.size() - 1;
  const auto response = client->send(limited, context);
  BOOST_TEST_REQUIRE(!response);
  BOOST_TEST((response.error().code == Code::limit_exceeded));
}

BOOST_FIXTURE_TEST_CASE(pieces, InteroperationFixture) {
  const auto response = client->send(request("/pieces"), context);
  BOOST_TEST_REQUIRE(response.has_value());
  BOOST_TEST((response->body == text));
}

BOOST_FIXTURE_TEST_CASE(post_and_head, InteroperationFixture) {
  HttpRequest post = request("/echo");
  post.method = HttpRequest::Method::post;
  post.headers = {{"Content-Type", "application/json"}};
  post.body = "{}";
  const auto echoed = client->send(post, context);
  BOOST_TEST(outcome(echoed) == "200 {}");
  BOOST_TEST(echoed->header("Content-Type").value_or("") == "application/json");
  HttpRequest head = request("/text");
  head.method = HttpRequest::Method::head;
  BOOST_TEST(outcome(client->send(head, context)) == "200 ");
}

BOOST_FIXTURE_TEST_CASE(moved, InteroperationFixture) {
  const auto response = client->send(request("/moved"), context);
  BOOST_TEST_REQUIRE(response.has_value());
  BOOST_TEST((response->body == text));
  BOOST_TEST(response->url.reveal() == request("/text").url.reveal());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
