#include "plugin/update/source_change.h"

#include <boost/test/unit_test.hpp>

namespace modlock {
namespace {

BOOST_AUTO_TEST_CASE(source_change) {
  struct Row {
    const char* name;
    const char* source;
    const char* argument;
    const char* value;
    const char* result;
  };
  constexpr Row kRows[] = {
      {"another tag", "git::https://a.test/b.git//c?ref=v1.0.0", "ref", "v1.1.0",
       "git::https://a.test/b.git//c?ref=v1.1.0"},
      {"among others", "git::https://a.test/b.git?depth=1&ref=v1&sshkey=x", "ref", "v2",
       "git::https://a.test/b.git?depth=1&ref=v2&sshkey=x"},
      {"of two the first counts", "git::https://a.test/b.git?ref=v1&ref=v0", "ref", "v2",
       "git::https://a.test/b.git?ref=v2&ref=v0"},
      {"the first one", "git::https://a.test/b.git", "ref", "v2", "git::https://a.test/b.git?ref=v2"},
      {"behind others", "git::https://a.test/b.git?depth=1", "ref", "v2", "git::https://a.test/b.git?depth=1&ref=v2"},
      {"an empty query", "git::https://a.test/b.git?", "ref", "v2", "git::https://a.test/b.git?ref=v2"},
      {"a name that ends alike", "git::https://a.test/b.git?xref=v1", "ref", "v2",
       "git::https://a.test/b.git?xref=v1&ref=v2"},
      {"without value", "git::https://a.test/b.git?ref", "ref", "v2", "git::https://a.test/b.git?ref=v2"},
      {"a tag by its digest", "oci://a.test/b?tag=1.0.0", "digest", "sha256:00ff", "oci://a.test/b?digest=sha256:00ff"},
      {"metadata is no blank", "git::https://a.test/b.git?ref=v1", "ref", "v1.0.0+b&c",
       "git::https://a.test/b.git?ref=v1.0.0%2Bb%26c"},
      {"a tag of a monorepo", "git::https://a.test/b.git?ref=x", "ref", "nested/v1.0.0",
       "git::https://a.test/b.git?ref=nested/v1.0.0"},
  };
  for (const Row& row : kRows) {
    BOOST_TEST_CONTEXT(row.name) {
      const Splice splice = set_query_argument(row.source, {"ref", "tag", "digest"}, row.argument, row.value);
      BOOST_TEST(splice.apply(row.source) == row.result);
    }
  }
}

}  // namespace
}  // namespace modlock
