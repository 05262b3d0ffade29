#pragma once

#include <string>
#include <vector>

namespace modlock::cli {

// Returns the completions of the last of these words, which follow the name of the program. Each is the whole word,
// and after a tab its description, if it has one. Subjects come from the lock file, versions of a subject from it and
// from cached listings: no network request is sent. The first line is ":files" or ":directories" if the shell completes
// the word, or what follows its first "=". Empty if there is none, or if anything fails.
std::vector<std::string> complete(const std::vector<std::string>& words);

// Prints them, one per line, and nothing on stderr. Called by the shells, for which `completion` prints a script.
void run_complete(const std::vector<std::string>& words);

}  // namespace modlock::cli
