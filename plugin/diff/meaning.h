#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "plugin/diff/package_text.h"

namespace modlock {

struct Term;
using TermPtr = std::shared_ptr<const Term>;

// What an expression means: a constant, a reference, or a form with parts. Terms share parts.
struct Term {
  std::string head;
  std::vector<TermPtr> parts = {};
  std::string digest = {};     // the same if the meaning is the same
  bool is_constant = false;    // no reference and no call
  bool reads_objects = false;  // refers to a resource, a data source or a module call
  bool is_given = false;       // callers set it and its members
  std::size_t depth = 0;
};

// Whether a value is the same as none: null, an empty collection or an empty string.
bool is_empty(const TermPtr& term);
bool is_false(const TermPtr& term);

// The names that are known to a caller of the old package.
struct KnownNames {
  std::set<std::string, std::less<>> members = {};        // of values that callers set
  std::map<std::string, std::string> moved = {};          // "modules/db aws_db_instance.a" -> its new address
  std::map<std::string, std::string> moved_between = {};  // modules: "aws_vpc.a" -> "modules/net: aws_vpc.a"
};
KnownNames known_names(const PackageText& before, const PackageText& after);

// Reads the meaning of expressions of one of two packages. Variables, local values, outputs and members that the other
// package does not have are replaced by what they are as long as a caller changes nothing. What both have keeps its
// name: its definition is compared on its own.
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
  // `follows`: whether local values are replaced that both packages have.
  TermPtr read(const Place& place, const hcl::Expression& expression, bool follows);
  TermPtr read(const ModuleText& module, const Argument& argument, bool follows);
  // The default of a variable; null: it has none.
  TermPtr default_of(const ModuleText& module, const std::string& variable, bool follows);
  bool is_shared(const ModuleText& module, const std::string& address) const;
  const std::vector<std::pair<const ModuleText*, const MergedBlock*>>& callers(const std::string& directory);

  static bool defines(const ModuleText& module, const std::string& address);
  // The address that a moved block gives to a resource of this package.
  std::string renamed(const ModuleText& module, const std::string& address) const;
  // Whether no caller could set a member of this name before.
  bool is_new_member(const std::string& name) const;

 private:
  class Writer;
  struct Members {
    TermPtr object = nullptr;
    std::map<std::string_view, TermPtr> by_name = {};
    bool has_all_names = true;
  };
  TermPtr named(const ModuleText& module, const std::string& address, bool follows);
  TermPtr compute(const ModuleText& module, const std::string& address, bool follows);
  TermPtr new_member(const std::string& name);
  bool is_given(const ModuleText& module, const std::string& variable);
  TermPtr read_argument(const ModuleText& module, const MergedBlock& call, const Argument& argument);
  const Members& members_of(const TermPtr& object);
  void read_members(const ModuleText& module, const MergedBlock& variable);
  // Of the files that a path may name; empty: none is in the package.
  std::string file_digest(const ModuleText& module, const TermPtr& path);
  std::string ending_digest(const ModuleText& module, const std::string& ending);
  const std::string& name_and_content(const TreeEntry& entry);

  const PackageText& package_;
  const PackageText& other_;
  KnownNames& known_;
  bool is_old_;
  std::map<std::string, std::vector<std::pair<const ModuleText*, const MergedBlock*>>> callers_;  // by directory
  std::map<std::string, TermPtr, std::less<>> members_;  // defaults of new members; null: several
  std::map<std::string, std::string> file_digests_;      // by name, of name and content
  std::map<std::string, std::string> prefix_digests_;    // of all files whose names begin with it
  std::map<std::string, TermPtr> named_;
  std::map<std::string, bool> given_;  // variables, by directory and name
  std::map<const Term*, Members> by_object_;
  std::size_t depth_ = 0;
};

}  // namespace modlock
