#include "plugin/update/provider_edit.h"

#include <boost/test/unit_test.hpp>

#include "tests/plugin/resolve/plan_fixture.h"

namespace modlock::test {
namespace {

using Files = std::map<std::string, std::string>;

// What main.tf (or another file) becomes; the error's message where nothing can be written.
std::string changed(const Files& files, const char* version, const char* constraint, const std::string& name) {
  PlanFixture fixture;
  for (const auto& [path, text] : files) {
    fixture.write(path, text);
  }
  const auto tree = walk_modules(fixture.request.walk, [](std::span<ModuleNode* const>) { return Result<void>(); }, {});
  ProviderUpdate update{.address = *ProviderAddress::parse("acme/cloud", "registry.opentofu.org")};
  if (version != nullptr) {
    update.new_version = *Version::parse(version);
  }
  if (constraint != nullptr) {
    update.new_constraint = constraint;
  }
  const auto splices = change_provider_constraints(*tree, update, [](const std::string&) { return std::string(); });
  if (!splices) {
    return splices.error().message;
  }
  std::string text = files.at(name);
  for (auto splice = splices->rbegin(); splice != splices->rend(); ++splice) {
    if (splice->path == name) {
      text.replace(splice->start, splice->end - splice->start, splice->text);
    }
  }
  return text;
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
    Files files;
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
       "the constraint \"!= 2.1.0\" keeps 2.1.0 out"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(changed(row.files, row.version, row.constraint, row.file) == row.after);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_new_constraint_is_for_the_root_where_it_has_one) {
  const std::string call = "module \"net\" {\n  source = \"./net\"\n}\n";
  const Files files = {{"main.tf", call + entry(version_line("~> 1.0"))}, {"net/main.tf", entry(version_line(">= 1"))}};
  BOOST_TEST(changed(files, nullptr, "~> 2.0", "main.tf") == call + entry(version_line("~> 2.0")));
  BOOST_TEST(changed(files, nullptr, "~> 2.0", "net/main.tf") == entry(version_line(">= 1")));
  const Files below = {{"main.tf", call}, {"net/main.tf", entry(version_line(">= 1"))}};
  BOOST_TEST(changed(below, nullptr, "~> 2.0", "net/main.tf") == entry(version_line("~> 2.0")));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::test
