#include "plugin/update/configuration_edit.h"

#include <boost/test/unit_test.hpp>

#include "tests/plugin/config/evaluated_module.h"
#include "tests/plugin/resolve/plan_fixture.h"

namespace modlock::test {
namespace {

using Texts = std::map<std::string, std::string>;

// A root whose calls are of packages with the tags v1.0.0, v1.1.0 and v2.0.0.
struct Edited : PlanFixture {
  explicit Edited(const Texts& files) {
    for (const char* tag : {"v1.0.0", "v1.1.0", "v2.0.0", "net/v3.0.0"}) {
      source->add_tag(kVpc, tag, kLeaf);
    }
    auto oci = std::make_unique<FakeBackend>(SourceKind::oci);
    for (const char* tag : {"1.0.0", "2.0.0"}) {
      digest = oci->add_tag("oci://example.com/vpc?tag=1.0.0", tag, kLeaf);
    }
    backends.add(std::move(oci));
    for (const auto& [name, text] : files) {
      write(name, text);
    }
    const auto& root = request.walk.root;
    request.walk.settings = *load_settings(root, root, std::nullopt, {});
    Diagnostics ignored;
    values = read_variable_values(root, {}, {}, {root}, ignored).value();
    tree = walk_modules(request.walk, [](std::span<ModuleNode* const>) { return Result<void>(); }, {}).value();
  }
  // What the files become, and what has to be chosen, as "subject version".
  Result<Texts> update(const std::vector<RequestedUpdate>& updates, std::optional<UpdatePin> pin = {}) {
    const auto store = Store::open(directory.path() / "cache");
    const Context context;
    SourceFetcher fetcher(backends, *store, context);
    ConfigurationEditor editor(request.walk, tree, *values, fetcher, pin);
    for (const RequestedUpdate& wanted : updates) {
      if (auto done = editor.apply(wanted); !done) {
        return fail(done.error());
      }
    }
    auto files = editor.files();
    if (!files) {
      return fail(files.error());
    }
    Texts texts;
    for (const auto& [path, file] : *files) {
      BOOST_TEST(file.before == read_text(request.walk.root / path));
      texts.emplace(path, file.after);
    }
    chosen = editor.versions();
    return texts;
  }
  std::shared_ptr<const VariableValues> values;
  ModuleTree tree;
  std::map<std::string, Version, std::less<>> chosen;
  std::string digest;
};

RequestedUpdate to_version(const std::string& subject, const char* version) {
  return {.subject = subject, .new_version = *Version::parse(version)};
}

std::string commented_call(const std::string& source, const std::string& more = {}) {
  return "module \"a\" {\n  source = \"" + source + "\" # a comment\n" + more + "}\n";
}

BOOST_AUTO_TEST_SUITE(configuration_edit)

BOOST_AUTO_TEST_CASE(to_a_version) {
  struct Row {
    const char* name;
    Texts files;
    const char* version;
    Texts after;
    bool is_chosen;
    std::optional<UpdatePin> pin = {};
  };
  const std::string git = "git::https://example.com/vpc.git";
  const Row rows[] = {
      {"a tag",
       {{"main.tf", commented_call(git + "//x?ref=v1.0.0")}},
       "1.1.0",
       {{"main.tf", commented_call(git + "//x?ref=v1.1.0")}},
       false},
      {"a tag below tags",
       {{"main.tf", commented_call(git + "//x?ref=tags/v1.0.0")}},
       "1.1.0",
       {{"main.tf", commented_call(git + "//x?ref=tags/v1.1.0")}},
       false},
      {"a peeled tag by its full name",
       {{"main.tf", commented_call(git + "//x?ref=refs/tags/v1.0.0^{}")}},
       "1.1.0",
       {{"main.tf", commented_call(git + "//x?ref=refs/tags/v1.1.0")}},
       false},
      {"a tag of a monorepo",
       {{"main.tf", commented_call(git + "?ref=net/v1.0.0")}},
       "3.0.0",
       {{"main.tf", commented_call(git + "?ref=net/v3.0.0")}},
       false},
      {"the default branch",
       {{"main.tf", commented_call(git)}},
       "2.0.0",
       {{"main.tf", commented_call(git + "?ref=v2.0.0")}},
       false},
      {"a tag of OCI",
       {{"main.tf", commented_call("oci://example.com/vpc?tag=1.0.0")}},
       "2.0.0",
       {{"main.tf", commented_call("oci://example.com/vpc?tag=2.0.0")}},
       false},
      {"a constraint of a registry module",
       {{"main.tf", commented_call("ns/vpc/aws", "  version = \"~> 1.0\"\n")}},
       "2.1.0",
       {{"main.tf", commented_call("ns/vpc/aws", "  version = \"~> 2.1\"\n")}},
       true},
      {"a constraint that lets it in",
       {{"main.tf", commented_call("ns/vpc/aws", "  version = \">= 1.0\"\n")}},
       "2.1.0",
       {},
       true},
      {"a registry module without constraint", {{"main.tf", commented_call("ns/vpc/aws")}}, "2.1.0", {}, true},
      {"a rule of our settings",
       {{"main.tf", commented_call(git)}, {".tofu-modlock.hcl", "module \"a\" {\n  version = \"~> 1.0\" # x\n}\n"}},
       "2.0.0",
       {{".tofu-modlock.hcl", "module \"a\" {\n  version = \"~> 2.0\" # x\n}\n"}},
       true},
      {"a local value",
       {{"main.tf", commented_call(git + "?ref=${local.ref}")}, {"l.tf", "locals {\n  ref = \"v1.0.0\"\n}\n"}},
       "1.1.0",
       {{"l.tf", "locals {\n  ref = \"v1.1.0\"\n}\n"}},
       false},
      {"a version argument on git, which becomes a tag",
       {{"main.tf", commented_call(git, "  version = \"~> 1.0\"\n")}},
       "2.0.0",
       {{"main.tf", commented_call(git + "?ref=v2.0.0")}},
       false,
       UpdatePin::tag},
      {"and stays where nobody asks for that",
       {{"main.tf", commented_call(git, "  version = \"~> 1.0\"\n")}},
       "2.0.0",
       {{"main.tf", commented_call(git, "  version = \"~> 2.0\"\n")}},
       true},
      {"line ends and a mark at the start",
       {{"main.tf",
         "\xEF\xBB\xBF"
         "module \"a\" {\r\n  source = \"ns/vpc/aws\"\r\n  version=\"1.0.0\"\r\n}\r\n"}},
       "1.1.0",
       {{"main.tf",
         "\xEF\xBB\xBF"
         "module \"a\" {\r\n  source = \"ns/vpc/aws\"\r\n  version=\"1.1.0\"\r\n}\r\n"}},
       true},
      {"JSON",
       {{"main.tf.json", R"({"module": {"a": {"source": "ns/vpc/aws", "version": "~> 1.0"}}})"}},
       "2.0.0",
       {{"main.tf.json", R"({"module": {"a": {"source": "ns/vpc/aws", "version": "~> 2.0"}}})"}},
       true},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      Edited scene(row.files);
      const auto after = scene.update({to_version("module.a", row.version)}, row.pin);
      BOOST_REQUIRE_MESSAGE(after.has_value(), (after ? "" : after.error().message));
      BOOST_TEST((*after == row.after), (after->empty() ? "nothing changed" : after->begin()->second));
      BOOST_TEST(scene.chosen.contains("a") == row.is_chosen);
    }
  }
}

BOOST_AUTO_TEST_CASE(to_what_never_changes) {
  Edited scene({{"main.tf", commented_call("git::https://example.com/vpc.git?ref=v1.0.0")}});
  const std::string commit = scene.source->add_tag(kVpc, "v1.1.0", kLeaf);
  const auto after = scene.update({to_version("module.a", "1.1.0")}, UpdatePin::immutable);
  BOOST_REQUIRE_MESSAGE(after.has_value(), (after ? "" : after.error().message));
  BOOST_TEST(after->at("main.tf") == commented_call("git::https://example.com/vpc.git?ref=" + commit));

  Edited pinned_already({{"main.tf", commented_call("git::https://example.com/vpc.git?ref=" + commit)}});
  const std::string newer = pinned_already.source->add_tag(kVpc, "v1.3.0", kLeaf);
  const auto still = pinned_already.update({to_version("module.a", "1.3.0")});
  BOOST_REQUIRE_MESSAGE(still.has_value(), (still ? "" : still.error().message));
  BOOST_TEST(still->at("main.tf") == commented_call("git::https://example.com/vpc.git?ref=" + newer));

  Edited oci({{"main.tf", commented_call("oci://example.com/vpc?tag=1.0.0")}});
  const auto pinned = oci.update({to_version("module.a", "2.0.0")}, UpdatePin::immutable);
  BOOST_REQUIRE_MESSAGE(pinned.has_value(), (pinned ? "" : pinned.error().message));
  BOOST_TEST(pinned->at("main.tf") == commented_call("oci://example.com/vpc?digest=" + oci.digest));
}

BOOST_AUTO_TEST_CASE(to_a_constraint) {
  Edited scene({{"main.tf", commented_call("ns/vpc/aws", "  version = \"~> 1.0\"\n")}});
  const auto after = scene.update({{.subject = "module.a", .new_version = {}, .new_constraint = ">= 2.0, < 4.0"}});
  BOOST_REQUIRE_MESSAGE(after.has_value(), (after ? "" : after.error().message));
  BOOST_TEST(after->at("main.tf") == commented_call("ns/vpc/aws", "  version = \">= 2.0, < 4.0\"\n"));
  BOOST_TEST(scene.chosen.empty());
}

BOOST_AUTO_TEST_CASE(a_local_module_is_edited_where_it_is_called_from) {
  const std::string child = "variable \"ref\" {}\n" + commented_call("git::https://example.com/vpc.git?ref=${var.ref}");
  Edited scene(
      {{"main.tf", "module \"c\" {\n  source = \"./child\"\n  ref = \"v1.0.0\"\n}\n"}, {"child/main.tf", child}});
  const auto after = scene.update({to_version("module.c.a", "1.1.0")});
  BOOST_REQUIRE_MESSAGE(after.has_value(), (after ? "" : after.error().message));
  BOOST_TEST((*after == Texts{{"main.tf", "module \"c\" {\n  source = \"./child\"\n  ref = \"v1.1.0\"\n}\n"}}));
}

BOOST_AUTO_TEST_CASE(several_at_once) {
  const std::string git = "git::https://example.com/vpc.git?ref=${local.ref}";
  const std::string both = "module \"a\" {\n  source = \"" + git + "\"\n}\nmodule \"b\" {\n  source = \"" + git +
                           "\"\n}\nlocals {\n  ref = \"v1.0.0\"\n}\n";
  Edited scene({{"main.tf", both}});
  const auto after = scene.update({to_version("module.a", "1.1.0"), to_version("module.b", "1.1.0")});
  BOOST_REQUIRE_MESSAGE(after.has_value(), (after ? "" : after.error().message));
  BOOST_TEST(after->at("main.tf").find("ref = \"v1.1.0\"\n") != std::string::npos);

  const auto error = scene.update({to_version("module.a", "1.1.0"), to_version("module.b", "2.0.0")});
  BOOST_REQUIRE(!error.has_value());
  BOOST_TEST(error.error().message == "main.tf would have to contain both \"v1.1.0\" and \"v2.0.0\" in one place");
}

BOOST_AUTO_TEST_CASE(what_cannot_be) {
  struct Row {
    const char* name;
    Texts files;
    RequestedUpdate update;
    Code code;
    const char* message;
  };
  const std::string git = "git::https://example.com/vpc.git";
  const Row rows[] = {
      {"no such call",
       {{"main.tf", commented_call(git)}},
       to_version("module.x", "1.1.0"),
       Code::invalid_params,
       "\"module.x\" matches no module call or provider"},
      {"a local module",
       {{"main.tf", commented_call("./x")}, {"x/main.tf", ""}},
       to_version("module.a", "1.1.0"),
       Code::invalid_params,
       "module.a has no versions"},
      {"no such version",
       {{"main.tf", commented_call(git + "?ref=v1.0.0")}},
       to_version("module.a", "9.0.0"),
       Code::no_matching_version,
       "git::https://example.com/vpc.git has no version 9.0.0; the newest are 2.0.0, 1.1.0, 1.0.0"},
      {"a constraint where none can stand",
       {{"main.tf", commented_call(git + "?ref=v1.0.0")}},
       {.subject = "module.a", .new_version = {}, .new_constraint = "~> 1.0"},
       Code::invalid_params,
       "module.a has no version constraint that could be changed"},
      {"no constraint to replace",
       {{"main.tf", commented_call("ns/vpc/aws")}},
       {.subject = "module.a", .new_version = {}, .new_constraint = "~> 1.0"},
       Code::invalid_params,
       "module.a has no version constraint that could be changed"},
      {"no constraint",
       {{"main.tf", commented_call("ns/vpc/aws", "  version = \"1.0.0\"\n")}},
       {.subject = "module.a", .new_version = {}, .new_constraint = "newest"},
       Code::constraint_syntax,
       nullptr},
      {"kept out on purpose",
       {{"main.tf", commented_call("ns/vpc/aws", "  version = \"!= 1.1.0\"\n")}},
       to_version("module.a", "1.1.0"),
       Code::constraint_conflict,
       "the constraint \"!= 1.1.0\" excludes 1.1.0"},
      {"computed",
       {{"main.tf", commented_call(git + "?ref=${join(\"\", [\"v1\", \".0.0\"])}")}},
       to_version("module.a", "1.1.0"),
       Code::config_non_static,
       "the source of module.a should become \"v1.1.0\", and the text cannot be changed where it is written: it is "
       "computed in main.tf:2"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto after = Edited(row.files).update({row.update});
      BOOST_REQUIRE(!after.has_value());
      BOOST_TEST((after.error().code == row.code), after.error().message);
      if (row.message != nullptr) {
        BOOST_TEST(after.error().message == row.message);
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

// What main.tf (or another file) becomes; the error's message where nothing can be written.
std::string changed(const Texts& files, const char* version, const char* constraint, const std::string& name) {
  RequestedUpdate update{.subject = "provider.registry.opentofu.org/acme/cloud"};
  if (version != nullptr) {
    update.new_version = *Version::parse(version);
  }
  if (constraint != nullptr) {
    update.new_constraint = constraint;
  }
  const auto after = Edited(files).update({update});
  return !after ? after.error().message : after->count(name) != 0 ? after->at(name) : files.at(name);
}

std::string entry(const std::string& rest) {
  return "terraform {\n  required_providers {\n    cloud = {\n      source = \"acme/cloud\" # ours\n" + rest +
         "    }\n  }\n}\n";
}

std::string version_line(const std::string& constraint) {
  return "      version = \"" + constraint + "\" // why\n";
}

BOOST_AUTO_TEST_SUITE(provider_edit)

BOOST_AUTO_TEST_CASE(where_constraints_stand) {
  struct Row {
    const char* name;
    Texts files;
    const char* version;
    const char* constraint;
    std::string file;
    std::string after;
  };
  const std::string json = R"({"terraform": {"required_providers": {"cloud": {"source": "acme/cloud", "version": ")";
  const Row rows[] = {
      {"an entry",
       {{"main.tf", entry(version_line("~> 1.0"))}},
       "2.1.0",
       nullptr,
       "main.tf",
       entry(version_line("~> 2.1"))},
      {"an exact version, though another one would do",
       {{"main.tf", entry(version_line("1.0.0"))}},
       "1.0.1",
       nullptr,
       "main.tf",
       entry(version_line("1.0.1"))},
      {"allowed already",
       {{"main.tf", entry(version_line(">= 1.0"))}},
       "2.1.0",
       nullptr,
       "main.tf",
       entry(version_line(">= 1.0"))},
      {"no constraint, and a version", {{"main.tf", entry("")}}, "2.1.0", nullptr, "main.tf", entry("")},
      {"no constraint to replace",
       {{"main.tf", entry("")}},
       nullptr,
       "~> 2.0",
       "main.tf",
       "provider.registry.opentofu.org/acme/cloud has no version constraint that could be changed"},
      {"a new constraint",
       {{"main.tf", entry(version_line("~> 1.0"))}},
       nullptr,
       ">= 2.0, < 4.0",
       "main.tf",
       entry(version_line(">= 2.0, < 4.0"))},
      {"JSON", {{"main.tf.json", json + "~> 1.0\"}}}}"}}, "2.1.0", nullptr, "main.tf.json", json + "~> 2.1\"}}}}"},
      {"an override file, which replaces the entry",
       {{"main.tf", entry(version_line("~> 1.0"))}, {"x_override.tf", entry(version_line("1.2.0"))}},
       "2.1.0",
       nullptr,
       "x_override.tf",
       entry(version_line("2.1.0"))},
      {"a provider block",
       {{"main.tf", entry("") + "provider \"cloud\" {\n  version = \"~> 1.0\"\n}\n"}},
       "2.1.0",
       nullptr,
       "main.tf",
       entry("") + "provider \"cloud\" {\n  version = \"~> 2.1\"\n}\n"},
      {"line ends",
       {{"main.tf",
         "terraform {\r\n  required_providers {\r\n    cloud = { source = \"acme/cloud\", "
         "version=\"1.0.0\" }\r\n  }\r\n}\r\n"}},
       "2.1.0",
       nullptr,
       "main.tf",
       "terraform {\r\n  required_providers {\r\n    cloud = { source = \"acme/cloud\", version=\"2.1.0\" }\r\n  }\r\n"
       "}\r\n"},
      {"no plain text",
       {{"main.tf", entry("      version = (\"1.0.0\")\n")}},
       "2.1.0",
       nullptr,
       "main.tf",
       "the constraint of provider.registry.opentofu.org/acme/cloud should become \"2.1.0\", and main.tf:5 has no "
       "plain "
       "text"},
      {"kept out on purpose",
       {{"main.tf", entry(version_line("!= 2.1.0"))}},
       "2.1.0",
       nullptr,
       "main.tf",
       "the constraint \"!= 2.1.0\" excludes 2.1.0"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(changed(row.files, row.version, row.constraint, row.file) == row.after);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_new_constraint_is_for_the_root_where_it_has_one) {
  const std::string commented_call = "module \"net\" {\n  source = \"./net\"\n}\n";
  const Texts files = {{"main.tf", commented_call + entry(version_line("~> 1.0"))},
                       {"net/main.tf", entry(version_line(">= 1"))}};
  BOOST_TEST(changed(files, nullptr, "~> 2.0", "main.tf") == commented_call + entry(version_line("~> 2.0")));
  BOOST_TEST(changed(files, nullptr, "~> 2.0", "net/main.tf") == entry(version_line(">= 1")));
  const Texts below = {{"main.tf", commented_call}, {"net/main.tf", entry(version_line(">= 1"))}};
  BOOST_TEST(changed(below, nullptr, "~> 2.0", "net/main.tf") == entry(version_line("~> 2.0")));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::test
