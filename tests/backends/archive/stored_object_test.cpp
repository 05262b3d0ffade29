#include "backends/archive/archive_request.h"

#include <fmt/format.h>

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <stop_token>

#include "backends/address/source.h"

using namespace modlock;
using namespace modlock::archive;

namespace {

// "<URL> <region> <version>", or "refused".
std::string read(const std::string& source) {
  const auto address = parse_source(source);
  BOOST_REQUIRE(address.has_value());
  const auto object = read_s3_object(*GoUrl::parse(address->package_url.reveal()), "it");
  if (!object) {
    BOOST_TEST(object.error().message == "\"it\" is not an address of S3: expected a region, a bucket and a key");
    return "refused";
  }
  return object->url(object->key).reveal() + " " + object->region + " " + object->version;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(stored_object)

BOOST_AUTO_TEST_CASE(addresses_as_the_clients_read_them) {
  struct Row {
    const char* name;
    const char* source;
    const char* expected;
  };
  for (const Row& row : {
           Row{"path style", "s3::https://s3-eu-west-1.amazonaws.com/b/a/x.zip",
               "https://s3-eu-west-1.amazonaws.com/b/a/x.zip eu-west-1 "},
           Row{"path style, no region", "s3::https://s3.amazonaws.com/b/x.zip",
               "https://s3.amazonaws.com/b/x.zip us-east-1 "},
           Row{"path style, a region as a label", "s3::https://s3.eu-west-1.amazonaws.com/b/x.zip",
               "https://s3.eu-west-1.amazonaws.com/b/x.zip eu-west-1 "},
           Row{"virtual-hosted", "s3::https://s3-b.s3.eu-west-1.amazonaws.com/a/x.zip",
               "https://s3-b.s3.eu-west-1.amazonaws.com/a/x.zip eu-west-1 "},
           Row{"virtual-hosted, with a dash", "s3::https://b.s3-eu-west-1.amazonaws.com/x.zip",
               "https://b.s3-eu-west-1.amazonaws.com/x.zip eu-west-1 "},
           Row{"http", "s3::http://s3.amazonaws.com/b/x.zip", "https://s3.amazonaws.com/b/x.zip us-east-1 "},
           Row{"China", "s3::https://b.s3.cn-north-1.amazonaws.com.cn/x.zip",
               "https://b.s3.cn-north-1.amazonaws.com.cn/x.zip cn-north-1 "},
           Row{"a detected address", "b.s3-eu-west-1.amazonaws.com/x.zip//sub",
               "https://s3-eu-west-1.amazonaws.com/b/x.zip eu-west-1 "},
           Row{"a detected address without a region", "b.s3.amazonaws.com/x.zip",
               "https://s3.amazonaws.com/b/x.zip us-east-1 "},
           Row{"another server", "s3::http://minio.example:9000/b/x.zip",
               "http://minio.example:9000/b/x.zip us-east-1 "},
           Row{"another server and region", "s3::https://minio.example/b/x.zip?region=de-1&version=7",
               "https://minio.example/b/x.zip de-1 7"},
           Row{"a name that ends like AWS", "s3::https://evilamazonaws.com/b/x.zip", "refused"},
           Row{"a name that the client takes for AWS", "s3::https://s3.evilamazonaws.com/b/x.zip", "refused"},
           Row{"another name", "s3::https://s3.amazonaws.com.example/b/x.zip",
               "https://s3.amazonaws.com.example/b/x.zip us-east-1 "},
           Row{"an access point", "s3::https://b-1.s3-accesspoint.us-west-2.amazonaws.com/x.zip", "refused"},
           Row{"both kinds of addresses", "s3::https://s3.dualstack.us-west-2.amazonaws.com/b/x.zip", "refused"},
           Row{"escapes", "s3::https://minio.example/b/a%20b+c&d.zip",
               "https://minio.example/b/a%20b%2Bc%26d.zip us-east-1 "},
           Row{"a whole bucket", "s3::https://minio.example/b/", "https://minio.example/b/ us-east-1 "},
           Row{"virtual-hosted, no region", "s3::https://b.s3.amazonaws.com/x.zip",
               "https://b.s3.amazonaws.com/x.zip us-east-1 "},
           Row{"another service", "s3::https://ec2.amazonaws.com/b/x.zip", "refused"},
           Row{"another service of the bucket", "s3::https://b.s3website.amazonaws.com/x.zip", "refused"},
           Row{"no key", "s3::https://minio.example/b", "refused"},
           Row{"no bucket", "s3::https://minio.example//x.zip", "refused"},
           Row{"another bucket by dots", "s3::https://minio.example/b/%2e%2e/c/x.zip", "refused"},
           Row{"dots in a name", "s3::https://minio.example/b/a..b.zip", "https://minio.example/b/a..b.zip us-east-1 "},
           Row{"no region", "s3::https://minio.example/b/x.zip?region=eu%0d%0ax", ""},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      if (*row.expected == 0) {
        BOOST_TEST(!parse_source(row.source).has_value());
      } else {
        BOOST_TEST(read(row.source) == row.expected);
      }
    }
  }
}

// The example "GET Bucket (List Objects)" of AWS's documentation of Signature Version 4.
BOOST_AUTO_TEST_CASE(the_signature_that_aws_documents) {
  HttpRequest request{.url = SecretText("https://examplebucket.s3.amazonaws.com/?max-keys=2&prefix=J")};
  const AwsCredential credential{SecretText("AKIAIOSFODNN7EXAMPLE"),
                                 SecretText("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")};
  sign_request(request, credential, "us-east-1", std::chrono::system_clock::from_time_t(1369353600));
  BOOST_REQUIRE(request.secret_headers.size() == 1U);
  BOOST_TEST(request.secret_headers[0].second.reveal() ==
             "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, "
             "SignedHeaders=host;x-amz-content-sha256;x-amz-date, "
             "Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
}

BOOST_AUTO_TEST_CASE(lists_of_objects) {
  const std::string start = "<?xml version=\"1.0\"?><ListBucketResult xmlns=\"x\">";
  struct Row {
    const char* name;
    std::string xml;
    std::string expected;  // "<key>=<etag> … > <token>", "refused"
  };
  for (const Row& row : {
           Row{"objects",
               start + "<Contents><Key>a&amp;b</Key><ETag>&quot;1&quot;</ETag></Contents><Contents><Size>1"
                       "</Size><Key>&#x26;c</Key></Contents></ListBucketResult>",
               "a&b=\"1\" &c= > "},
           Row{"none", start + "<KeyCount>0</KeyCount></ListBucketResult>", " > "},
           Row{"more pages",
               start + "<IsTruncated>true</IsTruncated><NextContinuationToken>a+/=</NextContinuationToken>"
                       "</ListBucketResult>",
               " > a+/="},
           Row{"the last page with a token",
               start + "<IsTruncated>false</IsTruncated><NextContinuationToken>a"
                       "</NextContinuationToken></ListBucketResult>",
               " > "},
           Row{"more pages without a token", start + "<IsTruncated>true</IsTruncated></ListBucketResult>", "refused"},
           Row{"truncated", start + "<Contents><Key>a</Key></Contents>", "refused"},
           Row{"an object without a key", start + "<Contents><Size>1</Size></Contents></ListBucketResult>", "refused"},
           Row{"an object without an end", start + "<Contents><Key>a</Key></ListBucketResult>", "refused"},
           Row{"an object in an object",
               start + "<Contents><Key>a</Key><Contents><Key>b</Key></Contents></ListBucketResult>", "refused"},
           Row{"a key in pieces", start + "<Contents><Key>a<b/></Key></Contents></ListBucketResult>", "refused"},
           Row{"CDATA", start + "<Contents><Key><![CDATA[a]]></Key></Contents></ListBucketResult>", "refused"},
           Row{"a comment", start + "<!-- <Contents><Key>a</Key></Contents> --></ListBucketResult>", "refused"},
           Row{"a page for people", "<html><body>welcome</body></html>", "refused"},
           Row{"nothing", "", "refused"},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto page = read_object_page(row.xml, "it", "ETag", Context{});
      std::string text = page ? "" : "refused";
      for (std::size_t i = 0; page && i < page->objects.size(); ++i) {
        text += (i == 0 ? "" : " ") + page->objects[i].first + "=" + page->objects[i].second;
      }
      BOOST_TEST((page ? text + " > " + page->next : text) == row.expected);
    }
  }
}

// Read again from each object to the end, each of these lists needs far more than the deadline.
BOOST_AUTO_TEST_CASE(large_lists) {
  constexpr std::size_t kObjects = 200'000;
  const auto repeated = [](std::string_view object) {
    std::string xml = "<ListBucketResult>";
    for (std::size_t i = 0; i < kObjects; ++i) {
      xml += object;
    }
    return xml;
  };
  struct Row {
    const char* name;
    std::string xml;
    std::string expected;  // the number of objects, or the error
  };
  const std::string refused = "BAD_RESPONSE the list of the objects of \"it\" is not one of S3";
  const std::string objects = repeated("<Contents><Key>d/a</Key></Contents>");
  for (const Row& row :
       {Row{"objects", objects + "</ListBucketResult>", std::to_string(kObjects)},
        Row{"objects without an end", repeated("<Contents><Key>d/a</Key>") + "</ListBucketResult>", refused},
        Row{"objects with one end", repeated("<Contents><Key>d/a</Key>") + "</Contents></ListBucketResult>", refused},
        Row{"the last one without an end", objects + "<Contents><Key>a</Key></ListBucketResult>", refused}}) {
    BOOST_TEST_CONTEXT(row.name) {
      const Context context{.deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30)};
      const auto page = read_object_page(row.xml, "it", "ETag", context);
      BOOST_TEST((page ? std::to_string(page->objects.size())
                       : fmt::format("{} {}", to_string(page.error().code), page.error().message)) == row.expected);
    }
  }
  std::stop_source stop;
  stop.request_stop();
  const Context cancelled{.stop = stop.get_token()};
  const Context late{.deadline = std::chrono::steady_clock::now()};
  BOOST_TEST((read_object_page(objects + "</ListBucketResult>", "it", "ETag", cancelled).error().code ==
              Code::request_cancelled));
  BOOST_TEST(
      (read_object_page(objects + "</ListBucketResult>", "it", "ETag", late).error().code == Code::deadline_exceeded));
}

BOOST_AUTO_TEST_SUITE_END()
