#pragma once

#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plugin/cli/command_line.h"
#include "plugin/cli/source_excerpt.h"
#include "plugin/cli/terminal.h"
#include "protocol/base/error.h"

namespace modlock::cli {

// Returns the arguments with which a command processes these roots: {"--chdir", "live/prod"}. With --recursive several
// are found by the same search.
Hint::Words place_of(const std::vector<std::string>& roots, const CommonFlags& flags);

// Returns "live/a, live/b, and 25 more", or "all 30 root modules" if there are no others.
std::string list_of(const std::vector<std::string>& roots, std::size_t all, bool in_markdown = false);

// What a command prints about one root module, or about none.
class RootOutput {
 public:
  // `is_one_of_several`: headings name the root.
  explicit RootOutput(std::string root = {}, bool is_one_of_several = false);

  const std::string& root() const { return root_; }
  bool is_one_of_several() const { return is_one_of_several_; }

  // Add a text for one of the streams, unless it is empty, as a Printer does.
  void out(std::string_view text) { raw(printable(shown(text))); }
  void err(std::string_view text) { add(stderr, shown(text)); }
  void raw(std::string_view text) { add(stdout, std::string(text)); }
  void table(const std::vector<std::vector<Cell>>& rows, Fit fit, std::string_view mode = "auto") {
    raw(shown(table_text(rows, fit, table_style(mode))));
  }

  // Adds diagnostics, which are printed after the texts, with the line of their location.
  void add(const Diagnostics& diagnostics) { append(diagnostics_, diagnostics); }

  // "Error", or "Error in live/prod" for one of several roots.
  std::string heading(std::string_view severity) const;
  // Returns the text of a hint. Its commands have the directory of the root, unless that is the current one, they name
  // a directory, or they have no --chdir: "run: tofu-modlock lock --chdir live/prod".
  std::string hint(const Hint& hint) const;

  // Prints the texts, and forgets them.
  void print_texts(const Printer& print);

 private:
  friend void print_outputs(std::vector<RootOutput>& outputs, const CommonFlags& flags);
  friend void print_diagnostics(const std::vector<RootOutput>& outputs, const CommonFlags& flags);

  void add(std::FILE* stream, std::string text) {
    if (!text.empty()) {
      texts_.emplace_back(stream, std::move(text));
    }
  }
  // Returns the text with paths of settings files (`../.tofu-modlock.hcl`, relative to the root) that open from the
  // current directory. For several roots, that of the root itself stays.
  std::string shown(std::string_view text, bool is_of_several = false) const;

  std::string root_;
  bool is_one_of_several_;
  std::vector<std::pair<std::FILE*, std::string>> texts_;
  Diagnostics diagnostics_;
};

// Print what the outputs of all roots have, in the order of the roots: first the texts, for several roots below a
// heading, then the diagnostics. What several roots have in common is printed once, with their names. A note about a
// block of shared settings is printed with --recursive, if the block applies to none of the roots.
void print_outputs(std::vector<RootOutput>& outputs, const CommonFlags& flags);
void print_diagnostics(const std::vector<RootOutput>& outputs, const CommonFlags& flags);
// The same of diagnostics about one root, or about none.
void print_diagnostics(const Diagnostics& diagnostics, const std::string& root, const Printer& print);

}  // namespace modlock::cli
