#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "plugin/diff/package_text.h"

namespace modlock {

struct Term;
using TermPtr = std::shared_ptr<const Term>;

// A SHA-256, whose raw bytes need half of the memory.
struct TermDigest {
  std::array<char, 32> bytes = {};
  operator std::string_view() const { return {bytes.data(), bytes.size()}; }
  bool operator==(const TermDigest&) const = default;
};

// What an expression means: a constant, a reference, or a form with parts. Terms share parts.
struct Term {
  std::string head;
  std::vector<TermPtr> parts = {};
  TermDigest digest = {};                             // the same if the meaning is the same
  std::shared_ptr<const NamedFiles> files = nullptr;  // that it names, with a digest of both; null: none
  std::string unit = {};       // "modules/db: local.a": the local value or variable that it is, or is a member of
  bool is_member = false;      // of that unit
  bool is_constant = false;    // no reference and no call
  bool reads_objects = false;  // refers to a resource, a data source or a module call
  bool is_given = false;       // callers set it and its members
  const std::string* variable = nullptr;  // of the called module, if only this one gives it
  bool leads_outside = false;             // a string of it is a path outside of the module
  bool hides_null = false;                // a member of an object in it is null, which the digest leaves out
  std::size_t depth = 0;

  std::string_view digest_with_files() const {
    return files == nullptr ? std::string_view(digest) : std::string_view(files->digest);
  }
};

// Returns a term with these parts.
TermPtr term_of(std::vector<TermPtr> parts);
// Whether a value is the same as none: null, an empty collection or an empty string.
bool is_empty(const TermPtr& term);
bool is_false(const TermPtr& term);

// The names that are known to a caller of the old package.
struct KnownNames {
  std::map<std::string, std::set<std::string>> members = {};  // of values that callers set: their variables, or ""
  std::map<std::string, std::string> moved = {};              // "modules/db aws_db_instance.a" -> its new address
  std::map<std::string, std::string> moved_between = {};      // modules: "aws_vpc.a" -> "modules/net: aws_vpc.a"
};
KnownNames known_names(const PackageText& before, const PackageText& after);

// Which names are replaced by what they are, as long as a caller changes nothing.
enum class Follow {
  new_names,     // variables, local values, outputs and members that the other package does not have
  local_values,  // also local values that both have
  everything,    // all that a package defines, also data sources, and resources that only pass values on
};

// Reads the meaning of expressions of one of two packages. What keeps its name is compared on its own. The content of
// the files that strings name is a part of the meaning if everything is followed.
class MeaningReader {
 public:
  // `is_old`: whether all members are known: those that are read become so.
  MeaningReader(const PackageText& package, const PackageText& other, KnownNames& known, bool is_old);

  // `iterators`: what `each` and the dynamic blocks around repeat.
  struct Place {
    const ModuleText* module = nullptr;
    const ConfigText* file = nullptr;
    std::map<std::string, TermPtr, std::less<>> iterators = {};
  };
  TermPtr read(const Place& place, const hcl::Expression& expression, Follow follow);
  TermPtr read(const ModuleText& module, const Argument& argument, Follow follow);
  // Follows everything in a block except descriptions, dependencies and lifecycle.
  TermPtr read(const ModuleText& module, const MergedBlock& block);
  // Under which conditions the module is called: `count`, `for_each` and `enabled` of the local calls that reach it.
  TermPtr conditions_of(const ModuleText& module) { return named(module, "conditions", Follow::everything); }
  bool is_shared(const ModuleText& module, const std::string& address) const;
  const std::vector<std::pair<const ModuleText*, const MergedBlock*>>& callers(const std::string& directory);

  static bool defines(const ModuleText& module, const std::string& address);
  // The address that a moved block gives to a resource of this package.
  std::string renamed(const ModuleText& module, const std::string& address) const;
  // Whether no caller could set a member of this name before, in this variable of a module.
  bool is_new_member(const std::string& name, const ModuleText& module, const std::string& variable) const {
    return is_new_member(name, module.directory == package_.directory ? variable : "");
  }
  FileContents& files() { return files_; }

 private:
  class Writer;
  struct Members {
    TermPtr object = nullptr;
    std::map<std::string_view, TermPtr> by_name = {};
    bool has_all_names = true;
  };
  struct Name {
    const ModuleText* module;
    std::string address;  // "local.a", "variable.a", "module.a.out", "data.http.a", "conditions"
    Follow follow;
    bool is_started = false;
  };
  TermPtr named(const ModuleText& module, const std::string& address, Follow follow);
  bool is_replaced(const ModuleText& module, const std::string& address, Follow follow) const;
  TermPtr compute(const ModuleText& module, const std::string& address, Follow follow);
  TermPtr compute_variable(const ModuleText& module, const std::string& name, Follow follow);
  TermPtr compute_conditions(const ModuleText& module);
  // The module that a call names, and its output; null: it is not in the package.
  std::pair<const ModuleText*, const MergedBlock*> find_output(const ModuleText& module,
                                                               const std::string& address) const;
  // Adds the content of the files that texts name in a module: those of the term, or also those of its parts.
  TermPtr with_files(const ModuleText& module, TermPtr term, bool with_parts);
  TermPtr new_member(const std::string& name, const Term& object);
  bool is_new_member(const std::string& name, const std::string& variable) const;
  bool is_given(const ModuleText& module, const std::string& variable);
  TermPtr read_argument(const ModuleText& module, const MergedBlock& call, const Argument& argument);
  const Members& members_of(const TermPtr& object);
  void read_members(const ModuleText& module, const MergedBlock& variable);
  // The files of the package that a path may name.
  NamedFiles files_of(const ModuleText& module, const TermPtr& path);

  const PackageText& package_;
  const PackageText& other_;
  KnownNames& known_;
  bool is_old_;
  std::map<std::string, std::vector<std::pair<const ModuleText*, const MergedBlock*>>> callers_;  // by directory
  std::map<std::string, TermPtr, std::less<>> members_;  // defaults of new members; null: several
  FileContents files_;
  std::map<std::string, TermPtr> named_;
  std::unordered_map<std::string_view, TermPtr> constants_;  // by digest: equal ones are stored once
  std::vector<Name>* missing_ = nullptr;  // receives the names that are not known yet; null: they are computed
  std::map<std::string, bool> given_;     // variables, by directory and name
  std::map<const Term*, Members> by_object_;
  std::size_t depth_ = 0;
};

}  // namespace modlock
