#include "plugin/config/config_schema.h"

#include <boost/test/unit_test.hpp>

#include "tests/plugin/config/structure_rows.h"

using namespace modlock;
using namespace modlock::test;

BOOST_AUTO_TEST_SUITE(structure)

BOOST_AUTO_TEST_CASE(file_level) {
  const StructureRow rows[] = {
      {"empty block", {{"main.tf", "resource \"a_b\" \"c\" {}\n"}}, ""},
      {"unknown block",
       {{"main.tf", "resorce \"a_b\" \"c\" {}\n"}},
       "error main.tf:1:1 `resorce`: Unsupported block type: a configuration file has no blocks of type \"resorce\""},
      {"unknown attr",
       {{"main.tf", "x = 1\n"}},
       "error main.tf:1:1 `x`: Unsupported argument: a configuration file has no argument \"x\""},
      {"missing label",
       {{"main.tf", "variable {}\n"}},
       "error main.tf:1:1 `variable`: Missing name for variable: a variable block has 1 label (name), found none"},
      {"extra label",
       {{"main.tf", "output \"a\" \"b\" {\n value=1\n}\n"}},
       "error main.tf:1:12 `\"b\"`: Extraneous label for output: an output block has 1 label (name)"},
      {"nolabels extra",
       {{"main.tf", "locals \"x\" {}\n"}},
       "error main.tf:1:8 `\"x\"`: Extraneous label for locals: a locals block has no labels"},
      {"toplevel rp",
       {{"main.tf", "required_providers {}\n"}},
       "error main.tf:1:1 `required_providers`: Invalid required_providers block: a required_providers block must be "
       "nested inside a terraform block"},
      {"locals block",
       {{"main.tf", "locals {\n foo {}\n}\n"}},
       "error main.tf:2:2 `foo`: Unexpected \"foo\" block: blocks are not allowed in a locals block"},
      {"language unknown",
       {{"main.tofu", "language {\n foo=1\n}\n"}},
       "error main.tofu:2:2 `foo`: Unsupported argument: a language block has no argument \"foo\""},
      {"language label",
       {{"main.tofu", "language \"x\" {}\n"}},
       "error main.tofu:1:10 `\"x\"`: Extraneous label for language: a language block has no labels"},
      {"language ok", {{"main.tofu", "language {\n edition=tofu2024\n}\n"}}, ""},
      {"j unknown",
       {{"main.tf.json", "{\"foo\":{}}"}},
       "error main.tf.json:1:2 `\"foo\"`: Unsupported argument: a configuration file has no argument \"foo\""},
      {"j locals",
       {{"main.tf.json", "{\"locals\":{\"1x\":1}}"}},
       "error main.tf.json:1:12 `\"1x\"`: Invalid local value name: a name must start with a letter or underscore and "
       "may contain only letters, digits, underscores and dashes"},
      {"j comment", {{"main.tf.json", "{\"//\":\"x\",\"resource\":{\"a_b\":{\"c\":{\"//\":\"y\"}}}}"}}, ""},
  };
  check_rows(rows);
}

BOOST_AUTO_TEST_CASE(settings) {
  const StructureRow rows[] = {
      {"tf unknown",
       {{"main.tf", "terraform {\nfoo = 1\n}\n"}},
       "error main.tf:2:1 `foo`: Unsupported argument: a terraform block has no argument \"foo\""},
      {"tf unknown block",
       {{"main.tf", "terraform {\nfoo {}\n}\n"}},
       "error main.tf:2:1 `foo`: Unsupported block type: a terraform block has no blocks of type \"foo\""},
      {"tf lang", {{"main.tf", "terraform {\nlanguage = TF2021\nexperiments = []\n}\n"}}, ""},
      {"tf backend dup",
       {{"main.tf", "terraform {\nbackend \"local\" {}\nbackend \"local\" {}\n}\n"}},
       "error main.tf:3:1 `backend \"local\"`: Duplicate backend configuration: a backend block was already declared"},
      {"tf backend nolabel",
       {{"main.tf", "terraform {\nbackend {}\n}\n"}},
       "error main.tf:2:1 `backend`: Missing type for backend: a backend block has 1 label (type), found none"},
      {"tf both",
       {{"main.tf",
         "terraform {\nbackend \"local\" {}\ncloud {\n organization=\"x\"\n workspaces {\n name=\"x\"\n}\n}\n}\n"}},
       "error main.tf:3:1 `cloud`: Both a backend and a cloud configuration are present: a module may have one of the "
       "two"},
      {"tf cloud dup",
       {{"main.tf", "terraform {\ncloud {\n organization=\"x\"\n}\ncloud {\n organization=\"x\"\n}\n}\n"}},
       "error main.tf:5:1 `cloud`: Duplicate cloud configuration: a cloud block was already declared"},
      {"tf rp block",
       {{"main.tf", "terraform {\nrequired_providers {\n foo {}\n}\n}\n"}},
       "error main.tf:3:2 `foo`: Unexpected \"foo\" block: blocks are not allowed in a required_providers block"},
      {"tf enc",
       {{"main.tf",
         "terraform {\nencryption {\n key_provider \"pbkdf2\" \"a\" {\n passphrase=\"aaaaaaaaaaaaaaaaaaaaaaa\"\n}\n "
         "method \"aes_gcm\" \"b\" {\n keys=key_provider.pbkdf2.a\n}\n state {\n method=method.aes_gcm.b\n}\n}\n}\n"}},
       ""},
      {"tf enc dup",
       {{"main.tf", "terraform {\nencryption {}\nencryption {}\n}\n"}},
       "error main.tf:3:1 `encryption`: Duplicate encryption configuration: an encryption block was already declared"},
      {"tf enc bad",
       {{"main.tf", "terraform {\nencryption {\n foo=1\n}\n}\n"}},
       "error main.tf:3:2 `foo`: Unsupported argument: an encryption block has no argument \"foo\""},
      {"tf enc badblock",
       {{"main.tf", "terraform {\nencryption {\n state {\n foo=1\n}\n}\n}\n"}},
       "error main.tf:4:2 `foo`: Unsupported argument: a state block has no argument \"foo\""},
      {"tf enc twostate",
       {{"main.tf", "terraform {\nencryption {\n state {}\n state {}\n}\n}\n"}},
       "error main.tf:4:2 `state`: Duplicate state block: an encryption block can have only one such block"},
      {"prov meta ok",
       {{"main.tf", "terraform {\nprovider_meta \"a\" {\n x=\"y\"\n}\n}\nresource \"a_b\" \"c\" {}\n"}},
       ""},
      {"prov meta var",
       {{"main.tf", "terraform {\nprovider_meta \"a\" {\n x=var.y\n}\n}\n"}},
       "error main.tf:3:4 `var.y`: Variables not allowed: x must be a value that is written out"},
      {"prov meta dup",
       {{"main.tf", "terraform {\nprovider_meta \"a\" {\n x=\"y\"\n}\nprovider_meta \"a\" {\n x=\"y\"\n}\n}\n"}},
       "error main.tf:5:1 `provider_meta \"a\"`: Duplicate provider_meta block: provider_meta \"a\" was already "
       "declared"},
      {"prov meta name",
       {{"main.tf", "terraform {\nprovider_meta \"A\" {\n x=\"y\"\n}\n}\n"}},
       "error main.tf:2:1 `provider_meta \"A\"`: Invalid provider local name: \"A\" is not in its normal form"},
      {"j meta", {{"main.tf.json", "{\"terraform\":{\"provider_meta\":{\"a\":{\"x\":\"${var.y}\"}}}}"}}, ""},
      {"j backend", {{"main.tf.json", "{\"terraform\":{\"backend\":{\"local\":{\"path\":\"x\"}}}}"}}, ""},
  };
  check_rows(rows);
}

BOOST_AUTO_TEST_CASE(provider_blocks) {
  const StructureRow rows[] = {
      {"prov dup",
       {{"main.tf", "provider \"a\" {}\nprovider \"a\" {}\n"}},
       "error main.tf:2:1 `provider \"a\"`: Duplicate provider configuration: the default provider configuration \"a\" "
       "was already declared"},
      {"prov dup alias",
       {{"main.tf", "provider \"a\" {\n alias=\"x\"\n}\nprovider \"a\" {\n alias=\"x\"\n}\n"}},
       "error main.tf:4:1 `provider \"a\"`: Duplicate provider configuration: the provider configuration \"a\" with "
       "the alias \"x\" was already declared"},
      {"prov alias bad",
       {{"main.tf", "provider \"a\" {\n alias=\"1x\"\n}\n"}},
       "error main.tf:2:8 `\"1x\"`: Invalid provider configuration alias: \"1x\" is no name"},
      {"prov alias var",
       {{"main.tf", "provider \"a\" {\n alias=var.x\n}\n"}},
       "error main.tf:2:8 `var.x`: Unsuitable value: alias must be a string that is written out, found an expression"},
      {"prov foreach",
       {{"main.tf", "provider \"a\" {\n for_each={}\n}\n"}},
       "error main.tf:2:11 `{}`: Alias required when using \"for_each\": it is allowed only in provider blocks with an "
       "alias"},
      {"prov foreach alias", {{"main.tf", "provider \"a\" {\n alias=\"x\"\n for_each={}\n}\n"}}, ""},
      {"prov count",
       {{"main.tf", "provider \"a\" {\n count=1\n}\n"}},
       "error main.tf:2:2 `count`: Reserved argument name in provider block: \"count\" is reserved for a future "
       "version of OpenTofu"},
      {"prov source",
       {{"main.tf", "provider \"a\" {\n source=\"x\"\n}\n"}},
       "error main.tf:2:2 `source`: Reserved argument name in provider block: \"source\" is reserved for a future "
       "version of OpenTofu"},
      {"prov lifecycle",
       {{"main.tf", "provider \"a\" {\n lifecycle {}\n}\n"}},
       "error main.tf:2:2 `lifecycle`: Reserved block type name in a provider block: \"lifecycle\" is reserved for a "
       "future version of OpenTofu"},
      {"prov escape2",
       {{"main.tf", "provider \"a\" {\n _ {}\n _ {}\n}\n"}},
       "error main.tf:3:2 `_`: Duplicate escaping block: a provider block can have only one such block"},
  };
  check_rows(rows);
}

BOOST_AUTO_TEST_SUITE_END()
