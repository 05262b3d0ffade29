#include "plugin/config/state_providers.h"

#include <boost/test/unit_test.hpp>

#include "tests/plugin/config/check_error.h"
#include "tests/plugin/config/config_texts.h"

using namespace modlock;
using namespace modlock::test;

BOOST_AUTO_TEST_SUITE(state_providers)

namespace {

constexpr const char* kRoot = "/no/such/root";

Result<StateProviders> read(const Texts& texts, const StateStorage& storage = {}, const std::string& workspace = "",
                            ClientKind tool = ClientKind::opentofu, const std::vector<ProviderAddress>& required = {}) {
  Documents documents;
  for (const auto& [name, text] : texts) {
    documents.emplace(std::string(kRoot) + "/" + name, text);
  }
  return read_state_providers(kRoot, storage, std::string(kRoot) + "/.terraform", workspace, tool, required, documents,
                              {kRoot});
}

std::string resource(std::string_view provider, std::string_view more = "") {
  return fmt::format(R"({{"mode":"managed","type":"t","name":"n",{}"provider":"{}","instances":[]}})", more, provider);
}

std::string state(std::string_view resources) {
  return fmt::format(R"({{"version":4,"terraform_version":"1.9.0","serial":1,"lineage":"x","resources":[{}]}})",
                     resources);
}

// "address by; …"
std::string summary(const StateProviders& state) {
  std::string text;
  for (const ProviderRequirement& provider : state.providers) {
    BOOST_TEST((provider.origin == ProviderRequirement::DeclaredBy::state));
    text += fmt::format("{}{} {} {}", text.empty() ? "" : "; ", provider.address.to_string(), provider.by,
                        to_string(provider.location));
  }
  return text;
}

}  // namespace

BOOST_AUTO_TEST_CASE(addresses) {
  struct Row {
    const char* name;
    std::string resources;
    std::string_view providers;
  };
  const std::string name = "terraform.tfstate";
  const Row rows[] = {
      {"no resources", "", ""},
      {"full address", resource(R"(provider[\"registry.opentofu.org/hashicorp/aws\"])"),
       "registry.opentofu.org/hashicorp/aws t.n terraform.tfstate"},
      {"alias", resource(R"(provider[\"registry.opentofu.org/hashicorp/aws\"].west)"),
       "registry.opentofu.org/hashicorp/aws t.n terraform.tfstate"},
      {"in a module",
       resource(R"(module.a.module.b.provider[\"example.com/a/b\"])", R"("module":"module.a.module.b",)"),
       "example.com/a/b module.a.module.b.t.n terraform.tfstate"},
      {"Terraform's registry is translated", resource(R"(provider[\"registry.terraform.io/x/y\"])"),
       "registry.opentofu.org/x/y t.n terraform.tfstate"},
      {"built-in provider of Terraform 0.12", resource("provider.terraform"),
       "terraform.io/builtin/terraform t.n terraform.tfstate"},
      {"data source", R"({"mode":"data","type":"t","name":"n","provider":"provider[\"a/b\"]","instances":[]})",
       "registry.opentofu.org/a/b data.t.n terraform.tfstate"},
      {"providers of instances",
       R"({"mode":"managed","type":"t","name":"n","instances":[{"provider":"provider[\"a/b\"].x[\"k\"]"},)"
       R"({"provider":"provider[\"a/c\"].x[\"l\"]"}]})",
       "registry.opentofu.org/a/b t.n terraform.tfstate; registry.opentofu.org/a/c t.n terraform.tfstate"},
      {"no instances and no provider", R"({"mode":"managed","type":"t","name":"n","instances":[]})", ""},
      {"each once, sorted",
       resource(R"(provider[\"z/z\"])") + "," + resource(R"(provider[\"a/a\"])") + "," +
           resource(R"(provider[\"z/z\"].x)"),
       "registry.opentofu.org/a/a t.n terraform.tfstate; registry.opentofu.org/z/z t.n terraform.tfstate"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto providers = read({{name, state(row.resources)}});
      BOOST_TEST_REQUIRE(providers.has_value());
      BOOST_TEST(summary(*providers) == row.providers);
      BOOST_TEST(providers->unreadable == "");
      BOOST_TEST(providers->diagnostics.empty());
    }
  }
}

BOOST_AUTO_TEST_CASE(translation) {
  const Texts texts = {{"terraform.tfstate", state(resource(R"(provider[\"registry.terraform.io/x/y\"])"))}};
  const auto required = ProviderAddress::parse("registry.terraform.io/x/y", kOpenTofuRegistry);
  BOOST_TEST(summary(read(texts, {}, "", ClientKind::opentofu, {*required}).value()) ==
             "registry.terraform.io/x/y t.n terraform.tfstate");
  BOOST_TEST(summary(read(texts, {}, "", ClientKind::terraform).value()) ==
             "registry.terraform.io/x/y t.n terraform.tfstate");
}

BOOST_AUTO_TEST_CASE(legacy_address) {
  const auto providers = read({{"terraform.tfstate", state(resource("provider.aws.west"))}});
  BOOST_TEST_REQUIRE(providers.has_value());
  BOOST_TEST(describe(providers->diagnostics, {}) ==
             "error terraform.tfstate ``: Invalid legacy provider address: the state of t.n names the provider \"aws\" "
             "without a namespace");
  BOOST_TEST(providers->providers.front().address.is_legacy());
}

BOOST_AUTO_TEST_CASE(places) {
  struct Row {
    const char* name;
    StateStorage storage;
    std::string workspace;
    const char* file;
    std::string record = {};
  };
  const Row rows[] = {
      {"default", {}, "default", "terraform.tfstate"},
      {"workspace", {}, "prod", "terraform.tfstate.d/prod/terraform.tfstate"},
      {"path", {.path = "states/x.json"}, "", "states/x.json"},
      {"path counts for the default workspace only",
       {.path = "x.json"},
       "w",
       "terraform.tfstate.d/w/terraform.tfstate"},
      {"workspace_dir", {.workspace_dir = "ws"}, "w", "ws/w/terraform.tfstate"},
      {"path out of the record", {}, "", "y.json", R"({"backend":{"type":"local","config":{"path":"y.json"}}})"},
      {"the configuration counts more",
       {.path = "x.json"},
       "",
       "x.json",
       R"({"backend":{"type":"local","config":{"path":"y.json","workspace_dir":null}}})"},
      {"path by an expression",
       {.written_out = false},
       "",
       "y.json",
       R"({"backend":{"type":"local","config":{"path":"y.json","workspace_dir":null}}})"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      Texts texts = {{row.file, state(resource(R"(provider[\"a/b\"])"))}};
      if (!row.record.empty()) {
        texts.emplace_back(".terraform/terraform.tfstate", row.record);
      }
      const auto providers = read(texts, row.storage, row.workspace);
      BOOST_TEST_REQUIRE(providers.has_value());
      BOOST_TEST(summary(*providers) == fmt::format("registry.opentofu.org/a/b t.n {}", row.file));
    }
  }
}

BOOST_AUTO_TEST_CASE(nothing_to_read) {
  for (const Texts& texts : {Texts{}, Texts{{"terraform.tfstate", ""}}}) {
    const auto providers = read(texts);
    BOOST_TEST_REQUIRE(providers.has_value());
    BOOST_TEST(summary(*providers) == "");
    BOOST_TEST(providers->unreadable == "");
  }
}

BOOST_AUTO_TEST_CASE(unreadable) {
  struct Row {
    const char* name;
    Texts texts;
    StateStorage storage;
    std::string_view reason;
  };
  const Row rows[] = {
      {"encrypted",
       {{"terraform.tfstate",
         R"({"serial":1,"lineage":"x","meta":{},"encrypted_data":"AA==","encryption_version":"v0"})"}},
       {},
       "the state file \"terraform.tfstate\" is encrypted"},
      {"other backend", {}, {.backend = "s3"}, "the state is kept by the backend \"s3\""},
      {"cloud", {}, {.backend = "cloud"}, "the state is kept by the service that the cloud block names"},
      {"recorded backend",
       {{".terraform/terraform.tfstate", R"({"version":3,"backend":{"type":"gcs","config":{}}})"}},
       {},
       "the state is still kept by the backend \"gcs\", which the last \"init\" used"},
      {"path by an expression",
       {},
       {.written_out = false},
       "the location of the state is an expression, and no \"init\" recorded its value"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto providers = read(row.texts, row.storage);
      BOOST_TEST_REQUIRE(providers.has_value());
      BOOST_TEST(providers->unreadable == row.reason);
      BOOST_TEST(providers->providers.empty());
    }
  }
}

BOOST_AUTO_TEST_CASE(errors) {
  struct Row {
    const char* name;
    std::string text;
    std::string_view reason;
  };
  const Row rows[] = {
      {"no version", "{}", "expected the format version 4, found none"},
      {"version 0", R"({"version":0})", "expected the format version 4, found 0"},
      {"a newer version", R"({"version":5})", "expected the format version 4, found 5"},
      {"version is a string", R"({"version":"4"})", "expected the format version 4, found \"4\""},
      {"an array", "[]", "expected the format version 4, found none"},
      {"resources are no array", R"({"version":4,"resources":{}})", "\"resources\" is not an array"},
      {"a resource is no object", state("1"), "a resource has the invalid mode \"\""},
      {"mode", state(R"({"mode":"ephemeral"})"), "a resource has the invalid mode \"ephemeral\""},
      {"instances are no array", state(R"({"mode":"managed","type":"t","name":"n","instances":1})"),
       "the instances of t.n are not an array"},
      {"instance without provider", state(R"({"mode":"managed","type":"t","name":"n","instances":[{}]})"),
       "t.n names no provider"},
      {"address", state(resource("aws")),
       "t.n has an invalid provider address: expected provider[\"host/namespace/type\"], found \"aws\""},
      {"module with a key", state(resource("module.a[0].provider.aws")),
       "t.n has an invalid provider address: expected provider[\"host/namespace/type\"], found "
       "\"module.a[0].provider.aws\""},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto providers = read({{"terraform.tfstate", row.text}});
      BOOST_TEST_REQUIRE(!providers.has_value());
      const std::string message = fmt::format("the state file \"terraform.tfstate\" cannot be used: {}", row.reason);
      check_error(providers.error(), {Code::config_parse, message, "terraform.tfstate"});
    }
  }
}

BOOST_AUTO_TEST_CASE(formats_1_to_3_are_not_read) {
  for (const int format : {1, 2, 3}) {
    const auto found = read({{"terraform.tfstate", fmt::format(R"({{"version":{},"modules":[]}})", format)}});
    BOOST_TEST_REQUIRE(found.has_value());
    BOOST_TEST(found->providers.empty());
    BOOST_TEST(
        found->unreadable ==
        fmt::format("the state file \"terraform.tfstate\" has the format {} of Terraform 0.11 or older", format));
  }
}

BOOST_AUTO_TEST_CASE(nothing_out_of_the_bounds_is_read) {
  struct Row {
    const char* name;
    StateStorage storage;
    const char* workspace;
    const char* file;
  };
  const Row rows[] = {
      {"path above", {.path = "../state"}, "", "../state"},
      {"absolute path", {.path = "/etc/passwd"}, "", "../../../etc/passwd"},
      {"directory of workspaces", {.workspace_dir = "/w"}, "dev", "../../../w/dev/terraform.tfstate"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto providers = read({{row.file, "no state"}}, row.storage, row.workspace);
      BOOST_TEST_REQUIRE(providers.has_value());
      BOOST_TEST(providers->unreadable ==
                 fmt::format("the state file \"{}\" is outside of the directories that may be read", row.file));
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
