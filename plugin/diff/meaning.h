#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plugin/diff/canonical_text.h"
#include "plugin/diff/package_text.h"

namespace modlock {

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

// A local call: the module with it, and its block.
using LocalCall = std::pair<const ModuleText*, const MergedBlock*>;

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
  // Of a block that runs code, without descriptions, dependencies and lifecycle: every file that it names counts.
  Meaning read(const ModuleText& module, const MergedBlock& block);

  // The files that an expression names, also by local values.
  struct Named {
    NamedFiles files = {};
    bool leads_outside = false;  // a path of it is outside of the module
  };
  // `is_code`: a name is any word, and who names the directory of a module may use all files in it.
  Named named_by(const ModuleText& module, const ConfigText& file, const hcl::Expression& value, bool is_code);

  // Whether both packages define a name of a module.
  bool is_shared(const ModuleText& module, const std::string& address) const;
  bool is_new_member(std::string_view name) const { return !is_old_ && known_.members.count(name) == 0; }
  std::string renamed(const ModuleText& module, const std::string& address) const;
  const std::vector<LocalCall>& callers(const ModuleText& module) { return callers_[module.directory]; }

 private:
  // What names mean; `user` uses them.
  NameText text_of(const Place& place, const std::vector<std::string>& names, Meaning& user);
  bool is_given(const ModuleText& module, const std::string& variable);
  const Meaning& value_of(const ModuleText& module, const ConfigText& file, const hcl::Expression& value);
  void read_members(const ModuleText& module, const MergedBlock& variable);
  NamedFiles matching(const ModuleText& module, std::string_view text);

  const PackageText& other_;
  const KnownNames& known_;
  bool is_old_;
  FileContents files_;
  std::map<std::string, std::vector<LocalCall>> callers_;    // by directory
  std::map<std::string, std::string, std::less<>> members_;  // defaults of new members; "": several
  std::map<const hcl::Expression*, Meaning> values_;
  std::map<std::string, bool> given_;  // variables, by directory and name
  int depth_ = 0;
};

// Visits an expression, the local values that it uses, and the defaults of variables. `reference` gets no range for
// those, and returns whether to follow a name.
void visit_with_names(const ModuleText& module, const ConfigText& file, const hcl::Expression& value,
                      ExpressionVisit visit,
                      const std::function<bool(const std::vector<std::string>&, const Range*)>& reference);

}  // namespace modlock
