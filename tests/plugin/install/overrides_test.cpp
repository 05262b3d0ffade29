#include "plugin/install/overrides.h"

#include <boost/test/unit_test.hpp>

#include "backends/base/files.h"
#include "tests/plugin/resolve/plan_fixture.h"

using namespace modlock;
using namespace modlock::test;

namespace {

namespace fs = std::filesystem;

constexpr const char* kOurs = "modlock_override.tf";

std::string versioned_call(const std::string& name, const std::string& source, const std::string& version = "1.0.0") {
  return "module \"" + name + "\" {\n  source  = \"" + source + "\"\n  version = \"" + version + "\"\n}\n";
}

std::string local(const std::string& name, const std::string& path) {
  return "module \"" + name + "\" {\n  source = \"" + path + "\"\n}\n";
}

struct OverrideFixture : PlanFixture {
  OverrideFixture() {
    one = source->add_tag(kVpc, "v1.0.0", kLeaf, "1111111111111111111111111111111111111111");
    two = source->add_tag(kVpc, "v2.0.0", kLeaf, "2222222222222222222222222222222222222222");
  }
  fs::path root() const { return request.walk.root; }
  bool has(const std::string& name) const { return fs::exists(fs::symlink_status(root() / name)); }
  std::string read(const std::string& name) const { return read_file(root() / name).value_or("<none>"); }

  Result<OverridePlan> settle(OverrideMode mode) {
    planned = lock();
    return plan_overrides({.tree = planned.tree,
                           .locks = planned.modules,
                           .root = request.walk.root,
                           .bounds = request.walk.bounds,
                           .mode = mode});
  }
  OverridePlan apply(OverrideMode mode) {
    auto settled = settle(mode);
    BOOST_REQUIRE_MESSAGE(settled.has_value(), (settled ? std::string() : settled.error().message));
    BOOST_REQUIRE(apply_overrides(*settled).has_value());
    return std::move(*settled);
  }
  void check_refused(OverrideMode mode, const std::string& code, const std::string& message) {
    const auto settled = settle(mode);
    BOOST_REQUIRE(!settled);
    BOOST_TEST(to_string(settled.error().code) == code);
    BOOST_TEST(settled.error().message == message);
  }

  std::string one;
  std::string two;
  Plan planned;
};

std::string file_of(const std::string& name, const std::string& source) {
  return std::string(kOverrideMarker) + "\n\nmodule \"" + name + "\" {\n  source  = \"" + source +
         "\"\n  version = null\n}\n";
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(overrides, OverrideFixture)

BOOST_AUTO_TEST_CASE(overrides_are_written_beside_calls_of_the_root_and_of_local_modules) {
  request.resolution = Resolution::per_call;
  write("net/main.tf", versioned_call("inner", kVpc, "2.0.0"));
  source->add_tag(kVpc, "v1.0.0", {{"sub/main.tf", ""}}, one);
  write("main.tf", versioned_call("vpc", std::string(kVpc) + "//sub") + local("net", "./net"));
  const OverridePlan written = apply(OverrideMode::write);
  const std::string pinned = "git::https://example.com/vpc.git//sub?ref=" + one;
  BOOST_TEST(read(kOurs) == file_of("vpc", pinned));
  BOOST_TEST(read("net/modlock_override.tf") == file_of("inner", std::string(kVpc) + "?ref=" + two));
  BOOST_TEST(written.sources.size() == 2U);
  BOOST_TEST(written.sources.at("vpc") == pinned);
  BOOST_TEST(apply(OverrideMode::write).writes.empty());
  const OverridePlan left = apply(OverrideMode::leave);
  BOOST_TEST(left.writes.empty());
  BOOST_TEST(left.sources.at("net.inner") == std::string(kVpc) + "?ref=" + two);
  BOOST_TEST(apply(OverrideMode::remove).sources.empty());
  BOOST_TEST(!has(kOurs));
  BOOST_TEST(!has("net/modlock_override.tf"));
}

BOOST_AUTO_TEST_CASE(an_oci_source_is_pinned_by_its_digest) {
  auto oci = std::make_unique<FakeBackend>(SourceKind::oci);
  const std::string digest = oci->add_tag("oci://example.com/acme/vpc", "1.0.0", {{"sub/main.tf", ""}});
  backends.add(std::move(oci));
  write("main.tf", versioned_call("vpc", "oci://example.com/acme/vpc//sub"));
  apply(OverrideMode::write);
  BOOST_TEST(digest.starts_with("sha256:"), digest);
  BOOST_TEST(read(kOurs) == file_of("vpc", "oci://example.com/acme/vpc//sub?digest=" + digest));
}

BOOST_AUTO_TEST_CASE(overrides_are_for_calls_with_a_version_alone) {
  write("main.tf", local("plain", std::string(kVpc) + "?ref=v1.0.0"));
  BOOST_TEST(apply(OverrideMode::write).writes.empty());
  write("main.tf", versioned_call("vpc", kVpc));
  apply(OverrideMode::write);
  BOOST_TEST(has(kOurs));
  write("main.tf", local("vpc", std::string(kVpc) + "?ref=v1.0.0"));
  apply(OverrideMode::write);
  BOOST_TEST(!has(kOurs));
}

BOOST_AUTO_TEST_CASE(no_secret_of_an_address_gets_into_an_override) {
  write("main.tf", versioned_call("vpc", "git::https://user:secret@example.com/vpc.git?sshkey=c2VjcmV0"));
  apply(OverrideMode::write);
  BOOST_TEST(read(kOurs) == file_of("vpc", std::string(kVpc) + "?ref=" + one));
}

BOOST_AUTO_TEST_CASE(a_template_in_an_address_stays_text) {
  source->add_tag(kVpc, "v1.0.0", {{"${x}/main.tf", ""}}, one);
  write("main.tf", versioned_call("vpc", std::string(kVpc) + "//$${x}"));
  apply(OverrideMode::write);
  BOOST_TEST(read(kOurs) == file_of("vpc", std::string(kVpc) + "//$${x}?ref=" + one));
}

BOOST_AUTO_TEST_CASE(calls_of_packages_keep_what_they_say) {
  source->add_tag(kNested, "v1.0.0", {{"main.tf", versioned_call("inner", kVpc)}});
  write("main.tf", versioned_call("nested", kNested));
  const OverridePlan written = apply(OverrideMode::write);
  BOOST_TEST(written.sources.size() == 1U);
  BOOST_TEST(written.sources.count("nested") == 1U);
}

BOOST_AUTO_TEST_CASE(one_block_cannot_have_two_pins) {
  const std::string variable = "variable \"wanted\" {\n  type = string\n}\n";
  write("main.tf",
        "module \"a\" {\n  source = \"./net\"\n  wanted = \"1.0.0\"\n}\n"
        "module \"b\" {\n  source = \"./net\"\n  wanted = \"2.0.0\"\n}\n");
  write("net/main.tf",
        variable + "module \"vpc\" {\n  source = \"" + std::string(kVpc) + "\"\n  version = var.wanted\n}\n");
  request.resolution = Resolution::per_call;
  check_refused(OverrideMode::write, "CONSTRAINT_CONFLICT",
                "module \"a.vpc\" and module \"b.vpc\" are one block and are locked to different packages, so no "
                "override file can serve both");
  const auto left = settle(OverrideMode::leave);
  BOOST_TEST(left.has_value());
  BOOST_TEST(settle(OverrideMode::write).error().hint.text().find("update/plan") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(calls_of_one_block_share_a_pin) {
  write("main.tf", local("a", "./net") + local("b", "./net"));
  write("net/main.tf", versioned_call("vpc", kVpc));
  const OverridePlan written = apply(OverrideMode::write);
  BOOST_TEST(written.writes.size() == 1U);
  BOOST_TEST(written.sources.size() == 2U);
}

BOOST_AUTO_TEST_CASE(a_later_override_of_the_user_is_an_error) {
  struct Row {
    const char* name;
    const char* file;
    const char* argument;
    const char* value;
    bool refused;
  };
  for (const Row& row : {Row{"version, later", "override.tf", "version", "\"1.0.0\"", true},
                         Row{"source, later", "z_override.tf", "source", "\"git::https://example.com/vpc.git\"", true},
                         Row{"version, earlier", "a_override.tf", "version", "\"1.0.0\"", false},
                         Row{"count, later", "override.tf", "count", "1", false}}) {
    BOOST_TEST_CONTEXT(row.name) {
      write("main.tf", versioned_call("vpc", kVpc));
      write(row.file, std::string("module \"vpc\" {\n  ") + row.argument + " = " + row.value + "\n}\n");
      if (row.refused) {
        check_refused(OverrideMode::write, "CONFIG_PARSE",
                      std::string(row.file) + " sets the " + row.argument +
                          " of module \"vpc\" and is merged after "
                          "modlock_override.tf");
      } else {
        apply(OverrideMode::write);
        BOOST_TEST(has(kOurs));
      }
      fs::remove(root() / row.file);
      fs::remove(root() / kOurs);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_file_of_another_hand_is_never_overwritten) {
  write("main.tf", versioned_call("vpc", kVpc));
  write(kOurs, "# mine\n");
  for (const OverrideMode mode : {OverrideMode::leave, OverrideMode::write, OverrideMode::remove}) {
    check_refused(mode, "CONFIG_PARSE",
                  "modlock_override.tf was not written by tofu-modlock, which keeps that name for itself and does not "
                  "read it, while a client does");
  }
  BOOST_TEST(read(kOurs) == "# mine\n");
  fs::remove(root() / kOurs);
  write("elsewhere", file_of("vpc", std::string(kVpc) + "?ref=" + one));
  fs::create_symlink("elsewhere", root() / kOurs);
  BOOST_TEST(!settle(OverrideMode::write).has_value());
}

BOOST_AUTO_TEST_CASE(an_override_file_is_not_written_through_a_link_made_since_the_plan) {
  write("main.tf", "module \"own\" {\n  source = \"./own\"\n}\n");
  write("own/main.tf", versioned_call("vpc", kVpc));
  const auto settled = settle(OverrideMode::write);
  BOOST_REQUIRE(settled.has_value());
  BOOST_REQUIRE(settled->writes.size() == 1U);
  fs::create_directories(directory / "outside");
  fs::rename(root() / "own", root() / "moved");
  fs::create_directory_symlink(directory / "outside", root() / "own");
  const auto applied = apply_overrides(*settled);
  BOOST_REQUIRE(!applied.has_value());
  BOOST_TEST(to_string(applied.error().code) == "IO_ERROR");
  BOOST_TEST(fs::is_empty(directory / "outside"));
}

BOOST_AUTO_TEST_CASE(a_file_that_hides_ours_is_an_error) {
  write("main.tf", versioned_call("vpc", kVpc));
  write("modlock_override.tofu", "");
  check_refused(OverrideMode::write, "CONFIG_PARSE",
                "modlock_override.tofu makes OpenTofu pass over modlock_override.tf");
}

BOOST_AUTO_TEST_CASE(an_override_that_says_something_else_than_the_lock_is_frozen) {
  write("main.tf", versioned_call("vpc", kVpc));
  write(kOurs, file_of("vpc", std::string(kVpc) + "?ref=" + two));
  check_refused(OverrideMode::leave, "FROZEN", "modlock_override.tf does not match the lock file");
  BOOST_TEST(read(kOurs) == file_of("vpc", std::string(kVpc) + "?ref=" + two));
  apply(OverrideMode::write);
  BOOST_TEST(read(kOurs) == file_of("vpc", std::string(kVpc) + "?ref=" + one));
}

BOOST_AUTO_TEST_CASE(nothing_is_written_outside_of_the_bounds) {
  write("main.tf", local("net", "../net"));
  write_text(directory / "net/main.tf", versioned_call("vpc", kVpc));
  request.walk.bounds = {directory.path()};
  const auto inside = settle(OverrideMode::write);
  BOOST_REQUIRE(inside.has_value());
  BOOST_TEST(inside->writes.size() == 1U);
  const auto outside = plan_overrides({.tree = planned.tree,
                                       .locks = planned.modules,
                                       .root = request.walk.root,
                                       .bounds = {request.walk.root},
                                       .mode = OverrideMode::write});
  BOOST_REQUIRE(!outside);
  BOOST_TEST(to_string(outside.error().code) == "PATH_OUTSIDE_ROOT");
}

BOOST_AUTO_TEST_CASE(the_warning_goes_where_a_client_obeys_and_names_what_is_in_the_way) {
  write("main.tf", versioned_call("vpc", kVpc));
  const auto judge = [&](Severity severity = Severity::warning) {
    planned = lock();
    Diagnostics diagnostics = planned.diagnostics;
    check_override_files(
        {.tree = planned.tree, .locks = planned.modules, .root = root(), .bounds = request.walk.bounds}, diagnostics,
        severity);
    std::string text;
    for (const Diagnostic& diagnostic : diagnostics) {
      text += std::string(to_string(diagnostic.what.code)) + ": " + diagnostic.what.message + "\n";
    }
    return text;
  };
  const std::string refused =
      "LOCK_UNENFORCED: module \"vpc\" has a version argument on a git source, which unmodified OpenTofu rejects\n";
  BOOST_TEST(judge() == refused);
  apply(OverrideMode::write);
  BOOST_TEST(judge() == "");
  write(kOurs, file_of("vpc", std::string(kVpc) + "?ref=" + two));
  BOOST_TEST(judge() == refused + "LOCK_UNENFORCED: modlock_override.tf does not match the lock file\n");
  BOOST_TEST(judge(Severity::error) == refused + "FROZEN: modlock_override.tf does not match the lock file\n");
}

BOOST_AUTO_TEST_CASE(a_recorded_source_is_known_by_what_the_lock_names) {
  write("main.tf", versioned_call("vpc", kVpc));
  planned = lock();
  const ModuleNode& node = planned.tree.nodes.at("vpc");
  const ModuleLock& entry = planned.modules.at("vpc");
  const std::string other = std::string(kVpc) + "?ref=" + two;
  BOOST_TEST(is_source_of(kVpc, node, &entry));
  BOOST_TEST(is_source_of(std::string(kVpc) + "?ref=" + one, node, &entry));
  BOOST_TEST(!is_source_of(other, node, &entry));
  BOOST_TEST(is_source_of(other, node));
  BOOST_TEST(!is_source_of("git::https://example.com/other.git?ref=" + one, node));
}

BOOST_AUTO_TEST_SUITE_END()
