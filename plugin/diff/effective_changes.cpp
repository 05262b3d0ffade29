#include "plugin/diff/effective_changes.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <set>
#include <string_view>

#include "backends/base/ascii.h"
#include "backends/base/digest.h"
#include "plugin/diff/canonical_text.h"
#include "plugin/diff/meaning.h"
#include "protocol/base/utf8.h"

namespace modlock {
namespace {

// Arguments that name or describe something.
bool is_label(std::string_view name) {
  return name.ends_with("_tags") ||
         is_in("tags tags_all labels name name_prefix display_name description propagate_at_launch", name);
}

// Whether a label of a resource has an effect: it selects a firewall rule or a policy, or is a host name.
bool is_effective_label(std::string_view type, std::string_view name) {
  const bool is_dns = type.find("record") != std::string_view::npos || type.find("dns") != std::string_view::npos;
  return (name == "tags" && type.starts_with("google_")) || (name == "labels" && type.starts_with("kubernetes_")) ||
         (name == "name" && is_dns);
}

// Arguments of nested blocks and data sources without an effect.
constexpr std::string_view kNotes = "description propagate_at_launch";

// Blocks without an effect on what a resource does, or that other rules compare.
bool is_harmless_block(std::string_view outer, std::string_view name) {
  return name == "tag_specifications" || (outer.empty() && name == "timeouts") ||
         (outer == "lifecycle" && is_in("precondition postcondition", name));
}

// Whether an expression is only a version: "1.2.0".
bool is_version(std::string_view text) {
  return text.size() > 2 && text[0] == '"' && text.find_first_not_of("v.0123456789", 1) == text.size() - 1;
}

// One expression of a block.
struct Leaf {
  Meaning meaning;
  std::string shown;
  Location location;
  std::string feeds = {};  // "modules/db: var.name": it has an effect if this variable of a local call has one
  bool is_new = false;     // a default of a member that no caller could set before
  bool is_absent = false;  // it is empty, which has no effect
};

// A block.
struct Node {
  std::map<std::string, Leaf> leaves = {};  // "": a block without arguments; a local value or an output
  std::vector<std::pair<std::string, Node>> blocks = {};
  std::string text = {};  // of all of it, in any order
};

// A resource, a data source, a module call, a local value, a variable or an output.
struct Unit {
  const ModuleText* module = nullptr;
  std::string type;  // of the block; "local"; "code": only its uses count
  std::string kind;  // the first label
  std::string name;  // "modules/db: aws_db_instance.a"
  Node node = {};
  Node code = {};  // what other rules compare: provisioners, and blocks of other types
  Location location = {};
  std::map<std::string, Location, std::less<>> secrets = {};  // that tags, names and descriptions refer to
  bool is_external = false;                                   // a call of a module outside of the package
  const ModuleText* called = nullptr;                         // by a local call
  bool is_created = true;  // a call of the package reaches it although the caller sets nothing new
  bool runs_code = false;  // it has a provisioner, which another rule names

  bool is_object() const { return is_in("resource data module", type); }
};

const Node kNoBlock;

using Units = std::map<std::string, Unit, std::less<>>;

class UnitReader {
 public:
  UnitReader(const PackageText& package, const PackageText& other, const KnownNames& known, bool is_old)
      : package_(package), meanings_(package, other, known, is_old) {}

  Units read(const Context& context) {
    find_called(context);
    for (const auto& [directory, module] : package_.modules) {
      for (const MergedBlock& block : module.blocks) {
        if (!context.check()) {
          return std::move(units_);
        }
        read_block(module, block);
      }
      for (const auto& [name, argument] : module.locals) {
        if (meanings_.is_shared(module, "local." + name)) {
          Unit& unit = add(module, "local", "", "local." + name, {argument.file->path, argument.attribute->name_range});
          place_ = {&module, argument.file};
          add_leaf(unit.node, "", argument);
        }
      }
    }
    return std::move(units_);
  }

 private:
  // Finds the directories that calls reach whose condition may be true.
  void find_called(const Context& context) {
    std::vector<std::string> open = {package_.directory};
    while (!open.empty() && context.check()) {
      const auto module = package_.modules.find(open.back());
      open.pop_back();
      if (module == package_.modules.end() || !called_.insert(module->first).second) {
        continue;
      }
      for (const MergedBlock& block : module->second.blocks) {
        const ModuleText* called = package_.called(module->second, block);
        if (called != nullptr && is_created(module->second, block)) {
          open.push_back(called->directory);
        }
      }
    }
  }

  bool is_created(const ModuleText& module, const MergedBlock& block) {
    for (const char* name : {"count", "for_each"}) {
      const Argument* argument = block.find(name);
      const std::string text = argument == nullptr ? "1" : value_of(module, *argument);
      if (is_empty_text(text) || text == "0") {
        return false;
      }
    }
    return std::ranges::none_of(block.blocks, [&](const auto& inner) {
      const auto& [file, lifecycle] = inner;
      const hcl::Attribute* enabled = lifecycle->type == "lifecycle" ? lifecycle->body.find("enabled") : nullptr;
      return enabled != nullptr && is_in("false null", value_of(module, {enabled, file}));
    });
  }

  // The text of a value, also of a local value that both packages have.
  std::string value_of(const ModuleText& module, const Argument& argument) {
    return local_of(module, meanings_.read(module, argument).text);
  }
  std::string local_of(const ModuleText& module, const std::string& text) {
    const auto local = text.starts_with("local.") ? module.locals.find(text.substr(6)) : module.locals.end();
    return local == module.locals.end() ? text : meanings_.read(module, local->second).text;
  }

  Unit& add(const ModuleText& module, const std::string& type, const std::string& kind, const std::string& name,
            Location location) {
    return units_
        .try_emplace(meanings_.renamed(module, name), Unit{.module = &module,
                                                           .type = type,
                                                           .kind = kind,
                                                           .name = module.scope + name,
                                                           .location = std::move(location)})
        .first->second;
  }

  void read_block(const ModuleText& module, const MergedBlock& block) {
    const std::string& type = block.type;
    const std::string address = block.address();
    const Location location = {block.file->path, block.block->header_range};
    place_ = {&module, block.file};
    if (is_in("provider ephemeral action import removed check", type)) {
      Unit& unit = add(module, "code", "", fmt::format("{} {}", address, units_.size()), location);
      unit.name = module.scope + address;
      read_body(unit.code, *block.file, *block.block, type);
    }
    if (block.labels.empty()) {
      return;
    }
    if (is_in("resource data module", type)) {
      read_object(add(module, type, block.labels[0], address, location), block);
    } else if (type == "variable" && meanings_.is_shared(module, address)) {
      Unit& unit = add(module, type, block.labels[0], "var." + block.labels[0], location);
      const auto& callers = meanings_.callers(module);
      const bool is_set = module.directory != package_.directory && !callers.empty() &&
                          std::ranges::all_of(callers, [&](const auto& caller) {
                            return caller.second->find(block.labels[0]) != nullptr;
                          });
      if (const Argument* value = is_set ? nullptr : block.find("default")) {
        add_leaf(unit.node, "default", *value);
      }
      if (const Argument* value = block.find("type")) {
        read_type(unit, *value->file, "", value->attribute->value);
      }
    } else if (type == "output" && meanings_.is_shared(module, address)) {
      if (const Argument* value = block.find("value")) {
        Unit& unit = add(module, type, "", address, location);
        unit.is_created = called_.count(module.directory) != 0;
        add_leaf(unit.node, "", *value);
      }
    }
  }

  // Defaults in a type: optional(string, "required").
  void read_type(Unit& unit, const ConfigText& file, const std::string& path, const hcl::Expression& type) {
    if (const auto* object = std::get_if<hcl::Object>(&type.node)) {
      for (const hcl::ObjectItem& item : object->items) {
        const auto* name = std::get_if<hcl::Variable>(&item.key.node);
        if (name != nullptr) {
          read_type(unit, file, path.empty() ? name->name : path + "." + name->name, item.value);
        }
      }
      return;
    }
    const hcl::FunctionCall* call = type.function_call();
    if (call == nullptr || call->arguments.empty()) {
      return;
    }
    if (call->name == "optional" && call->arguments.size() > 1) {
      add_leaf(unit.node, path, file, call->arguments[1]).is_new =
          meanings_.is_new_member(path.substr(path.rfind('.') + 1));
    }
    read_type(unit, file, path, call->arguments[0]);
  }

  void read_object(Unit& unit, const MergedBlock& block) {
    if (const Argument* each = block.find("for_each")) {
      place_.iterators["each"] = meanings_.read(*unit.module, *each).is_given;
    }
    unit.is_created = called_.count(unit.module->directory) != 0 && is_created(*unit.module, block);
    unit.called = package_.called(*unit.module, block);
    object_ = &unit.node;
    const Argument* source = block.type == "module" ? block.find("source") : nullptr;
    if (source != nullptr && !package_.local_target(*unit.module, block)) {
      unit.is_external = true;
      unit.location = {source->file->path, source->attribute->range()};
    }
    for (const auto& [name, argument] : block.arguments) {
      if (!(block.type == "module" && is_in("source version", name))) {
        read_secrets(unit, name, argument);
        read_argument(unit, name, argument);
      }
    }
    for (const auto& [file, inner] : block.blocks) {
      const bool is_code = is_in("provisioner connection", inner->type);
      unit.runs_code = unit.runs_code || inner->type == "provisioner";
      read_secrets(unit, *file, *inner, "");
      read_body(is_code ? unit.code : unit.node, *file, *inner, is_code ? inner->type : "");
    }
  }

  void read_argument(Unit& unit, const std::string& name, const Argument& argument) {
    const bool is_plain_label = unit.type == "resource" && is_label(name) && !is_effective_label(unit.kind, name);
    const bool is_plain = unit.type != "module" && (name == "timeouts" || is_in(kNotes, name));
    const bool is_fed = unit.called != nullptr && !is_in("count for_each providers", name);
    const MergedBlock* variable = nullptr;
    if (is_fed) {
      const auto found = unit.called->by_address.find("variable." + name);
      variable = found == unit.called->by_address.end() ? nullptr : found->second;
    }
    if (is_plain_label || is_plain || name == "depends_on") {
      return;
    }
    const Argument* fallback = variable == nullptr ? nullptr : variable->find("default");
    if (variable != nullptr && fallback == nullptr && !meanings_.is_shared(*unit.called, variable->address())) {
      return;  // its users in the module have changed
    }
    Leaf& leaf = add_leaf(unit.node, name, argument);
    leaf.feeds = is_fed && is_label(name) ? unit.called->scope + "var." + name : "";
    leaf.is_absent =
        leaf.is_absent || (fallback != nullptr && leaf.meaning.text == meanings_.read(*unit.called, *fallback).text);
  }

  // The name in a block may be that of a secret: it shows nothing.
  static void read_secrets(Unit& unit, const ConfigText& file, const hcl::Block& block, const std::string& outer) {
    const bool is_dynamic = block.type == "dynamic" && !block.labels.empty();
    const std::string path =
        block.type == "content" ? outer : outer + (is_dynamic ? block.labels[0].text : block.type) + ".";
    for (const hcl::Attribute& attribute : block.body.attributes) {
      if (attribute.name != "name") {
        read_secrets(unit, path + std::string(attribute.name), {&attribute, &file});
      }
    }
    for (const hcl::Block& inner : block.body.blocks) {
      read_secrets(unit, file, inner, path);
    }
  }

  // References to secrets in arguments that everyone reads, also through local values.
  static void read_secrets(Unit& unit, const std::string& path, const Argument& argument) {
    if (!is_label(path.substr(path.rfind('.') + 1))) {
      return;
    }
    constexpr std::array<std::string_view, 12> kWords = {"_secret_", "_secrets_",     "_password_",    "_passwords_",
                                                         "_token_",  "_credential_",  "_credentials_", "_private_",
                                                         "_key_",    "_environment_", "_sensitive_",   "_connection_"};
    const bool is_secret_type = unit.kind.find("secret") != std::string::npos;
    const auto is_secret = [&](const std::string& name) {
      return std::ranges::any_of(
          kWords, [&](std::string_view word) { return ("_" + name + "_").find(word) != std::string::npos; });
    };
    visit_with_names(*unit.module, *argument.file, argument.attribute->value, {},
                     [&](const std::vector<std::string>& names, const Range* range) {
                       const bool shows_secret = (is_secret_type && names.back() == "value" && names.size() > 2) ||
                                                 std::ranges::any_of(names, is_secret);
                       const Range& place = range != nullptr ? *range : argument.attribute->value.range;
                       if (shows_secret) {
                         unit.secrets.emplace(fmt::format("{} in {}", fmt::join(names, "."), path),
                                              Location{argument.file->path, place});
                       }
                       return !shows_secret;
                     });
  }

  void read_body(Node& outer_node, const ConfigText& file, const hcl::Block& block, const std::string& outer) {
    const bool is_dynamic = block.type == "dynamic" && !block.labels.empty();
    const std::string& name = is_dynamic ? block.labels.front().text : block.type;
    if (is_harmless_block(outer, name)) {
      return;
    }
    const MeaningReader::Place outer_place = place_;
    Node node;
    const hcl::Block* content = &block;
    if (is_dynamic) {
      const hcl::Attribute* each = block.body.find("for_each");
      const hcl::Attribute* iterator = block.body.find("iterator");
      const auto* written = iterator == nullptr ? nullptr : std::get_if<hcl::Variable>(&iterator->value.tree().node);
      if (each == nullptr || is_empty_text(add_leaf(node, "for_each", file, each->value).meaning.text)) {
        return;  // it has no items
      }
      place_.iterators[written == nullptr ? name : written->name] = node.leaves.at("for_each").meaning.is_given;
      const auto found =
          std::ranges::find_if(block.body.blocks, [](const hcl::Block& inner) { return inner.type == "content"; });
      content = found == block.body.blocks.end() ? content : &*found;
    }
    const bool is_lifecycle = outer.empty() && name == "lifecycle";
    for (const hcl::Attribute& attribute : content->body.attributes) {
      if (is_lifecycle ? is_in("ignore_changes replace_triggered_by enabled", attribute.name)
                       : !is_in(kNotes, attribute.name)) {
        Leaf& leaf = add_leaf(node, std::string(attribute.name), file, attribute.value);
        leaf.is_absent = leaf.is_absent || (is_lifecycle && leaf.meaning.text == "true");
      }
    }
    for (const hcl::Block& inner : content->body.blocks) {
      read_body(node, file, inner, outer.empty() ? name : outer + "." + name);
    }
    place_ = outer_place;
    std::vector<std::string> texts;
    for (const auto& [path, leaf] : node.leaves) {
      if (!leaf.is_absent) {
        texts.push_back(path + "=" + leaf.meaning.with_files());
      }
    }
    for (const auto& [path, inner] : node.blocks) {
      texts.push_back(path + inner.text);
    }
    if (texts.empty() && !is_lifecycle) {
      node.leaves[""] = {{.text = "{}"}, "{}", {file.path, block.header_range}};
    }
    std::ranges::sort(texts);
    node.text = sha256_hex(fmt::format("{}", fmt::join(texts, "\n")));
    if (!is_lifecycle || !texts.empty()) {
      outer_node.blocks.emplace_back(name, std::move(node));
    }
  }

  Leaf& add_leaf(Node& node, const std::string& path, const Argument& argument) {
    return add_leaf(node, path, *argument.file, argument.attribute->value);
  }
  Leaf& add_leaf(Node& node, const std::string& path, const ConfigText& file, const hcl::Expression& value) {
    place_.file = &file;
    Leaf& leaf = node.leaves[path];
    leaf = {meanings_.read(place_, value), source_text(file, value.range), {file.path, value.range}};
    leaf.is_absent =
        is_empty_text(local_of(*place_.module, leaf.meaning.text)) && (&node != object_ || path != "for_each");
    return leaf;
  }

  const PackageText& package_;
  MeaningReader meanings_;
  MeaningReader::Place place_;
  const Node* object_ = nullptr;  // the resource, data source or call: none of its instances exists without items
  std::set<std::string> called_;
  Units units_;
};

// Shows a change of a long text from the first difference on.
std::pair<std::string, std::string> shorten(const std::string& before, const std::string& after) {
  constexpr std::size_t kMost = 60;
  constexpr std::size_t kContext = 20;
  const auto differs = std::mismatch(before.begin(), before.end(), after.begin(), after.end());
  const auto same = static_cast<std::size_t>(differs.first - before.begin());
  std::size_t start = std::max(before.size(), after.size()) > kMost && same > kContext ? same - kContext : 0;
  const std::string mark = start == 0 ? "" : "…";
  while (start > 0 && (static_cast<unsigned char>(before[start]) & 0xC0U) == 0x80) {
    --start;
  }
  return {cut_text(mark + before.substr(start), kMost), cut_text(mark + after.substr(start), kMost)};
}

// Whether a text has a name that no member of it follows: what it names is passed on as a whole.
bool passes_on(std::string_view text, std::string_view name) {
  for (std::size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const std::string_view rest = text.substr(at + name.size());
    const bool is_part =
        !rest.empty() && (rest[0] == '.' || rest[0] == '_' || rest[0] == '-' || ascii::is_alnum(rest[0]));
    const bool is_asked = rest.starts_with(" == ") || text.substr(0, at).ends_with("length(");
    const bool is_iterated = rest.starts_with(" : ") || rest.starts_with("[");
    if (!is_part && !is_asked && (!is_iterated || rest.find("$1") != rest.find("$1."))) {
      return true;
    }
  }
  return text.starts_with('#');
}

class EffectComparison {
 public:
  explicit EffectComparison(std::vector<PackageFinding>& out) : out_(out) {}

  void run(const Units& before, const Units& after, const Context& context) {
    find_uses(after);
    const auto kind_of = [](const Unit& unit) {
      return fmt::format("{} {} {}", unit.module->directory, unit.called != nullptr ? "module" : unit.kind,
                         unit.called != nullptr ? unit.called->directory : "");
    };
    std::map<std::string, std::deque<const Unit*>> gone;  // resources by type and module, local calls by directory
    for (const auto& [key, unit] : before) {
      known_before_.insert(unit.module->directory);
      if ((unit.type == "resource" || unit.called != nullptr) && after.count(key) == 0) {
        gone[kind_of(unit)].push_back(&unit);
      }
    }
    for (const auto& [key, unit] : after) {
      if (!context.check()) {
        return;
      }
      if (const auto old = before.find(key); old != before.end()) {
        compare(old->second, unit);
      } else if (may_be_new(unit)) {
        auto& old_units = gone[kind_of(unit)];
        if (!old_units.empty()) {
          compare(*old_units.front(), unit);
          old_units.pop_front();
        } else if (unit.is_created && !unit.runs_code) {
          add("new-resource", unit, " is new, and exists although the caller sets nothing new", std::nullopt,
              unit.location);
          out_.back().causes = {"new " + unit.name};
        }
      }
    }
  }

 private:
  // Whether a new unit has a finding. A call of a new local module has none: the resources of the module have.
  bool may_be_new(const Unit& unit) const {
    if (unit.type != "module" || unit.is_external) {
      return unit.type == "resource" || unit.is_external;
    }
    return unit.called != nullptr && known_before_.count(unit.called->directory) != 0 &&
           std::ranges::any_of(unit.called->blocks,
                               [](const MergedBlock& block) { return is_in("resource data module", block.type); });
  }

  // Calls a function with the path and each leaf of a block and its blocks.
  static void visit_leaves(const Node& node, const std::string& path, const auto& visit) {
    for (const auto& [name, leaf] : node.leaves) {
      visit(path + name, leaf);
    }
    for (const auto& [name, inner] : node.blocks) {
      visit_leaves(inner, path + name + ".", visit);
    }
  }

  // Finds the local values and variables that arguments with an effect use, and those that they pass on as a whole.
  void find_uses(const Units& after) {
    std::deque<std::pair<const Unit*, bool>> open;  // with whether it passes values on
    for (const auto& [key, unit] : after) {
      if (unit.is_object() || unit.type == "code" || (unit.type == "output" && unit.is_created)) {
        open.emplace_back(&unit, is_in("resource code", unit.type) || unit.is_external);
        users_[unit.name] = &unit.name;
      }
    }
    for (; !open.empty(); open.pop_front()) {
      const auto [unit, passes] = open.front();
      const std::string* user = users_[unit->name];
      const auto visit = [&, passes = passes](const std::string& path, const Leaf& leaf) {
        for (const std::string& name : leaf.meaning.uses) {
          const bool repeats = path == "count" || path.ends_with("for_each");
          const bool is_passed = passes && !repeats && passes_on(leaf.meaning.text, name.substr(name.rfind(' ') + 1)) &&
                                 passed_on_.insert(name).second;
          if ((users_.try_emplace(name, user).second || is_passed) && after.count(name) != 0) {
            open.emplace_back(&after.find(name)->second, is_passed);
          }
        }
      };
      visit_leaves(unit->node, "", visit);
      visit_leaves(unit->code, "", visit);
    }
  }

  struct Change {
    std::string path;
    const Leaf* before = nullptr;
    const Leaf* after = nullptr;
  };

  bool has_effect(const Unit& unit, const Leaf& leaf) const {
    return (leaf.feeds.empty() || users_.count(leaf.feeds) != 0) && (!leaf.is_new || passed_on_.count(unit.name) != 0);
  }

  static std::string path_of(const std::string& outer, const std::string& name) {
    return name.empty() ? outer.substr(0, outer.rfind('.')) : outer + name;
  }

  // Equal blocks belong together, then those of the same type in their order.
  void compare(const Unit& unit, const std::string& path, const Node& before, const Node& after,
               std::vector<Change>& changes) {
    const bool is_pair = &before != &kNoBlock && &after != &kNoBlock && !path.empty();
    for (const auto& [name, leaf] : after.leaves) {
      const auto old = before.leaves.find(name);
      const Leaf* was = old == before.leaves.end() ? nullptr : &old->second;
      const bool is_same = was != nullptr && was->meaning.with_files() == leaf.meaning.with_files();
      const bool are_absent = leaf.is_absent && (was == nullptr || was->is_absent);
      if (!is_same && !are_absent && has_effect(unit, leaf) && !(is_pair && name.empty())) {
        changes.push_back({path_of(path, name), was, &leaf});
      }
    }
    for (const auto& [name, leaf] : before.leaves) {
      if (!leaf.is_absent && after.leaves.count(name) == 0 && has_effect(unit, leaf) && !(is_pair && name.empty())) {
        changes.push_back({path_of(path, name), &leaf, nullptr});
      }
    }
    std::multimap<std::string, const Node*> old_blocks;
    for (const auto& [name, block] : before.blocks) {
      old_blocks.emplace(name, &block);
    }
    std::vector<std::pair<std::string, const Node*>> new_blocks;
    for (const auto& [name, block] : after.blocks) {
      const auto [first, last] = old_blocks.equal_range(name);
      const auto same =
          std::find_if(first, last, [&text = block.text](const auto& old) { return old.second->text == text; });
      if (same != last) {
        old_blocks.erase(same);
      } else {
        new_blocks.emplace_back(name, &block);
      }
    }
    for (const auto& [name, block] : new_blocks) {
      const auto old = old_blocks.find(name);
      compare(unit, path + name + ".", old == old_blocks.end() ? kNoBlock : *old->second, *block, changes);
      if (old != old_blocks.end()) {
        old_blocks.erase(old);
      }
    }
    for (const auto& [name, block] : old_blocks) {
      compare(unit, path + name + ".", *block, kNoBlock, changes);
    }
  }

  void compare(const Unit& before, const Unit& after) {
    const bool needs_user = after.type == "local" || after.type == "variable";
    const auto use = users_.find(after.name);
    if (needs_user && use == users_.end()) {
      return;
    }
    for (const auto& [name, place] : after.secrets) {
      if (before.secrets.count(name) == 0) {
        add("secret-shown", after, " shows a value that may be secret: " + name, std::nullopt, place);
      }
    }
    std::vector<Change> changes;
    compare(after, "", before.node, after.node, changes);
    std::erase_if(changes, [&](const Change& change) {
      return after.type == "output" && change.before != nullptr && change.after != nullptr &&
             is_version(change.before->meaning.text) && is_version(change.after->meaning.text);
    });
    if (!changes.empty()) {
      report(before, after, changes, needs_user ? "; used by " + *use->second : "");
    }
  }

  void report(const Unit& before, const Unit& after, const std::vector<Change>& changes, const std::string& used) {
    std::string cause = after.module->directory;
    std::vector<std::string> texts;
    NamedFiles files;
    bool only_files = true;
    for (const Change& change : changes) {
      const std::string old_text = change.before != nullptr ? change.before->shown : "none";
      const std::string text = change.after != nullptr ? change.after->shown : "none";
      cause += fmt::format("{}\n{}\n{}\n", change.path, old_text, text);
      const bool is_same = change.before != nullptr && change.after != nullptr &&
                           change.before->meaning.text == change.after->meaning.text;
      NamedFiles read;
      for (const Leaf* leaf : {change.before, change.after}) {
        read.add(is_same ? leaf->meaning.files : NamedFiles());
      }
      files.add(read);
      only_files = only_files && is_same;
      std::vector<std::string> names(read.changed.begin(), read.changed.end());
      leave_first(names);
      const auto [from, to] = shorten(old_text, text);
      texts.push_back((change.path.empty() ? "" : change.path + ": ") +
                      (from != to      ? from + " -> " + to
                       : names.empty() ? to + ", whose names have another meaning"
                                       : fmt::format("{}, with other content of {}", to, fmt::join(names, ", "))));
    }
    leave_first(texts);
    const Change& first = changes.front();
    add("effective-change", after,
        fmt::format("{}{}{}{}", before.name == after.name ? "" : fmt::format(" (was {})", before.name),
                    first.path.empty() ? ": " : " ", fmt::join(texts, "; "), used),
        first.before != nullptr ? first.before->location : before.location,
        first.after != nullptr ? first.after->location : after.location);
    out_.back().causes = only_files ? files.causes() : std::set{cause};
  }

  void add(const char* rule, const Unit& unit, const std::string& text, std::optional<Location> before,
           std::optional<Location> after) {
    out_.push_back({{rule, "risky", unit.name + text, std::move(before), std::move(after), std::nullopt}, unit.name});
  }

  std::vector<PackageFinding>& out_;
  std::map<std::string, const std::string*, std::less<>> users_;  // the first user of each local value and variable
  std::set<std::string> passed_on_;                               // local values and variables
  std::set<std::string, std::less<>> known_before_;               // directories of the old package
};

}  // namespace

void find_effective_changes(const PackageText& before, const PackageText& after, const KnownNames& known,
                            const Context& context, std::vector<PackageFinding>& out) {
  if (before.root.empty()) {
    return;
  }
  const Units old_units = UnitReader(before, after, known, true).read(context);
  const Units new_units = UnitReader(after, before, known, false).read(context);
  EffectComparison(out).run(old_units, new_units, context);
}

}  // namespace modlock
