#include "plugin/report/inspect_formats.h"

#include <boost/test/unit_test.hpp>
#include <string>
#include <utility>
#include <vector>

#include "protocol/base/json.h"

using namespace modlock;

namespace {

struct Row {
  const char* name;
  messages::InspectedModule module;
  const char* record;  // the record in JSON
};

messages::InspectedModule call(std::string key, std::string source, std::string kind) {
  return {.key = std::move(key), .source = std::move(source), .source_kind = std::move(kind)};
}

messages::InspectedModule registry_call() {
  messages::InspectedModule module = call("a.vpc", "registry.terraform.io/example/vpc/aws//sub", "registry");
  module.locked = true;
  module.locked_version = "3.19.0";
  module.commit = "3952336a308fecd59c73fc1383239cca7d0dd397";
  return module;
}

messages::InspectedModule git_call() {
  messages::InspectedModule module = call("net", "git::https://example.test/net.git?ref=v1.0.0", "git");
  module.locked = true;
  module.locked_version = "1.0.0";
  module.commit = "3952336a308fecd59c73fc1383239cca7d0dd397";
  return module;
}

messages::InspectedModule oci_call() {
  messages::InspectedModule module = call("image", "oci://example.test/image", "oci");
  module.locked = true;
  module.digest = "sha256:0123";
  return module;
}

const std::vector<Row> kRows = {
    {"registry", registry_call(),
     R"({"commit":"3952336a308fecd59c73fc1383239cca7d0dd397","key":"vpc","locked":true,"lockedVersion":"3.19.0",)"
     R"("path":"a.vpc","source":"registry.terraform.io/example/vpc/aws//sub","sourceKind":"registry","version":"3.19.0"})"},
    {"git_has_no_version_in_modules_json", git_call(),
     R"({"commit":"3952336a308fecd59c73fc1383239cca7d0dd397","key":"net","locked":true,"lockedVersion":"1.0.0",)"
     R"("path":"net","source":"git::https://example.test/net.git?ref=v1.0.0","sourceKind":"git","version":""})"},
    {"oci", oci_call(),
     R"({"digest":"sha256:0123","key":"image","locked":true,"path":"image","source":"oci://example.test/image",)"
     R"("sourceKind":"oci","version":""})"},
    {"local", call("a", "./a", "local"),
     R"({"key":"a","locked":false,"path":"a","source":"./a","sourceKind":"local","version":""})"},
    {"not_locked", call("b", "registry.terraform.io/example/b/aws", "registry"),
     R"({"key":"b","locked":false,"path":"b","source":"registry.terraform.io/example/b/aws","sourceKind":"registry",)"
     R"("version":""})"},
    {"not_resolved",
     {.key = "c", .raw_source = "\"./${var.at}\""},
     R"({"key":"c","locked":false,"path":"c","source":"\"./${var.at}\"","version":""})"},
};

std::string document(const std::string& records) {
  return R"({"format_version":"1.0","modules":[)" + records + "]}";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(terraform_modules_format)

BOOST_AUTO_TEST_CASE(a_record_for_each_kind_of_call) {
  for (const Row& row : kRows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(write_json(terraform_modules({row.module})) == document(row.record));
    }
  }
}

BOOST_AUTO_TEST_CASE(modules_of_tests_are_left_out) {
  messages::InspectedModule of_tests = call("test.vpc.setup", "./setup", "local");
  of_tests.of_tests = true;
  BOOST_TEST(write_json(terraform_modules({of_tests})) == document(""));
}

BOOST_AUTO_TEST_SUITE_END()
