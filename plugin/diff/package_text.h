#pragma once

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/base/context.h"
#include "backends/package/tree_hash.h"
#include "plugin/config/config_files.h"
#include "plugin/config/provider_requirement.h"
#include "plugin/config/variable.h"
#include "protocol/messages/update_diff.h"

namespace modlock {

// A top-level block with those of override files merged into it.
struct MergedBlock {
  std::string type;
  std::vector<std::string> labels;
  const ConfigText* file = nullptr;   // of the first one
  const hcl::Block* block = nullptr;  // the first one
  std::map<std::string, Argument, std::less<>> arguments = {};
  std::vector<std::pair<const ConfigText*, const hcl::Block*>> blocks = {};

  // Reads one block.
  static MergedBlock of(const ConfigText& file, const hcl::Block& block);
  // Returns "aws_instance.web", "data.http.ip", "module.net", "moved".
  std::string address() const;
  const Argument* find(std::string_view name) const;
};

// One directory with configuration, as a client reads it.
struct ModuleText {
  std::string directory;  // in the package; "": the package itself
  std::string scope;      // before a name in messages: "modules/db: "; "" for the called module
  std::vector<ConfigText> files;
  std::vector<MergedBlock> blocks;
  std::map<std::string, const MergedBlock*, std::less<>> by_address;
  std::map<std::string, Argument, std::less<>> locals;
  std::vector<ProviderRequirement> providers;

  // The addresses that moved blocks name, as address_names() returns them.
  std::vector<std::pair<std::vector<std::string>, std::vector<std::string>>> moves() const;
  // Before the names of its files: "modules/db/".
  std::string path() const { return directory.empty() ? "" : directory + "/"; }
};

// The files of a package, and the modules in it that a call of `directory` reaches through local calls. A local call
// whose source is not a literal may reach every directory with configuration.
struct PackageText {
  std::filesystem::path root;                              // empty: there is no package
  std::string directory;                                   // of the called module
  std::map<std::string, ModuleText, std::less<>> modules;  // by directory
  std::map<std::string, TreeEntry, std::less<>> files;     // by name
  std::set<std::string, std::less<>> changed = {};         // files that the other package does not have like this

  // Errors: those of list_tree() and read_config_files().
  static Result<PackageText> read(const std::filesystem::path& root, const std::string& directory, ClientKind tool,
                                  const Context& context);
  PackageText() = default;
  PackageText(PackageText&&) = default;  // blocks point into files, whose place does not change
  PackageText& operator=(PackageText&&) = default;

  // Returns the directory that a call of a module names inside of the package; nullopt: elsewhere.
  std::optional<std::string> local_target(const ModuleText& module, const MergedBlock& call) const;
  // Returns the module of the package that a call names; null: there is none.
  const ModuleText* called(const ModuleText& module, const MergedBlock& call) const;
  // Returns the content of a file; of a link that is not to a file its target; empty if it cannot be read.
  std::string content(const TreeEntry& entry) const;
};

// Whether a list of words with one blank between them has a word.
bool is_in(std::string_view words, std::string_view word);

// Calls `visit(word, start)` with each run of characters that a condition selects, without the dots that end it.
template <typename Condition, typename Visit>
void visit_words(std::string_view text, Condition is_part, Visit visit) {
  for (auto at = std::ranges::find_if(text, is_part); at != text.end();) {
    const auto end = std::find_if_not(at, text.end(), is_part);
    const auto start = static_cast<std::size_t>(at - text.begin());
    std::string_view word = text.substr(start, static_cast<std::size_t>(end - at));
    while (word.size() > 1 && word.ends_with('.')) {
      word.remove_suffix(1);
    }
    visit(word, start);
    at = std::find_if(end, text.end(), is_part);
  }
}

// Returns an expression on one line as it is written.
std::string source_text(const ConfigText& file, const Range& range);

// Visits each attribute of a body and of the blocks in it.
void visit_attributes(const hcl::Body& body, const std::function<void(const hcl::Attribute&)>& visit);

// The names of an address without its keys: "module.net[0].aws_vpc.a" has four.
std::vector<std::string> address_names(const Argument& argument);

// Returns the static string of an argument; nullopt: there is none.
std::optional<std::string> literal_text(const Argument* argument);

// Whether a string is a path outside of the module that it is in.
bool is_outside_path(std::string_view text);

// Files that something names.
struct NamedFiles {
  std::string digest = {};             // of their content; empty: there is no such file
  std::set<std::string> changed = {};  // the first of those in PackageText::changed

  void add(const NamedFiles& more);
  // Returns what changed; empty: it is not known completely.
  std::set<std::string> causes() const { return changed.size() < kMostChanged ? changed : std::set<std::string>(); }

 private:
  static constexpr std::size_t kMostChanged = 100;
};

// A finding, and what decides whether another one says the same.
struct PackageFinding : messages::DiffFinding {
  std::string subject = {};           // "modules/db: aws_db_instance.a"
  std::set<std::string> causes = {};  // files that changed, or a text; none: it is the only one of its cause
};

// Leaves the first 4 parts of a finding, and counts the others.
void leave_first(std::vector<std::string>& parts);

// Digests of files of a package.
class FileContents {
 public:
  explicit FileContents(const PackageText& package) : package_(package) {}

  // Of a file that a module names, or of all files below a directory without a called module.
  NamedFiles at(const ModuleText& module, const std::string& path);
  // Of the files that a text of a module names: `tar -C ${path.module}/conf -f a.tar`.
  NamedFiles named_in(const ModuleText& module, const std::string& text);
  // Of the files whose paths in the package begin with `prefix`, and end with `ending` after it.
  const NamedFiles& matching(const std::string& prefix, const std::string& ending);
  // Who names the directory of a module may use the files in it: `make -C ${path.module}`.
  const NamedFiles& beside(const ModuleText& module);

 private:
  const NamedFiles& at(const std::string& path);
  // Of the files whose paths begin with `below` and whose names after it a condition selects.
  template <typename Condition>
  NamedFiles list(const std::string& below, Condition is_selected);

  const PackageText& package_;
  std::map<std::string, NamedFiles> by_path_;
  std::map<std::string, NamedFiles> by_pattern_;  // "conf/*", "*.json"
  std::map<std::string, NamedFiles> by_module_;   // beside()
};

}  // namespace modlock
