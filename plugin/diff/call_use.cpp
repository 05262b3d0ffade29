#include "plugin/diff/call_use.h"

#include "plugin/diff/canonical_text.h"

namespace modlock {
namespace {

class OutputFinder {
 public:
  OutputFinder(const ModuleCallSyntax& call, const std::string& directory, CallUse& use)
      : call_(call), directory_(directory), use_(use) {
    is_repeated_ = call.find("count").attribute != nullptr || call.find("for_each").attribute != nullptr;
    visit_.reference = [this](const std::vector<std::string>& names, const Range& range) { see(names, range); };
    visit_.attribute = [this](const std::vector<std::string>& names, const std::string& attribute, const Range& range) {
      if (names.size() == 2 && is_call(names)) {
        add(attribute, range);
        ++explained_;
      }
    };
  }

  void read(const ConfigText& file, const hcl::Body& body) {
    file_ = &file;
    for (const hcl::Attribute& attribute : body.attributes) {
      read(attribute.value);
    }
    for (const hcl::Block& block : body.blocks) {
      read(file, block.body);
    }
  }

 private:
  void read(const hcl::Expression& value) { canonical_text(value, file_->path, visit_); }

  bool is_call(const std::vector<std::string>& names) const { return names[0] == "module" && names[1] == call_.name; }

  void see(const std::vector<std::string>& names, const Range& range) {
    const std::size_t at = is_repeated_ ? 3 : 2;
    if (names.size() < 2 || !is_call(names)) {
      return;
    }
    if (names.size() > at) {
      add(names[at], range);
    } else if (explained_ > 0) {
      --explained_;  // the items of an attribute that is known
    } else {
      use_.uses_all_outputs = true;
    }
  }

  void add(const std::string& name, const Range& range) {
    use_.outputs.emplace(name, Location{join_relative(directory_, file_->path), range});
  }

  const ModuleCallSyntax& call_;
  const std::string& directory_;
  CallUse& use_;
  const ConfigText* file_ = nullptr;
  bool is_repeated_ = false;
  std::size_t explained_ = 0;
  ExpressionVisit visit_;
};

}  // namespace

CallUse find_call_use(const ModuleCallSyntax& call, std::span<const ConfigText> files, const std::string& directory) {
  CallUse use;
  use.call = {join_relative(directory, call.file->path), call.block->header_range};
  for (const auto& [name, argument] : call.arguments) {
    use.arguments.emplace(name, Location{join_relative(directory, argument.file->path), argument.attribute->range()});
  }
  OutputFinder finder(call, directory, use);
  for (const ConfigText& file : files) {
    finder.read(file, file.parsed.body);
  }
  return use;
}

}  // namespace modlock
