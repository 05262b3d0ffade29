// Files that `init` writes, and those that it leaves as they are.
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "plugin/cli/command_line.h"
#include "plugin/cli/commands.h"
#include "plugin/cli/embedded_files.h"
#include "plugin/cli/over_roots.h"
#include "plugin/settings/settings_documents.h"
#include "tests/plugin/cli/captured_output.h"
#include "tests/support/run.h"
#include "tests/support/temporary_directory.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

// A git repository with a root module below its top.
struct Repository {
  Repository() {
    fs::create_directories(root());
    run({"git", "init", "--quiet"}, top(), {{"GIT_CONFIG_NOSYSTEM", "1"}, {"HOME", directory / "home"}});
  }
  fs::path top() const { return directory / "top"; }
  fs::path root() const { return directory / "top/live/prod"; }
  std::string read(const std::string& name) const { return read_text(top() / name); }
  bool has(const std::string& name) const { return fs::exists(fs::symlink_status(top() / name)); }

  struct Ran {
    int exit_code;
    Printed printed;
  };
  Ran init(const std::function<void(cli::CommandLine&)>& set) const {
    cli::CommandLine line;
    line.common.directories = {root().string()};
    set(line);
    Ran ran{};
    ran.printed = printed_by([&] {
      const auto code = cli::run_init(line);
      ran.exit_code = code ? *code : cli::failed_everywhere(code.error(), line.common);
    });
    for (std::string* text : {&ran.printed.out, &ran.printed.err}) {
      for (std::size_t at = 0; (at = text->find(top().string())) != std::string::npos;) {
        text->replace(at, top().string().size(), "<top>");
      }
    }
    return ran;
  }

  TemporaryDirectory directory;
};

void all(cli::CommandLine& line) {
  line.all = true;
}

constexpr const char* kDriver =
    "  Next: configure the merge driver once in each clone:\n"
    "    git config merge.tofu-modlock.name 'tofu-modlock'\n"
    "    git config merge.tofu-modlock.driver 'tofu-modlock merge --marker-size %L %O %A %B'\n";
constexpr const char* kOwner =
    "  Next: replace OWNER in the file with the account that publishes tofu-modlock; for Terraform, replace the "
    "client\n";
constexpr const char* kInline =
    "  Next: module locks stay in .terraform.lock.hcl; to move them, set module_lock_file = \"sidecar\"\n";
constexpr const char* kSidecar =
    "Before the first lock, set module_lock_file = \"sidecar\" in .tofu-modlock.hcl, so that the client keeps the "
    "module locks: tofu-modlock init --settings\n";
constexpr const char* kAttributes =
    ".terraform.lock.hcl merge=tofu-modlock\n.terraform.modules.lock.hcl merge=tofu-modlock\n";
constexpr const char* kHook =
    "  - repo: local\n"
    "    hooks:\n"
    "      - id: tofu-modlock-frozen\n"
    "        name: module locks are up to date\n"
    "        entry: tofu-modlock lock --frozen --include modules --recursive .\n"
    "        language: system\n"
    "        pass_filenames: false\n"
    "        files: (\\.(tf|tofu|tfvars)(\\.json)?|\\.(tftest|tofutest)\\.(hcl|json)"
    "|(^|/)\\.(terraform(\\.modules)?\\.lock|tofu-modlock)\\.hcl)$\n";

}  // namespace

BOOST_FIXTURE_TEST_SUITE(init_command, Repository)

BOOST_AUTO_TEST_CASE(everything_is_written_once) {
  const Ran first = init(all);
  BOOST_TEST(first.exit_code == 0);
  BOOST_TEST(first.printed.err == "");
  BOOST_TEST(first.printed.out == std::string("<top>/live/prod/.tofu-modlock.hcl: written\n"
                                              "<top>/.gitattributes: written\n") +
                                      kDriver + "<top>/.github/workflows/tofu-modlock.yml: written\n" + kOwner +
                                      "<top>/.pre-commit-config.yaml: written\n");
  BOOST_TEST(read("live/prod/.tofu-modlock.hcl") == commented_settings(true));
  BOOST_TEST(read(".gitattributes") == kAttributes);
  BOOST_TEST(read(".github/workflows/tofu-modlock.yml") == cli::kGithubWorkflow);
  BOOST_TEST(read(".pre-commit-config.yaml") == std::string("repos:\n") + kHook);

  for (const char* name :
       {"live/prod/.tofu-modlock.hcl", ".github/workflows/tofu-modlock.yml", ".pre-commit-config.yaml"}) {
    write_text(top() / name, "mine\n");
  }
  const Ran second = init(all);
  BOOST_TEST(second.exit_code == 0);
  BOOST_TEST(second.printed.out == std::string("<top>/live/prod/.tofu-modlock.hcl: exists, not changed\n"
                                               "<top>/.gitattributes: has the line\n") +
                                       kDriver + "<top>/.github/workflows/tofu-modlock.yml: exists, not changed\n" +
                                       "<top>/.pre-commit-config.yaml: exists, not changed\n  Add to it:\n" + kHook);
  for (const char* name :
       {"live/prod/.tofu-modlock.hcl", ".github/workflows/tofu-modlock.yml", ".pre-commit-config.yaml"}) {
    BOOST_TEST(read(name) == "mine\n");
  }
}

BOOST_AUTO_TEST_CASE(what_a_file_has_is_not_proposed_again) {
  init(all);
  const Ran second = init(all);
  BOOST_TEST(second.printed.out.find("Add to it") == std::string::npos, second.printed.out);
}

BOOST_AUTO_TEST_CASE(quiet_init_prints_only_errors) {
  write_text(top() / ".github", "a file\n");
  const Ran ran = init([](cli::CommandLine& line) { line.all = line.common.quiet = true; });
  BOOST_TEST(ran.exit_code != 0);
  BOOST_TEST(ran.printed.out == "");
  BOOST_TEST(ran.printed.err.starts_with("Error: "), ran.printed.err);
  BOOST_TEST(has(".gitattributes"));
}

BOOST_AUTO_TEST_CASE(only_what_is_named) {
  struct Row {
    const char* name;
    std::function<void(cli::CommandLine&)> set;
    const char* file;
  };
  const Row rows[] = {
      {"--settings", [](auto& line) { line.settings = true; }, "live/prod/.tofu-modlock.hcl"},
      {"--gitattributes", [](auto& line) { line.gitattributes = true; }, ".gitattributes"},
      {"--ci github", [](auto& line) { line.ci = "github"; }, ".github/workflows/tofu-modlock.yml"},
      {"--ci gitlab", [](auto& line) { line.ci = "gitlab"; }, ".gitlab-ci.yml"},
      {"--pre-commit", [](auto& line) { line.pre_commit = true; }, ".pre-commit-config.yaml"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const Repository repository;
      BOOST_TEST(repository.init(row.set).exit_code == 0);
      for (const Row& other : rows) {
        BOOST_TEST(repository.has(other.file) == (&other == &row), other.file);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(attributes_are_added_to_an_existing_file) {
  struct Row {
    const char* name;
    const char* before;
    const char* added;
  };
  constexpr const char* kModules = ".terraform.modules.lock.hcl merge=tofu-modlock\n";
  const Row rows[] = {
      {"empty", "", kAttributes},
      {"other lines", "*.png binary\n", kAttributes},
      {"other attributes", ".terraform.lock.hcl text\n", kAttributes},
      {"in a comment", "# .terraform.lock.hcl merge=tofu-modlock\n", kAttributes},
      {"one of the lines", "a b\n.terraform.lock.hcl merge=tofu-modlock\n", kModules},
      {"one of the lines, CRLF", ".terraform.lock.hcl  text merge=tofu-modlock\r\n", kModules},
      {"both lines", kAttributes, ""},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      write_text(top() / ".gitattributes", row.before);
      const Ran ran = init([](auto& line) { line.gitattributes = true; });
      BOOST_TEST(ran.printed.out == std::string("<top>/.gitattributes: ") +
                                        (*row.added == '\0' ? "has the line" : "line added") + "\n" + kDriver +
                                        kSidecar);
      BOOST_TEST(read(".gitattributes") == std::string(row.before) + row.added);
    }
  }
  write_text(top() / ".gitattributes", "*.png binary");  // no final newline
  init([](auto& line) { line.gitattributes = true; });
  BOOST_TEST(read(".gitattributes") == std::string("*.png binary\n") + kAttributes);
}

// Module blocks that are in .terraform.lock.hcl stay there.
BOOST_AUTO_TEST_CASE(the_sidecar_is_chosen_for_a_repository_without_module_blocks) {
  constexpr const char* kBlock = "module \"vpc\" {\n  source = \"git::https://example.com/vpc.git\"\n}\n";
  struct Row {
    const char* name;
    const char* file;
    const char* text;
    bool is_chosen;
    const char* next = "";
  };
  const Row rows[] = {
      {"no lock file", "README.md", "", true},
      {"a lock file without module blocks", "live/prod/.terraform.lock.hcl", "# by tofu\n", true},
      {"a lock file with module blocks", "live/dev/.terraform.lock.hcl", kBlock, false, kInline},
      {"a lock file that cannot be parsed", "live/dev/.terraform.lock.hcl", "module {", false, kInline},
      {"a file of the data directory", "live/dev/.terraform/modules/vpc/.terraform.lock.hcl", kBlock, true},
      {"the sidecar", "live/dev/.terraform.modules.lock.hcl", kBlock, true},
      {"a setting above", ".tofu-modlock.hcl", "module_lock_file = \"inline\"\n", false},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const Repository repository;
      fs::create_directories((repository.top() / row.file).parent_path());
      write_text(repository.top() / row.file, row.text);
      const Ran attributes = repository.init([](auto& line) { line.gitattributes = true; });
      BOOST_TEST((attributes.printed.out.find(kSidecar) != std::string::npos) == row.is_chosen);
      const Ran settings = repository.init([](auto& line) { line.settings = true; });
      BOOST_TEST(settings.printed.out == std::string("<top>/live/prod/.tofu-modlock.hcl: written\n") + row.next);
      BOOST_TEST(repository.read("live/prod/.tofu-modlock.hcl") == commented_settings(row.is_chosen));
    }
  }
}

BOOST_AUTO_TEST_CASE(an_existing_settings_file_gets_the_line_of_the_sidecar_proposed) {
  write_text(root() / ".tofu-modlock.hcl", "resolution = \"per-call\"\n");
  BOOST_TEST(init([](auto& line) { line.settings = true; }).printed.out ==
             "<top>/live/prod/.tofu-modlock.hcl: exists, not changed\n  Add to it:\nmodule_lock_file = \"sidecar\"\n");
}

BOOST_AUTO_TEST_CASE(an_existing_gitlab_file_is_for_all_and_gets_no_job) {
  write_text(top() / ".gitlab-ci.yml", "stages: [test]\n");
  const Ran ran = init(all);
  BOOST_TEST(ran.printed.out.find("<top>/.gitlab-ci.yml: exists, not changed\n  Add to it:\n" +
                                  std::string(cli::kGitlabJob)) != std::string::npos,
             ran.printed.out);
  BOOST_TEST(read(".gitlab-ci.yml") == "stages: [test]\n");
  BOOST_TEST(!has(".github"));
}

BOOST_AUTO_TEST_CASE(links_are_not_followed) {
  const fs::path outside = directory / "outside";
  fs::create_directories(outside);
  write_text(outside / "attributes", "mine\n");
  fs::create_symlink(outside / "attributes", top() / ".gitattributes");
  fs::create_symlink(outside / "missing", top() / ".pre-commit-config.yaml");
  fs::create_symlink(outside, top() / ".github");
  const Ran ran = init(all);
  BOOST_TEST(ran.exit_code == 1);
  BOOST_TEST(ran.printed.out.find("<top>/.gitattributes: exists, not changed\n") != std::string::npos, ran.printed.out);
  BOOST_TEST(ran.printed.out.find("<top>/.pre-commit-config.yaml: exists, not changed\n") != std::string::npos);
  BOOST_TEST(ran.printed.err.find("<top>/.github") != std::string::npos, ran.printed.err);
  BOOST_TEST(ran.printed.err.find("[IO_ERROR]") != std::string::npos, ran.printed.err);
  BOOST_TEST(read_text(outside / "attributes") == "mine\n");
  BOOST_TEST(std::distance(fs::directory_iterator(outside), {}) == 1);
  BOOST_TEST(has("live/prod/.tofu-modlock.hcl"));
}

BOOST_AUTO_TEST_CASE(without_flags_and_terminal_it_lists_the_flags) {
  const Ran ran = init([](auto&) {});
  BOOST_TEST(ran.exit_code == 2);
  BOOST_TEST(ran.printed.out == "");
  BOOST_TEST(ran.printed.err ==
             "Nothing was written. Name what to write, or --all:\n"
             "  --settings       <top>/live/prod/.tofu-modlock.hcl: settings, most as comments\n"
             "  --gitattributes  <top>/.gitattributes: merge lock files entry by entry\n"
             "  --ci github      <top>/.github/workflows/tofu-modlock.yml: check the lock files in CI\n"
             "  --pre-commit     <top>/.pre-commit-config.yaml: check the lock files before each commit\n");
  BOOST_TEST(fs::is_empty(root()));
}

BOOST_AUTO_TEST_CASE(a_directory_that_does_not_exist) {
  const Ran ran = init([](auto& line) {
    line.all = true;
    line.common.directories = {"/nonexistent/root"};
  });
  BOOST_TEST(ran.exit_code == 2);
  BOOST_TEST(ran.printed.err.starts_with("Error: \"/nonexistent/root\" is not a directory [INVALID_PARAMS]\n"),
             ran.printed.err);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
