#include "plugin/diff/meaning.h"

#include <fmt/format.h>

#include <algorithm>

#include "backends/base/digest.h"
#include "plugin/diff/canonical_text.h"

namespace modlock {
namespace {

constexpr int kMostDeep = 12;                // names in names that are replaced
constexpr std::size_t kLongestText = 4'000;  // of a meaning; a longer one is a digest

// Arguments and blocks that only describe or order something.
constexpr std::string_view kWithoutEffect = "description depends_on lifecycle tags error_message";
// Types that pass values on: what they get is what a reference to them returns.
constexpr std::string_view kPassingTypes =
    "terraform_data null_resource local_file local_sensitive_file null_data_source template_dir";
constexpr std::string_view kFileReaders =
    "file filebase64 templatefile fileset filemd5 filesha1 filesha256 filesha512 filebase64sha256 filebase64sha512";
constexpr std::string_view kModuleDirectory = "${path.module}";

bool is_index(std::string_view name) {
  return !name.empty() && name.find_first_not_of("0123456789") == std::string_view::npos;
}

// Whether a text after `path.module` ends the path: it is the directory of the module itself.
bool ends_path(std::string_view text) {
  text.remove_prefix(text.starts_with("/.") ? 2 : text.starts_with('/') ? 1 : 0);
  return text.empty() || std::string_view(" \t\n\"'`\\;|&()<>=,:]").find(text[0]) != std::string_view::npos;
}

// The files that a name with values or wildcards in it may select.
NamedFiles matching(FileContents& files, const ModuleText& module, std::string_view text) {
  if (text.starts_with(kModuleDirectory)) {
    text.remove_prefix(std::min(kModuleDirectory.size() + 1, text.size()));
  }
  const std::size_t cut = text.find_first_of("*?[{\\$");
  if (cut == std::string_view::npos) {
    return files.at(module, std::string(text));
  }
  const std::string ending(text.substr(text.find_last_of("*?[]{}\\") + 1));
  const std::filesystem::path name(fmt::format("/{}/{}", module.directory, text.substr(0, cut)));
  return cut == 0 && ending.empty() && text[0] != '*' && text[0] != '?'
             ? NamedFiles()
             : files.matching(name.lexically_normal().generic_string().substr(1), ending);
}

const MergedBlock* find_block(const ModuleText& module, const std::string& address) {
  const auto found = module.by_address.find(address);
  return found == module.by_address.end() ? nullptr : found->second;
}

const Argument* find_local(const ModuleText& module, std::string_view name) {
  const auto found = module.locals.find(name);
  return found == module.locals.end() ? nullptr : &found->second;
}

// The module that a call names, and its output; null: it is not in the package.
LocalCall find_output(const PackageText& package, const ModuleText& module, const std::string& call,
                      const std::string& name) {
  const MergedBlock* block = find_block(module, call);
  const ModuleText* called = block == nullptr ? nullptr : package.called(module, *block);
  return {called, called == nullptr ? nullptr : find_block(*called, "output." + name)};
}

// Returns "modules/net: aws_vpc.a" for `module.net.aws_vpc.a`; empty for what is no resource of the package.
std::string place_of(const PackageText& package, const ModuleText* module, std::vector<std::string> names) {
  while (names.size() > 2 && names[0] == "module") {
    const MergedBlock* call = find_block(*module, "module." + names[1]);
    module = call == nullptr ? nullptr : package.called(*module, *call);
    if (module == nullptr) {
      return "";
    }
    names.erase(names.begin(), names.begin() + 2);
  }
  return names.size() == 2 ? fmt::format("{}{}.{}", module->scope, names[0], names[1]) : "";
}

}  // namespace

// Reads one part after another, then what they refer to in the order of the references: each name has a number.
class ClosureReader::Walk {
 public:
  Walk(ClosureReader& reader) : reader_(reader) {}

  // `user`: whose files the part may name too.
  void write(const ModuleText& module, const Part& part, bool reads_files, const ModuleText* user = nullptr) {
    std::vector<std::string> texts;
    std::vector<std::string> patterns;
    std::ptrdiff_t directories = 0;  // references to the directory itself
    const std::size_t first = open_.size();
    ExpressionVisit visit;
    visit.reference = [&](const std::vector<std::string>& names, const Range&) {
      if (names.size() == 2 && names[0] == "path") {
        directories += names[1] == "module" ? 1 : 0;
        out_.leads_outside = out_.leads_outside || names[1] != "module";
      }
    };
    visit.attribute = [&](const std::vector<std::string>& names, const std::string& attribute, const Range&) {
      auto all = names;
      all.push_back(attribute);
      follow(module, all);
    };
    visit.text = [&](const std::string& text, const Range&) { texts.push_back(text); };
    visit.call = [&](const std::string& name, const std::vector<std::string>& arguments, const Range&) {
      directories -= name == "fileset" && arguments[0] == "path.module" ? 1 : 0;
      for (std::size_t i = 0; is_in(kFileReaders, name) && i < arguments.size() && i < (name == "fileset" ? 2 : 1);
           ++i) {
        const bool is_text = arguments[i].starts_with('"');
        reads_files = reads_files || !is_text;
        if (is_text) {
          patterns.push_back(arguments[i].substr(1, arguments[i].size() - 2));
        }
      }
    };
    visit.replace = [&](const std::vector<std::string>& names) { return follow(module, names); };
    text_ += fmt::format("{} = {}\n", part.label, canonical_text(*part.value, part.file->path, visit));
    for (const std::string& text : texts) {
      out_.leads_outside = out_.leads_outside || is_outside_path(text);
      out_.files.add(reader_.files_.named_in(module, text));
      out_.files.add(user == nullptr ? NamedFiles() : reader_.files_.named_in(*user, text));
      for (std::size_t at = text.find(kModuleDirectory); at != std::string::npos;
           at = text.find(kModuleDirectory, at + 1)) {
        directories -= ends_path(std::string_view(text).substr(at + kModuleDirectory.size())) ? 0 : 1;
      }
    }
    patterns.insert(patterns.end(), texts.begin(), reads_files ? texts.end() : texts.begin());
    for (const std::string& pattern : patterns) {
      out_.files.add(matching(reader_.files_, module, pattern));
    }
    if (directories > 0) {
      out_.files.add(reader_.files_.beside(module));
    }
    for (std::size_t i = first; i < open_.size(); ++i) {
      open_[i].reads_files = reads_files;
    }
  }

  // Returns the number of a name.
  std::size_t number(const ModuleText& module, const std::string& address) {
    const auto [known, is_new] = numbers_.try_emplace(module.directory + " " + address, open_.size());
    if (is_new) {
      open_.push_back({&module, address});
    }
    return known->second;
  }

  Closure finish() {
    for (std::size_t i = 0; i < open_.size(); ++i) {
      const Name name = open_[i];
      text_ += fmt::format("@{}\n", i);
      write_name(*name.module, name.address, name.reads_files);
    }
    out_.digest = sha256_hex(text_);
    return std::move(out_);
  }

 private:
  struct Name {
    const ModuleText* module;
    std::string address;  // "local.a", "var.a", "module.a.out", "data.http.a", "conditions"
    bool reads_files = false;
  };

  NameText follow(const ModuleText& module, const std::vector<std::string>& names) {
    const std::size_t second = names.size() > 2 && is_index(names[2]) ? 3 : 2;
    const std::string address = names.size() > 1 ? names[0] + "." + names[1] : "";
    const auto at = [&](const std::string& found, std::size_t count) {
      return NameText{fmt::format("@{}", number(module, found)), count};
    };
    if ((names[0] == "local" && !address.empty() && find_local(module, names[1]) != nullptr) ||
        (names[0] == "var" && !address.empty() && find_block(module, "variable." + names[1]) != nullptr) ||
        (is_in(kPassingTypes, names[0]) && find_block(module, address) != nullptr)) {
      return at(address, 2);
    }
    if (names[0] == "data" && names.size() > 2 && find_block(module, address + "." + names[2]) != nullptr) {
      return at(address + "." + names[2], 3);
    }
    if (names[0] == "module" && names.size() > second &&
        find_output(reader_.package_, module, address, names[second]).second != nullptr) {
      return at(address + "." + names[second], second + 1);
    }
    return {names[0]};
  }

  void write_argument(const ModuleText& module, const Argument* argument, const std::string& label, bool reads_files,
                      const ModuleText* user = nullptr) {
    if (argument != nullptr) {
      write(module, {label, argument->file, &argument->attribute->value}, reads_files, user);
    }
  }

  void write_name(const ModuleText& module, const std::string& address, bool reads_files) {
    const std::string name = address.substr(address.find('.') + 1);
    if (address == "conditions") {
      for (const auto& [caller, call] : reader_.callers(module)) {
        for (const char* condition : {"count", "for_each", "enabled"}) {
          write_argument(*caller, call->find(condition), condition, false);
        }
        text_ += fmt::format("@{}\n", number(*caller, "conditions"));
      }
    } else if (address.starts_with("local.")) {
      write_argument(module, find_local(module, name), "", reads_files);
    } else if (address.starts_with("var.")) {
      const bool is_root = module.directory == reader_.package_.directory;
      text_ += is_root ? address : "";
      write_argument(module, find_block(module, "variable." + name)->find("default"), "", reads_files);
      for (const auto& [caller, call] : reader_.callers(module)) {
        write_argument(*caller, call->find(name), "", reads_files, &module);
      }
    } else if (address.starts_with("module.")) {
      const auto [called, output] = find_output(reader_.package_, module, address.substr(0, address.rfind('.')),
                                                address.substr(address.rfind('.') + 1));
      write_argument(*called, output->find("value"), "", reads_files);
    } else {
      std::vector<Part> parts;
      add_parts(*find_block(module, address), "", parts);
      for (const Part& part : parts) {
        write(module, part, reads_files);
      }
    }
  }

  ClosureReader& reader_;
  Closure out_;
  std::string text_;
  std::vector<Name> open_;
  std::map<std::string, std::size_t> numbers_;
};

ClosureReader::ClosureReader(const PackageText& package) : package_(package), files_(package) {
  for (const auto& [directory, module] : package.modules) {
    for (const MergedBlock& block : module.blocks) {
      if (const auto target = block.type == "module" ? package.local_target(module, block) : std::nullopt) {
        callers_[*target].emplace_back(&module, &block);
      }
    }
  }
}

void ClosureReader::add_parts(const MergedBlock& block, const std::string& label, std::vector<Part>& parts) {
  for (const auto& [name, argument] : block.arguments) {
    if (!is_in(kWithoutEffect, name)) {
      parts.push_back({label + name, argument.file, &argument.attribute->value});
    }
  }
  for (const auto& [file, inner] : block.blocks) {
    if (!is_in(kWithoutEffect, inner->type)) {
      add_parts(MergedBlock::of(*file, *inner),
                fmt::format("{}{}{}.", label, inner->type, inner->labels.empty() ? "" : inner->labels[0].text), parts);
    }
  }
}

Closure ClosureReader::read(const ModuleText& module, const std::vector<Part>& parts, bool has_conditions) {
  Walk walk(*this);
  for (const Part& part : parts) {
    walk.write(module, part, false);
  }
  if (has_conditions) {
    walk.number(module, "conditions");
  }
  return walk.finish();
}

MeaningReader::MeaningReader(const PackageText& package, const PackageText& other, const KnownNames& known, bool is_old)
    : package_(package), other_(other), known_(known), is_old_(is_old), closures_(package) {
  for (const auto& [directory, module] : package.modules) {
    for (const MergedBlock& block : module.blocks) {
      if (!is_old && block.type == "variable" && !block.labels.empty()) {
        read_members(module, block);
      }
    }
  }
}

// Reads the defaults of members that no caller could set before: those of its type, and those of the whole value.
void MeaningReader::read_members(const ModuleText& module, const MergedBlock& variable) {
  for (const std::string_view part : {"type", "default"}) {
    const Argument* argument = variable.find(part);
    ExpressionVisit visit;
    visit.member = [&](const std::string& name, const hcl::Expression& inner) {
      const hcl::FunctionCall* call = inner.function_call();
      const bool has_default = call != nullptr && call->name == "optional" && call->arguments.size() > 1;
      const hcl::Expression* value = part == "default" ? &inner : has_default ? &call->arguments[1] : nullptr;
      if (is_new_member(name)) {
        const std::string text =
            value == nullptr ? std::string(kMissing) : read({&module, argument->file}, *value).text;
        const auto [known, is_new] = members_.emplace(name, text);
        known->second = is_new || known->second == text ? text : "";
      }
    };
    if (argument != nullptr) {
      canonical_text(argument->attribute->value, argument->file->path, visit);
    }
  }
}

bool MeaningReader::is_shared(const ModuleText& module, const std::string& address) const {
  const auto theirs = other_.modules.find(module.directory);
  const auto defines = [&](const ModuleText& one) {
    return address.starts_with("local.") ? find_local(one, address.substr(6)) != nullptr
                                         : find_block(one, address) != nullptr;
  };
  return theirs != other_.modules.end() && defines(module) && defines(theirs->second);
}

std::string MeaningReader::renamed(const ModuleText& module, const std::string& address) const {
  const auto moved = is_old_ ? known_.moved.find(module.scope + address) : known_.moved.end();
  return moved == known_.moved.end() ? module.scope + address : moved->second;
}

const Meaning& MeaningReader::value_of(const ModuleText& module, const ConfigText& file, const hcl::Expression& value) {
  const auto known = values_.find(&value);
  return known != values_.end() ? known->second : values_[&value] = read({&module, &file}, value);
}

// Whether only callers of the package fill a variable: no local call of its module sets a value of its own.
bool MeaningReader::is_given(const ModuleText& module, const std::string& variable) {
  const auto [known, is_new] = given_.try_emplace(module.directory + " " + variable, false);
  if (is_new) {
    bool is_given = depth_ < kMostDeep;
    for (const auto& [caller, call] : callers(module)) {
      const Argument* argument = is_given ? call->find(variable) : nullptr;
      Place place{caller};
      if (const Argument* each = call->find("for_each")) {
        place.iterators["each"] = is_given && read(*caller, *each).is_given;
      }
      place.file = argument == nullptr ? nullptr : argument->file;
      is_given = is_given && (argument == nullptr || read(place, argument->attribute->value).is_given);
    }
    given_[module.directory + " " + variable] = is_given;
  }
  return given_[module.directory + " " + variable];
}

Meaning MeaningReader::read(const Place& place, const hcl::Expression& expression) {
  const ModuleText& module = *place.module;
  Meaning out;
  bool reads_files = false;
  ExpressionVisit visit;
  visit.call = [&](const std::string& name, const std::vector<std::string>&, const Range&) {
    reads_files = reads_files || is_in(kFileReaders, name);
  };
  visit.read_member = [&](const std::string& name, bool is_given) -> std::optional<std::string> {
    const auto found = members_.find(name);
    const bool is_known = !is_given || !is_new_member(name) || (found != members_.end() && found->second.empty());
    return is_known ? std::nullopt : std::optional(found == members_.end() ? std::string(kMissing) : found->second);
  };
  visit.replace = [&](const std::vector<std::string>& names) -> NameText {
    const std::string address = names.size() > 1 ? names[0] + "." + names[1] : names[0];
    if (const auto iterator = place.iterators.find(names[0]); iterator != place.iterators.end()) {
      return {address, std::min<std::size_t>(names.size(), 2), iterator->second && address.ends_with(".value")};
    }
    const bool is_variable = names[0] == "var";
    if (names.size() < 2 || (!is_variable && names[0] != "local")) {
      const std::string now = renamed(module, address);
      const std::string plain = now.starts_with(module.scope) ? now.substr(module.scope.size()) : address;
      return {plain, std::min<std::size_t>(names.size(), 2)};
    }
    out.uses.insert(module.scope + address);
    const MergedBlock* variable = is_variable ? find_block(module, "variable." + names[1]) : nullptr;
    const Argument* argument = !is_variable          ? find_local(module, names[1])
                               : variable != nullptr ? variable->find("default")
                                                     : nullptr;
    ++depth_;
    NameText found{address, 2, false};
    if (depth_ > kMostDeep) {
    } else if (argument == nullptr || is_shared(module, is_variable ? "variable." + names[1] : address)) {
      found.is_given =
          is_variable ? is_given(module, names[1])
                      : argument != nullptr && value_of(module, *argument->file, argument->attribute->value).is_given;
    } else {
      const hcl::Expression* value = &argument->attribute->value;
      for (const auto* object = std::get_if<hcl::Object>(&value->node); object != nullptr && found.count < names.size();
           object = std::get_if<hcl::Object>(&value->node)) {
        const auto item = std::find_if(object->items.begin(), object->items.end(), [&](const hcl::ObjectItem& one) {
          const auto* name = std::get_if<hcl::Variable>(&one.key.node);
          return name != nullptr && one.bare_key && name->name == names[found.count];
        });
        if (item == object->items.end()) {
          break;
        }
        value = &item->value;
        ++found.count;
      }
      const Meaning& meaning = value_of(module, *argument->file, *value);
      found.text = meaning.text;
      found.is_given = meaning.is_given;
      out.uses.insert(meaning.uses.begin(), meaning.uses.end());
      out.files.add(meaning.files);
    }
    --depth_;
    return found;
  };
  out.text = canonical_text(expression, place.file->path, visit, &out.is_given);
  if (reads_files) {
    out.files.add(closures_.read(module, {{"", place.file, &expression}}).files);
  }
  if (out.text.size() > kLongestText) {
    out.text = "#" + sha256_hex(out.text);
  }
  return out;
}

KnownNames known_names(const PackageText& before, const PackageText& after) {
  KnownNames known;
  ExpressionVisit visit;
  visit.member = [&](const std::string& name, const hcl::Expression&) { known.members.insert(name); };
  ExpressionVisit reads;
  reads.read_member = [&](const std::string& name, bool) {
    known.members.insert(name);
    return std::nullopt;
  };
  for (const auto& [directory, module] : before.modules) {
    for (const MergedBlock& block : module.blocks) {
      const Argument* type = block.type == "variable" ? block.find("type") : nullptr;
      if (type != nullptr) {
        canonical_text(type->attribute->value, type->file->path, visit);
      }
    }
    for (const ConfigText& file : module.files) {
      std::vector<const hcl::Body*> open = {&file.parsed.body};
      while (!open.empty()) {
        const hcl::Body& body = *open.back();
        open.pop_back();
        for (const hcl::Attribute& attribute : body.attributes) {
          canonical_text(attribute.value, file.path, reads);
        }
        std::transform(body.blocks.begin(), body.blocks.end(), std::back_inserter(open),
                       [](const hcl::Block& inner) { return &inner.body; });
      }
    }
  }
  for (const auto& [directory, module] : after.modules) {
    const auto old_module = before.modules.find(directory);
    for (const auto& [old_names, new_names] : module.moves()) {
      const std::string from =
          old_module == before.modules.end() ? "" : place_of(before, &old_module->second, old_names);
      const std::string to = place_of(after, &module, new_names);
      if (!from.empty() && !to.empty()) {
        known.moved.emplace(from, to);
      }
    }
  }
  return known;
}

}  // namespace modlock
