#include "plugin/cli/plan_result.h"

#include <boost/test/unit_test.hpp>

#include "tests/plugin/cli/captured_output.h"

namespace modlock::cli {
namespace {

using messages::Action;
using messages::Change;
using messages::ChangeSide;
using messages::EditedDocument;
using messages::EditOperation;
using messages::LockPlanResult;
using test::printed_by;

constexpr const char* kCommit = "1a2b3c4d5e6f7890";
constexpr const char* kOther = "ffeeddccbbaa9988";

ChangeSide release(const char* version) {
  return {.version = version, .ref = {}, .commit = {}, .digest = {}};
}

ChangeSide at(const char* ref, const char* commit) {
  return {.version = {}, .ref = ref, .commit = commit, .digest = {}};
}

EditedDocument document(const char* path, EditOperation operation, const char* text, const char* before = "") {
  return {.path = path, .operation = operation, .new_text = text, .before = before};
}

std::string print(const LockPlanResult& result, const CommandLine& line = {}) {
  std::vector<RootOutput> outputs = outputs_of({""});
  print_plan(line, outputs.front(), result, result.diagnostics);
  return printed_by([&] { print_outputs(outputs, line.common); }).out;
}

BOOST_AUTO_TEST_SUITE(plan_result)

BOOST_AUTO_TEST_CASE(a_line_for_every_action) {
  struct Row {
    const char* name;
    Change change;
    const char* line;
  };
  const auto change = [](Action action, std::optional<ChangeSide> from, std::optional<ChangeSide> to,
                         std::optional<std::string> constraints = {}) {
    return Change{.subject = "module.vpc",
                  .previous_subject = {},
                  .action = action,
                  .from = std::move(from),
                  .to = std::move(to),
                  .constraints = std::move(constraints),
                  .reason = "why"};
  };
  Change renamed = change(Action::renamed, release("1.0.0"), release("1.0.0"));
  renamed.previous_subject = "module.net";
  const Row rows[] = {
      {"added", change(Action::added, {}, release("1.0.0"), "~> 1.0"), "module.vpc  1.0.0  (~> 1.0)\n"},
      {"added at a branch", change(Action::added, {}, at("main", kCommit)), "module.vpc  main (1a2b3c4d5e6f)\n"},
      {"updated", change(Action::updated, release("1.0.0"), release("1.1.0"), "~> 1.0"),
       "module.vpc  1.0.0 -> 1.1.0  (~> 1.0)\n"},
      {"updated at a branch", change(Action::updated, at("main", kCommit), at("main", kOther)),
       "module.vpc  main (1a2b3c4d5e6f) -> main (ffeeddccbbaa)\n"},
      {"removed", change(Action::removed, release("1.0.0"), {}), "module.vpc  removed (was 1.0.0)\n"},
      {"adopted", change(Action::adopted, {}, release("1.0.0")), "module.vpc  1.0.0  adopted\n"},
      {"restored", change(Action::restored, {}, release("1.0.0")), "module.vpc  1.0.0  restored\n"},
      {"renamed", renamed, "module.vpc  1.0.0  renamed from module.net\n"},
      {"moved", change(Action::moved, at("v1", kCommit), at("v1", kOther)),
       "module.vpc  v1 (ffeeddccbbaa)  moved from commit 1a2b3c4d5e6f to commit ffeeddccbbaa\n"},
      {"hashes-added", change(Action::hashes_added, release("1.0.0"), release("1.0.0")),
       "module.vpc  1.0.0  hashes-added\n"},
      {"constraints-changed", change(Action::constraints_changed, release("1.0.0"), release("1.0.0"), "~> 1"),
       "module.vpc  1.0.0  constraints-changed  (~> 1)\n"},
      {"source-changed", change(Action::source_changed, release("1.0.0"), release("2.0.0")),
       "module.vpc  1.0.0 -> 2.0.0\n"},
      {"reordered", change(Action::reordered, release("1.0.0"), release("1.0.0")), "module.vpc  1.0.0  reordered\n"},
      {"merged", change(Action::merged, release("1.0.0"), release("1.1.0")), "module.vpc  1.1.0  merged: why\n"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      LockPlanResult result;
      result.changes = {row.change};
      const std::string out = print(result);
      BOOST_TEST(out.substr(0, out.find('\n') + 1) == row.line);
    }
  }
}

BOOST_AUTO_TEST_CASE(the_words_at_the_end) {
  const Change module{.subject = "module.vpc",
                      .previous_subject = {},
                      .action = Action::added,
                      .from = {},
                      .to = release("1.0.0"),
                      .constraints = {},
                      .reason = {}};
  Change provider = module;
  provider.subject = "provider.registry.opentofu.org/hashicorp/null";
  Change adopted = module;
  adopted.action = Action::adopted;
  struct Row {
    const char* name;
    std::vector<Change> changes;
    std::vector<EditedDocument> documents;
    const char* text;
  };
  const EditedDocument created = document(".terraform.lock.hcl", EditOperation::create, "");
  const EditedDocument modified = document(".terraform.lock.hcl", EditOperation::modify, "");
  const EditedDocument sidecar = document(".terraform.modules.lock.hcl", EditOperation::remove, "");
  const EditedDocument new_sidecar = document(".terraform.modules.lock.hcl", EditOperation::create, "");
  EditedDocument configuration = document("main.tf", EditOperation::modify, "");
  configuration.is_configuration = true;
  const Row rows[] = {
      {"nothing changes", {}, {}, "The lock file is up to date.\n"},
      {"created",
       {module},
       {created},
       "module.vpc  1.0.0\n"
       "\ntofu-modlock has created the lock file .terraform.lock.hcl to record the selected module versions.\n"
       "Include this file in version control, so that everyone gets the same modules.\n"},
      {"created with providers",
       {provider},
       {created},
       "provider.registry.opentofu.org/hashicorp/null  1.0.0\n"
       "\ntofu-modlock has created the lock file .terraform.lock.hcl to record the selected versions.\n"
       "Include this file in version control, so that everyone gets the same modules and providers.\n"},
      {"changed",
       {module},
       {modified},
       "module.vpc  1.0.0\n"
       "\ntofu-modlock has changed the module selections in .terraform.lock.hcl.\n"
       "Review and commit the change if it is what you intended.\n"},
      {"both created",
       {module},
       {created, new_sidecar},
       "module.vpc  1.0.0\n"
       "\ntofu-modlock has created the lock files .terraform.lock.hcl and .terraform.modules.lock.hcl to record the "
       "selected module versions.\n"
       "Include these files in version control, so that everyone gets the same modules.\n"},
      {"created and changed",
       {module},
       {new_sidecar, modified},
       "module.vpc  1.0.0\n"
       "\ntofu-modlock has created the lock file .terraform.modules.lock.hcl to record the selected module versions.\n"
       "Include this file in version control, so that everyone gets the same modules.\n"
       "tofu-modlock has changed the module selections in .terraform.lock.hcl.\n"
       "Review and commit the change if it is what you intended.\n"},
      {"changed and deleted",
       {},
       {modified, sidecar},
       "\ntofu-modlock has changed the module selections in .terraform.lock.hcl.\n"
       "Review and commit the change if it is what you intended.\n"
       "tofu-modlock has deleted .terraform.modules.lock.hcl, which no longer contains used blocks.\n"},
      {"deleted",
       {},
       {sidecar},
       "\ntofu-modlock has deleted .terraform.modules.lock.hcl, which no longer contains used blocks.\n"},
      {"the configuration too",
       {},
       {configuration, configuration, modified},
       "\ntofu-modlock has changed main.tf, main.tf and .terraform.lock.hcl.\n"
       "Review and commit the change if it is what you intended.\n"},
      {"one adopted module",
       {adopted},
       {modified},
       "module.vpc  1.0.0  adopted\n"
       "\n1 module is locked to the installed version, which may differ from what its source gives now (adopted).\n"
       "If you did not install it yourself, select versions from the sources: tofu-modlock upgrade\n"
       "\ntofu-modlock has changed the module selections in .terraform.lock.hcl.\n"
       "Review and commit the change if it is what you intended.\n"},
      {"several adopted modules",
       {adopted, adopted},
       {},
       "module.vpc  1.0.0  adopted\n"
       "module.vpc  1.0.0  adopted\n"
       "\n2 modules are locked to the installed version, which may differ from what their sources give now "
       "(adopted).\n"
       "If you did not install it yourself, select versions from the sources: tofu-modlock upgrade\n"
       "The lock file is up to date.\n"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      LockPlanResult result;
      result.changes = row.changes;
      result.edits.documents = row.documents;
      BOOST_TEST(print(result) == row.text);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_dry_run_prints_a_diff) {
  LockPlanResult result;
  result.edits.documents = {document(".terraform.lock.hcl", EditOperation::modify, "a\nc\n", "a\nb\n")};
  CommandLine line;
  line.dry_run = true;
  line.color = "never";
  BOOST_TEST(print(result, line) ==
             "--- .terraform.lock.hcl\n+++ .terraform.lock.hcl\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n"
             ".terraform.lock.hcl would change; nothing was written.\n");
  line.color = "always";
  BOOST_TEST(print(result, line) ==
             "\x1b[1m--- .terraform.lock.hcl\x1b[0m\n\x1b[1m+++ .terraform.lock.hcl\x1b[0m\n"
             "\x1b[36m@@ -1,2 +1,2 @@\x1b[0m\n a\n\x1b[31m-b\x1b[0m\n\x1b[32m+c\x1b[0m\n"
             ".terraform.lock.hcl would change; nothing was written.\n");
}

BOOST_AUTO_TEST_CASE(a_signature_is_named_with_its_provider) {
  struct Row {
    const char* name;
    const char* status;
    Action action;
    const char* line;
  };
  const Row rows[] = {
      {"signed", "signed", Action::added,
       "provider.registry.opentofu.org/hashicorp/null  3.2.0  signed, key ID 0123456789ABCDEF\n"},
      {"unsigned", "none", Action::added, "provider.registry.opentofu.org/hashicorp/null  3.2.0\n"},
      {"removed", "signed", Action::removed, "provider.registry.opentofu.org/hashicorp/null  removed (was 3.2.0)\n"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      LockPlanResult result;
      result.changes = {{.subject = "provider.registry.opentofu.org/hashicorp/null",
                         .previous_subject = {},
                         .action = row.action,
                         .from = release("3.2.0"),
                         .to = release("3.2.0"),
                         .constraints = {},
                         .reason = {}}};
      result.providers = {{.address = "registry.opentofu.org/hashicorp/null",
                           .version = "3.2.0",
                           .constraints = {},
                           .hashes = {},
                           .signature = {row.status, "0123456789ABCDEF"}}};
      const std::string out = print(result);
      BOOST_TEST(out.substr(0, out.find('\n') + 1) == row.line);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::cli
