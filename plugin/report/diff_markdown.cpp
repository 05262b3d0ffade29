#include "plugin/report/diff_markdown.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "backends/base/text.h"
#include "plugin/report/change_text.h"

namespace modlock {
namespace {

using messages::ModuleDiff;

struct List {
  std::string_view one;
  std::vector<messages::ChangedItem> ModuleDiff::*items;
};
constexpr std::array<List, 7> kLists = {{{"provider", &ModuleDiff::providers},
                                         {"variable", &ModuleDiff::variables},
                                         {"output", &ModuleDiff::outputs},
                                         {"provisioner", &ModuleDiff::provisioners},
                                         {"data source", &ModuleDiff::data_sources},
                                         {"resource type", &ModuleDiff::resources},
                                         {"module call", &ModuleDiff::modules}}};

std::string item_line(const List& list, const messages::ChangedItem& item) {
  const bool is_changed = item.change == "changed" && !item.after.empty();
  const std::string values = is_changed ? item.before + " -> " + item.after : item.after;
  return fmt::format("- {} {} {}{}\n", list.one, code_span(item.name), item.change,
                     values.empty() ? "" : ": " + code_span(values));
}

std::string module_markdown(const ModuleDiff& diff) {
  std::string text =
      fmt::format("### {}: {} → {}\n\n", code_span(diff.subject), diff.from ? code_span(side_text(diff.from)) : "new",
                  diff.to ? code_span(side_text(diff.to)) : "removed");
  std::string folded;
  for (const messages::DiffFinding& finding : diff.findings) {
    (finding.grade == "notable" ? folded : text) +=
        fmt::format("- **{}** {} ({})\n", finding.grade, code_span(finding.message), code_span(finding_place(finding)));
  }
  for (const List& list : kLists) {
    for (const messages::ChangedItem& item : diff.*list.items) {
      folded += item_line(list, item);
    }
  }
  for (const messages::ChangedFile& file : diff.files.changed) {
    folded += file.is_auxiliary ? ""
                                : fmt::format("- {} {} {}\n", file.is_script ? "script or binary" : "file",
                                              code_span(file.path), file_change(file));
  }
  folded += count_auxiliary(diff.files.changed, "- ");
  for (const std::string& line : diff.files.changelog) {
    folded += fmt::format("- the module's changelog: {}\n", code_span(line));
  }
  text += text.ends_with("\n\n") ? "" : "\n";
  const std::string files = count_files(diff.files);
  text += folded.empty() ? files : fmt::format("<details><summary>{}</summary>\n\n{}\n</details>", files, folded);
  text += "\n\n";
  return text + (diff.comparison.empty() ? "" : fmt::format("[Compare]({})\n\n", diff.comparison));
}

}  // namespace

std::string diff_markdown(const messages::UpdateDiffResult& result) {
  std::string text;
  for (const ModuleDiff& diff : result.changes) {
    text += module_markdown(diff);
  }
  for (const Diagnostic& diagnostic : result.diagnostics) {
    const Error& error = diagnostic.what;
    text += fmt::format("> **{}** {}{}\n\n", to_string(error.code), code_span(error.message),
                        error.subject.empty() ? "" : fmt::format(" ({})", code_span(error.subject)));
  }
  if (!text.empty()) {
    text.pop_back();
  }
  return text;
}

Diagnostics not_compared(const messages::UpdateDiffResult& result) {
  Diagnostics out;
  std::ranges::copy_if(result.diagnostics, std::back_inserter(out), [&](const Diagnostic& diagnostic) {
    return diagnostic.severity == Severity::warning && diagnostic.what.subject.starts_with("module.") &&
           std::ranges::none_of(result.changes,
                                [&](const auto& change) { return change.subject == diagnostic.what.subject; });
  });
  return out;
}

std::string count_findings(const std::vector<messages::DiffFinding>& findings) {
  std::string text;
  for (const char* grade : {"breaking", "risky", "notable"}) {
    const auto count =
        std::ranges::count_if(findings, [&](const messages::DiffFinding& finding) { return finding.grade == grade; });
    if (count != 0) {
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, grade);
    }
  }
  return text;
}

std::string count_changes(const ModuleDiff& diff) {
  std::string text;
  for (const List& list : kLists) {
    const std::size_t count = (diff.*list.items).size();
    if (count != 0) {
      text += (text.empty() ? "" : ", ") + counted(count, list.one);
    }
  }
  return text;
}

std::string count_files(const messages::FileSummary& files) {
  return fmt::format("{} changed, {} added, {} removed", counted(files.changed.size(), "file"),
                     counted(files.lines_added, "line"), counted(files.lines_removed, "line"));
}

std::string count_auxiliary(const std::vector<messages::ChangedFile>& files, std::string_view prefix) {
  const auto count =
      static_cast<std::size_t>(std::ranges::count_if(files, [](const auto& file) { return file.is_auxiliary; }));
  return count == 0 ? "" : fmt::format("{}{} of examples, tests and documentation\n", prefix, counted(count, "file"));
}

std::string file_change(const messages::ChangedFile& file) {
  const bool has_lines = file.lines_added != 0 || file.lines_removed != 0;
  return file.change + (has_lines ? fmt::format(" (+{} -{})", file.lines_added, file.lines_removed) : "");
}

std::string finding_place(const messages::DiffFinding& finding) {
  if (finding.call) {
    return to_string(*finding.call);
  }
  const auto& place = finding.after ? finding.after : finding.before;
  return place ? to_string(*place) + " of the package" : "";
}

}  // namespace modlock
