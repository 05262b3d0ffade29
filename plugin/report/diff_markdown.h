#pragma once

#include <string>

#include "protocol/messages/update_diff.h"

namespace modlock {

// Returns a diff as Markdown for the text of a pull request; empty if nothing changes. Breaking and risky findings are
// always visible; notable ones and the lists are folded.
std::string diff_markdown(const messages::UpdateDiffResult& result);

// Returns the warnings about modules that the diff does not have.
Diagnostics not_compared(const messages::UpdateDiffResult& result);

// Returns "1 breaking, 2 risky, 3 notable"; empty if there are no findings.
std::string count_findings(const std::vector<messages::DiffFinding>& findings);

// Returns "2 variables, 1 output": what the lists of a diff contain.
std::string count_changes(const messages::ModuleDiff& diff);

// Returns "3 files changed, 10 lines added, 2 lines removed".
std::string count_files(const messages::FileSummary& files);

// Returns a line for the files that are not listed: "- 3 files of examples, tests and documentation"; empty: none.
std::string count_auxiliary(const std::vector<messages::ChangedFile>& files, std::string_view prefix);

// Returns "changed (+10 -2)": what happens to a file, with its lines of text.
std::string file_change(const messages::ChangedFile& file);

// Returns where a finding is, for people: "main.tf:3" in the root module, or "vpc.tf:7 of the package".
std::string finding_place(const messages::DiffFinding& finding);

}  // namespace modlock
