#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "protocol/messages/error_json.h"
#include "protocol/messages/lock_plan.h"

namespace modlock::messages {

// A module call and the two versions of it to compare.
struct DiffSubject {
  std::string subject;
  std::optional<std::string> version;
  std::optional<std::string> from;
};
constexpr TypeName name_of(const DiffSubject*) {
  return {"DiffSubject", "A module call and the two versions of it to compare."};
}
template <typename Form>
void fields(Form& form, In<Form, DiffSubject> subject) {
  form.member("subject", subject.subject, "`module.vpc.nested`");
  form.optional("version", subject.version, "the new version; absent: the newest one below the next major number");
  form.optional("from", subject.from, "the old version; absent: the locked one");
}

// An earlier state of a root module.
struct DiffBase {
  std::vector<Document> documents;
  std::optional<std::string> lock;
};
constexpr TypeName name_of(const DiffBase*) {
  return {"DiffBase", "An earlier state of the root module, for example that of a git revision."};
}
template <typename Form>
void fields(Form& form, In<Form, DiffBase> base) {
  form.optional("documents", base.documents, "texts of the files that have changed since then");
  form.optional("lock", base.lock,
                "the text of the lock file at that time; absent: that in documents, else the one on disk");
}

struct UpdateDiffParams {
  RootParams root;
  LockParams lock;
  std::vector<DiffSubject> subjects;
  std::optional<DiffBase> base;
};
template <typename Form>
void fields(Form& form, In<Form, UpdateDiffParams> params) {
  form.include(params.root);
  form.optional("lock", params.lock, "the lock to start from; absent: the one on disk");
  form.optional("subjects", params.subjects, "absent: every module call with an update");
  form.optional("base", params.base, "compare the lock with this state, instead of an update");
  form.check([&](ObjectReader& in) {
    if (params.base && !params.subjects.empty()) {
      in.reject("base", "expected either subjects or a base");
    }
  });
}

// A declaration that an update adds, removes or changes.
struct ChangedItem {
  std::string name;
  std::string change;
  std::string before;
  std::string after;
};
constexpr TypeName name_of(const ChangedItem*) {
  return {"ChangedItem", "A declaration that an update adds, removes or changes."};
}
template <typename Form>
void fields(Form& form, In<Form, ChangedItem> item) {
  form.member("name", item.name, "its name, with the directory of a nested module: `modules/db: var.size`");
  form.member("change", item.change, "what happens to it", {"added", "removed", "changed"});
  form.optional("before", item.before,
                "the old text: the type of a variable, `default ` and its default, or `required`, `optional`, "
                "`sensitive`, `plain`, `nullable` or `not nullable`; the constraint of a provider; the source of a "
                "module call; the number of resources of a type");
  form.optional("after", item.after, "the new one, in the same form");
}

// A file that an update adds, removes or changes.
struct ChangedFile {
  std::string path;
  std::string change;
  bool is_script = false;
  bool is_auxiliary = false;
  std::uint64_t lines_added = 0;
  std::uint64_t lines_removed = 0;
};
constexpr TypeName name_of(const ChangedFile*) {
  return {"ChangedFile", "A file that an update adds, removes or changes."};
}
template <typename Form>
void fields(Form& form, In<Form, ChangedFile> file) {
  form.member("path", file.path, "in the package");
  form.member("change", file.change, "executable: only its executable bit was set",
              {"added", "removed", "changed", "executable"});
  form.member("isScript", file.is_script, "whether it is a script, a binary or an archive");
  form.member("isAuxiliary", file.is_auxiliary, "whether it is an example, a test or documentation");
  form.member("linesAdded", file.lines_added, "lines of text that are new; 0 for a binary");
  form.member("linesRemoved", file.lines_removed, "lines of text that are gone; 0 for a binary");
}

struct FileSummary {
  std::vector<ChangedFile> changed;
  std::uint64_t lines_added = 0;
  std::uint64_t lines_removed = 0;
  std::vector<std::string> changelog;
};
constexpr TypeName name_of(const FileSummary*) {
  return {"FileSummary", "The files that an update changes."};
}
template <typename Form>
void fields(Form& form, In<Form, FileSummary> files) {
  form.member("changed", files.changed, "scripts, binaries and archives first, each part by path");
  form.member("linesAdded", files.lines_added, "lines of text that are new, in all files");
  form.member("linesRemoved", files.lines_removed, "lines of text that are gone, in all files");
  form.member("changelog", files.changelog,
              "the first 20 new lines of its CHANGELOG.md, as its author wrote them; an ellipsis ends one of more than "
              "200 bytes");
}

// A change that a reviewer should know of.
struct DiffFinding {
  std::string rule;
  std::string grade;
  std::string message;
  std::optional<Location> before;
  std::optional<Location> after;
  std::optional<Location> call;
};
constexpr TypeName name_of(const DiffFinding*) {
  return {"DiffFinding", "A change that a reviewer should know of."};
}
template <typename Form>
void fields(Form& form, In<Form, DiffFinding> finding) {
  form.member("rule", finding.rule, "the kind of change; its meaning never changes");
  form.member("grade", finding.grade,
              "breaking: the configuration has to change; risky: it may run code, send data or destroy resources; "
              "notable: worth reading",
              {"breaking", "risky", "notable"});
  form.member("message", finding.message, "one sentence for people; may change");
  form.optional("before", finding.before, "the place in the old package; the path is relative to the package");
  form.optional("after", finding.after, "the place in the new package; the path is relative to the package");
  form.optional("call", finding.call, "the place in the calling configuration that has to change");
}

// The effect of an update of one module.
struct ModuleDiff {
  std::string subject;
  std::string source;
  std::optional<ChangeSide> from;
  std::optional<ChangeSide> to;
  std::vector<ChangedItem> providers;
  std::vector<ChangedItem> variables;
  std::vector<ChangedItem> outputs;
  std::vector<ChangedItem> provisioners;
  std::vector<ChangedItem> data_sources;
  std::vector<ChangedItem> resources;
  std::vector<ChangedItem> modules;
  FileSummary files;
  std::vector<DiffFinding> findings;
  std::string comparison;
};
constexpr TypeName name_of(const ModuleDiff*) {
  return {"ModuleDiff",
          "The effect of an update of one module, nested local modules included. Lists contain only changes."};
}
template <typename Form>
void fields(Form& form, In<Form, ModuleDiff> diff) {
  form.member("subject", diff.subject, "`module.vpc.nested`");
  form.member("source", diff.source, "its source");
  form.optional("from", diff.from, "the locked version; absent: the module is new");
  form.optional("to", diff.to, "the new version; absent: the module is no longer called");
  form.member("providers", diff.providers, "required providers and provider configurations");
  form.member("variables", diff.variables, "variables");
  form.member("outputs", diff.outputs, "outputs");
  form.member("provisioners", diff.provisioners, "provisioners of resources");
  form.member("dataSources", diff.data_sources, "data sources and ephemeral resources");
  form.member("resources", diff.resources, "resources by type");
  form.member("modules", diff.modules, "module calls and their sources");
  form.member("files", diff.files, "the files");
  form.member("findings", diff.findings, "breaking ones first, then risky and notable ones");
  form.optional("comparison", diff.comparison, "the page of the git host that compares the two versions");
}

struct UpdateDiffResult {
  std::vector<ModuleDiff> changes = {};
  Diagnostics diagnostics = {};
  RunStats stats = {};
};
template <typename Form>
void fields(Form& form, In<Form, UpdateDiffResult> result) {
  form.member("changes", result.changes, "every module whose package changes, by key");
  form.member("diagnostics", result.diagnostics, "warnings, and modules that could not be compared");
  form.member("stats", result.stats, "the requests and the time");
}

}  // namespace modlock::messages
