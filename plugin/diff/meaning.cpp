#include "plugin/diff/meaning.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "backends/base/digest.h"
#include "plugin/diff/canonical_text.h"

namespace modlock {
namespace {

constexpr int kMostDeep = 12;                // names in names that are replaced
constexpr std::size_t kLongestText = 4'000;  // of a meaning; a longer one is a digest

// Arguments and blocks that only describe or order something.
constexpr std::string_view kWithoutEffect = "description depends_on lifecycle tags error_message";
constexpr std::string_view kFileReaders =
    "file filebase64 templatefile fileset filemd5 filesha1 filesha256 filesha512 filebase64sha256 filebase64sha512";
constexpr std::string_view kModuleDirectory = "${path.module}";

constexpr std::string_view kPathEnds = " \t\n\"'`\\;|&()<>=,:]";
constexpr std::size_t kMostFollowed = 100;  // local values of an argument

const MergedBlock* find_block(const ModuleText& module, const std::string& address) {
  const auto found = module.by_address.find(address);
  return found == module.by_address.end() ? nullptr : found->second;
}

const Argument* find_local(const ModuleText& module, std::string_view name) {
  const auto found = module.locals.find(name);
  return found == module.locals.end() ? nullptr : &found->second;
}

// The value of a local value, or the default of a variable; null: there is none.
const Argument* find_value(const ModuleText& module, const std::vector<std::string>& names) {
  if (names.size() < 2 || names[0] != "var") {
    return names.size() > 1 && names[0] == "local" ? find_local(module, names[1]) : nullptr;
  }
  const MergedBlock* variable = find_block(module, "variable." + names[1]);
  return variable == nullptr ? nullptr : variable->find("default");
}

// By module and old name: the names that moved blocks give.
using Moves = std::map<const ModuleText*, std::map<std::string, std::vector<std::string>>>;

// Replaces what a moved block of the module renames in an address. Returns false if there is none.
bool follow_move(const Moves& all, const ModuleText& module, std::vector<std::string>& names) {
  const auto moves = all.find(&module);
  for (std::size_t count = names.size(); moves != all.end() && count >= 2; --count) {
    const auto rest = names.begin() + static_cast<std::ptrdiff_t>(count);
    const auto move = moves->second.find(fmt::format("{}", fmt::join(names.begin(), rest, ".")));
    if (move != moves->second.end()) {
      std::vector<std::string> next = move->second;
      next.insert(next.end(), rest, names.end());
      names = std::move(next);
      return true;
    }
  }
  return false;
}

// Returns "modules/net: aws_vpc.a" for `module.net.aws_vpc.a`, also after moves; empty for what is not declared.
std::string place_of(const PackageText& package, const ModuleText* module, std::vector<std::string> names,
                     const Moves& moves = {}) {
  constexpr int kMostSteps = 100;
  for (int step = 0; step < kMostSteps && module != nullptr && names.size() >= 2; ++step) {
    const MergedBlock* block = find_block(*module, names[0] + "." + names[1]);
    const bool is_inside = block != nullptr && names[0] == "module" && names.size() > 2;
    if (block != nullptr && (!is_inside || !package.local_target(*module, *block))) {
      return fmt::format("{}{}", module->scope, fmt::join(names, "."));
    }
    if (is_inside) {
      module = package.called(*module, *block);
      names.erase(names.begin(), names.begin() + 2);
    } else if (!follow_move(moves, *module, names)) {
      return "";
    }
  }
  return "";
}

// Returns the value of the names after the first two, as far as an object has it; counts them.
const hcl::Expression& member_value(const hcl::Expression& value, const std::vector<std::string>& names,
                                    std::size_t& count) {
  const auto* object = std::get_if<hcl::Object>(&value.node);
  if (object == nullptr || count == names.size()) {
    return value;
  }
  const auto item = std::ranges::find_if(object->items, [&](const hcl::ObjectItem& one) {
    const auto* name = std::get_if<hcl::Variable>(&one.key.node);
    return name != nullptr && one.bare_key && name->name == names[count];
  });
  return item == object->items.end() ? value : member_value(item->value, names, ++count);
}

}  // namespace

MeaningReader::MeaningReader(const PackageText& package, const PackageText& other, const KnownNames& known, bool is_old)
    : other_(other), known_(known), is_old_(is_old), files_(package) {
  for (const auto& [directory, module] : package.modules) {
    for (const MergedBlock& block : module.blocks) {
      if (const auto target = block.type == "module" ? package.local_target(module, block) : std::nullopt) {
        callers_[*target].emplace_back(&module, &block);
      }
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

NameText MeaningReader::text_of(const Place& place, const std::vector<std::string>& names, Meaning& user) {
  const ModuleText& module = *place.module;
  const std::string address = names.size() > 1 ? names[0] + "." + names[1] : names[0];
  NameText found{address, std::min<std::size_t>(names.size(), 2), false};
  if (const auto iterator = place.iterators.find(names[0]); iterator != place.iterators.end()) {
    found.is_given = iterator->second && address.ends_with(".value");
    return found;
  }
  const bool is_variable = names[0] == "var";
  if (names.size() < 2 || (!is_variable && names[0] != "local")) {
    const std::string now = renamed(module, address);
    found.text = now.starts_with(module.scope) ? now.substr(module.scope.size()) : address;
    return found;
  }
  user.uses.insert(module.scope + address);
  const Argument* argument = find_value(module, names);
  if (depth_ == kMostDeep) {
    return found;
  }
  ++depth_;
  if (is_variable && (argument == nullptr || is_shared(module, "variable." + names[1]))) {
    found.is_given = is_given(module, names[1]);
  } else if (argument != nullptr && !is_variable && is_shared(module, address)) {
    found.is_given = value_of(module, *argument->file, argument->attribute->value).is_given;
  } else if (argument != nullptr) {
    const hcl::Expression& value = member_value(argument->attribute->value, names, found.count);
    const Meaning& meaning = value_of(module, *argument->file, value);
    found.text = meaning.text;
    found.is_given = meaning.is_given;
    user.uses.insert(meaning.uses.begin(), meaning.uses.end());
    user.files.add(meaning.files);
  }
  --depth_;
  return found;
}

Meaning MeaningReader::read(const Place& place, const hcl::Expression& expression) {
  Meaning out;
  bool reads_files = false;
  ExpressionVisit visit;
  visit.call = [&](const std::string& name, const std::vector<std::string>&, const Range&) {
    reads_files = reads_files || is_in(kFileReaders, name);
  };
  visit.text = [&](const std::string& text, const Range&) {
    reads_files = reads_files || text.find(kModuleDirectory) != std::string::npos;
  };
  visit.read_member = [&](const std::string& name, bool is_given) -> std::optional<std::string> {
    const auto found = members_.find(name);
    const bool is_known = !is_given || !is_new_member(name) || (found != members_.end() && found->second.empty());
    return is_known ? std::nullopt : std::optional(found == members_.end() ? std::string(kMissing) : found->second);
  };
  visit.replace = [&](const std::vector<std::string>& names) { return text_of(place, names, out); };
  out.text = canonical_text(expression, place.file->path, visit, &out.is_given);
  if (reads_files) {
    out.files.add(named_by(*place.module, *place.file, expression, false).files);
  }
  if (out.text.size() > kLongestText) {
    out.text = "#" + sha256_hex(out.text);
  }
  return out;
}

Meaning MeaningReader::read(const ModuleText& module, const MergedBlock& block) {
  Meaning out;
  const auto add = [&](const std::string& name, Meaning part) {
    out.text += fmt::format("{} = {}\n", name, part.text);
    out.files.add(part.files);
  };
  for (const auto& [name, argument] : block.arguments) {
    if (!is_in(kWithoutEffect, name)) {
      add(name, read(module, argument));
      out.files.add(named_by(module, *argument.file, argument.attribute->value, true).files);
    }
  }
  for (const auto& [file, inner] : block.blocks) {
    if (!is_in(kWithoutEffect, inner->type)) {
      add(inner->type + (inner->labels.empty() ? "" : inner->labels[0].text),
          read(module, MergedBlock::of(*file, *inner)));
    }
  }
  return out;
}

// The files that a name with values or wildcards in it may select.
NamedFiles MeaningReader::matching(const ModuleText& module, std::string_view text) {
  if (text.starts_with(kModuleDirectory)) {
    text.remove_prefix(std::min(kModuleDirectory.size() + 1, text.size()));
  }
  const std::size_t cut = text.find_first_of("*?[{\\$");
  if (cut == std::string_view::npos) {
    return files_.at(module, std::string(text));
  }
  const std::string ending(text.substr(text.find_last_of("*?[]{}\\") + 1));
  const std::filesystem::path name(fmt::format("/{}/{}", module.directory, text.substr(0, cut)));
  return cut == 0 && ending.empty() && text[0] != '*' && text[0] != '?'
             ? NamedFiles()
             : files_.matching(name.lexically_normal().generic_string().substr(1), ending);
}

MeaningReader::Named MeaningReader::named_by(const ModuleText& module, const ConfigText& file,
                                             const hcl::Expression& value, bool is_code) {
  Named out;
  std::set<std::string> patterns;
  std::set<std::string> texts;
  bool reads_values = false;       // the name of a file is not only a string
  std::ptrdiff_t directories = 0;  // references to the directory itself
  ExpressionVisit visit;
  visit.text = [&](const std::string& text, const Range&) {
    texts.insert(text);
    for (std::size_t at = text.find(kModuleDirectory); at != std::string::npos; at = text.find(kModuleDirectory, at)) {
      at += kModuleDirectory.size();
      const std::size_t skipped = text.compare(at, 2, "/.") == 0 ? 2 : text.compare(at, 1, "/") == 0 ? 1 : 0;
      const std::string path = text.substr(at + skipped, text.find_first_of(kPathEnds, at + skipped) - at - skipped);
      directories -= path.empty() || path[0] == '$' ? 0 : 1;
      patterns.insert(path.empty() ? "" : (skipped == 2 ? "." : "") + path);
    }
  };
  visit.call = [&](const std::string& name, const std::vector<std::string>& arguments, const Range&) {
    directories -= name == "fileset" && arguments[0] == "path.module" ? 1 : 0;
    for (std::size_t i = 0;
         is_in(kFileReaders, name) && i < std::min<std::size_t>(arguments.size(), name == "fileset" ? 2 : 1); ++i) {
      const bool is_text = arguments[i].starts_with('"');
      reads_values = reads_values || !is_text;
      patterns.insert(is_text ? arguments[i].substr(1, arguments[i].size() - 2) : "");
    }
  };
  visit_with_names(module, file, value, visit, [&](const std::vector<std::string>& names, const Range*) {
    if (names.size() == 2 && names[0] == "path") {
      directories += names[1] == "module" ? 1 : 0;
      out.leads_outside = out.leads_outside || names[1] != "module";
    }
    return true;
  });
  for (const std::string& text : texts) {
    out.leads_outside = out.leads_outside || is_outside_path(text);
    out.files.add(is_code ? files_.named_in(module, text) : NamedFiles());
    if (reads_values) {
      patterns.insert(text);
    }
  }
  patterns.erase("");
  for (const std::string& pattern : patterns) {
    out.files.add(matching(module, pattern));
  }
  out.files.add(is_code && directories > 0 ? files_.beside(module) : NamedFiles());
  return out;
}

void visit_with_names(const ModuleText& module, const ConfigText& file, const hcl::Expression& value,
                      ExpressionVisit visit,
                      const std::function<bool(const std::vector<std::string>&, const Range*)>& reference) {
  std::vector<std::pair<const ConfigText*, const hcl::Expression*>> open = {{&file, &value}};
  std::size_t at = 0;
  visit.reference = [&](const std::vector<std::string>& names, const Range& range) {
    if (!reference(names, at == 0 ? &range : nullptr)) {
      return;
    }
    const Argument* named = find_value(module, names);
    if (named == nullptr || open.size() >= kMostFollowed) {
      return;
    }
    const std::pair next(named->file, &named->attribute->value.tree());
    if (std::ranges::find(open, next) == open.end()) {
      open.push_back(next);
    }
  };
  for (; at < open.size(); ++at) {
    canonical_text(*open[at].second, open[at].first->path, visit);
  }
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
      visit_attributes(file.parsed.body,
                       [&](const hcl::Attribute& attribute) { canonical_text(attribute.value, file.path, reads); });
    }
  }
  Moves moves;
  for (const auto& [directory, module] : after.modules) {
    for (auto& [from, to] : module.moves()) {
      moves[&module].emplace(fmt::format("{}", fmt::join(from, ".")), std::move(to));
    }
  }
  for (const auto& [directory, module] : after.modules) {
    const auto old_module = before.modules.find(directory);
    for (const auto& [from, to] : module.moves()) {
      const std::string now = old_module == before.modules.end() ? "" : place_of(after, &module, to, moves);
      if (!now.empty()) {
        known.moved.emplace(place_of(before, &old_module->second, from), now);
      }
    }
  }
  return known;
}

}  // namespace modlock
