#include "plugin/diff/call_use.h"

#include "plugin/diff/canonical_text.h"
#include "plugin/diff/package_text.h"

namespace modlock {
namespace {

class OutputFinder {
 public:
  explicit OutputFinder(const std::string& directory) : directory_(directory) {
    visit_.reference = [this](const std::vector<std::string>& names, const Range& range) { see(names, range); };
    visit_.attribute = [this](const std::vector<std::string>& names, const std::string& attribute, const Range& range) {
      if (Call* const call = names.size() == 2 ? find_call(names) : nullptr) {
        add(*call, attribute, range);
        ++call->explained;
      }
    };
  }

  void add_call(const ModuleCallSyntax& call, CallUse& use) {
    const bool is_repeated = call.find("count").attribute != nullptr || call.find("for_each").attribute != nullptr;
    calls_.emplace(call.name, Call{&use, is_repeated});
  }

  void read(const ConfigText& file) {
    file_ = &file;
    visit_attributes(file.parsed.body,
                     [&](const hcl::Attribute& attribute) { canonical_text(attribute.value, file.path, visit_); });
  }

 private:
  struct Call {
    CallUse* use = nullptr;
    bool is_repeated = false;
    std::size_t explained = 0;
  };

  Call* find_call(const std::vector<std::string>& names) {
    const auto found = names.size() < 2 || names[0] != "module" ? calls_.end() : calls_.find(names[1]);
    return found == calls_.end() ? nullptr : &found->second;
  }

  void see(const std::vector<std::string>& names, const Range& range) {
    Call* const call = find_call(names);
    if (call == nullptr) {
      return;
    }
    const std::size_t at = call->is_repeated ? 3 : 2;
    if (names.size() > at) {
      add(*call, names[at], range);
    } else if (call->explained > 0) {
      --call->explained;  // the items of an attribute that is known
    } else {
      call->use->uses_all_outputs = true;
    }
  }

  void add(const Call& call, const std::string& name, const Range& range) {
    call.use->outputs.emplace(name, Location{join_relative(directory_, file_->path), range});
  }

  const std::string& directory_;
  const ConfigText* file_ = nullptr;
  std::map<std::string, Call> calls_;
  ExpressionVisit visit_;
};

}  // namespace

std::map<std::string, CallUse> find_call_uses(std::span<const ModuleCallSyntax> calls,
                                              std::span<const ConfigText> files, const std::string& directory) {
  std::map<std::string, CallUse> uses;
  OutputFinder finder(directory);
  for (const ModuleCallSyntax& call : calls) {
    CallUse& use = uses[call.name];
    use.call = {join_relative(directory, call.file->path), call.block->header_range};
    for (const auto& [name, argument] : call.arguments) {
      use.arguments.emplace(name, Location{join_relative(directory, argument.file->path), argument.attribute->range()});
    }
    finder.add_call(call, use);
  }
  for (const ConfigText& file : files) {
    finder.read(file);
  }
  return uses;
}

}  // namespace modlock
