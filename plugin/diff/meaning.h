#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plugin/diff/package_text.h"

namespace modlock {

// A local call: the module with it, and its block.
using LocalCall = std::pair<const ModuleText*, const MergedBlock*>;

// All that something depends on in its package.
struct Closure {
  std::string digest = {};     // the same if the text of all of it is the same; names of local values do not matter
  NamedFiles files = {};       // that it names
  bool leads_outside = false;  // a string of it is a path outside of the module

  std::string with_files() const { return digest + files.digest; }
};

// Follows local values, defaults and arguments of variables, outputs of local modules, data sources, resources that
// only pass values on, and files.
class ClosureReader {
 public:
  explicit ClosureReader(const PackageText& package);

  struct Part {
    std::string label;
    const ConfigText* file = nullptr;
    const hcl::Expression* value = nullptr;
  };
  // Of a block, without descriptions, dependencies and lifecycle.
  static void add_parts(const MergedBlock& block, const std::string& label, std::vector<Part>& parts);
  // `has_conditions`: also of what decides whether the module is called.
  Closure read(const ModuleText& module, const std::vector<Part>& parts, bool has_conditions = false);
  const std::vector<LocalCall>& callers(const ModuleText& module) { return callers_[module.directory]; }
  FileContents& files() { return files_; }

 private:
  class Walk;
  const PackageText& package_;
  FileContents files_;
  std::map<std::string, std::vector<LocalCall>> callers_;  // by directory
};

// The names that are known to a caller of the old package.
struct KnownNames {
  std::set<std::string, std::less<>> members = {};  // that the old package reads of a value
  std::map<std::string, std::string> moved = {};    // "modules/db: aws_db_instance.a" -> its new address
};
KnownNames known_names(const PackageText& before, const PackageText& after);

// What an expression means as long as a caller changes nothing.
struct Meaning {
  std::string text = {};            // simplified; names that only this package has are replaced
  NamedFiles files = {};            // that it reads
  bool is_given = false;            // only callers set it
  std::set<std::string> uses = {};  // local values and variables: "modules/db: local.a"

  std::string with_files() const { return text + files.digest; }
};

class MeaningReader {
 public:
  // `is_old`: all names of the package are known.
  MeaningReader(const PackageText& package, const PackageText& other, const KnownNames& known, bool is_old);

  struct Place {
    const ModuleText* module = nullptr;
    const ConfigText* file = nullptr;
    std::map<std::string, bool, std::less<>> iterators = {};  // whether only callers set what they repeat
  };
  Meaning read(const Place& place, const hcl::Expression& expression);
  Meaning read(const ModuleText& module, const Argument& argument) {
    return read({&module, argument.file}, argument.attribute->value);
  }
  // Whether both packages define a name of a module.
  bool is_shared(const ModuleText& module, const std::string& address) const;
  bool is_new_member(std::string_view name) const { return !is_old_ && known_.members.count(name) == 0; }
  std::string renamed(const ModuleText& module, const std::string& address) const;
  const std::vector<LocalCall>& callers(const ModuleText& module) { return closures_.callers(module); }

 private:
  struct NameValue;
  bool is_given(const ModuleText& module, const std::string& variable);
  const Meaning& value_of(const ModuleText& module, const ConfigText& file, const hcl::Expression& value);
  void read_members(const ModuleText& module, const MergedBlock& variable);

  const PackageText& package_;
  const PackageText& other_;
  const KnownNames& known_;
  bool is_old_;
  ClosureReader closures_;
  std::map<std::string, std::string, std::less<>> members_;  // defaults of new members; "": several
  std::map<const hcl::Expression*, Meaning> values_;
  std::map<std::string, bool> given_;  // variables, by directory and name
  int depth_ = 0;
};

}  // namespace modlock
