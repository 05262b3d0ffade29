#include "plugin/diff/effective_changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <set>
#include <string_view>

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
  return name == "tag_specifications" || (outer.empty() && is_in("provisioner connection timeouts", name)) ||
         (outer == "lifecycle" && is_in("precondition postcondition", name));
}

constexpr std::size_t kMostFollowed = 100;  // local values of a label

// Whether a term is only a version: "1.2.0".
bool is_version(const TermPtr& term) {
  const std::string& text = term->head;
  return text.size() > 1 && text[0] == '"' && text.find_first_not_of("v.0123456789", 1) == std::string::npos;
}

// One expression of a unit.
struct Leaf {
  std::string path;  // "rule.from_port"
  TermPtr term;      // local values are replaced
  TermPtr named;     // local values that both packages have are not
  std::string shown;
  Location location;
  std::size_t group = 0;    // the nested block of the unit that it is in
  std::string around = {};  // what the dynamic blocks around iterate over
  bool is_absent = false;   // until a caller sets it
  bool is_dormant = false;  // a dynamic block around has no items
  bool is_block = false;    // a block without arguments
  bool is_default = false;  // of the variable of a call
  bool is_new = false;      // a member that no caller could set before
  std::string feeds = {};   // "modules/db: var.name": it has an effect if this variable of a local call has one
};

// A resource, a data source, a module call, a local value, a variable or an output.
struct Unit {
  const ModuleText* module = nullptr;
  std::string type;  // of the block; "local"
  std::string kind;  // the first label
  std::string name;  // "modules/db: aws_db_instance.a"
  std::vector<Leaf> leaves = {};
  std::vector<std::size_t> parents = {0};  // of each nested block; 0: the unit itself
  Location location = {};
  std::map<std::string, Location, std::less<>> secrets = {};  // that tags, names and descriptions refer to
  bool is_external = false;                                   // a call of a module outside of the package
  const ModuleText* called = nullptr;                         // by a local call
  bool is_created = true;  // a call of the package reaches it although the caller sets nothing new
  bool runs_code = false;  // it has a provisioner, which another rule names
};

using Units = std::map<std::string, Unit, std::less<>>;

class UnitReader {
 public:
  UnitReader(const PackageText& package, const PackageText& other, KnownNames& known, bool is_old)
      : package_(package), known_(known), is_old_(is_old), meanings_(package, other, known, is_old) {}

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
          add_leaf(unit, "", *argument.file, argument.attribute->value);
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
      const TermPtr value = argument == nullptr ? nullptr : meanings_.read(module, *argument, Follow::local_values);
      if (value != nullptr && (is_empty(value) || is_zero(value))) {
        return false;
      }
    }
    return std::none_of(block.blocks.begin(), block.blocks.end(), [&](const auto& inner) {
      const auto& [file, lifecycle] = inner;
      const hcl::Attribute* enabled = lifecycle->type == "lifecycle" ? lifecycle->body.find("enabled") : nullptr;
      return enabled != nullptr && is_false(meanings_.read({&module, file}, enabled->value, Follow::local_values));
    });
  }

  static bool is_zero(const TermPtr& term) {
    return term->head.starts_with("#0") && term->head.find_first_not_of("0.", 1) == std::string::npos;
  }

  Unit& add(const ModuleText& module, const std::string& type, const std::string& kind, const std::string& name,
            Location location) {
    const std::string& scope = module.scope;
    const auto moved = known_.moved_between.find(scope + name);
    return units_
        .try_emplace(
            is_old_ && moved != known_.moved_between.end() ? moved->second : scope + meanings_.renamed(module, name),
            Unit{.module = &module, .type = type, .kind = kind, .name = scope + name, .location = std::move(location)})
        .first->second;
  }

  void read_block(const ModuleText& module, const MergedBlock& block) {
    const std::string& type = block.type;
    if (block.labels.empty()) {
      return;
    }
    const std::string address = block.address();
    const Location location = {block.file->path, block.block->header_range};
    place_ = {&module, block.file};
    if (type == "resource" || type == "data" || type == "module") {
      read_object(add(module, type, block.labels[0], address, location), block);
    } else if (type == "variable" && meanings_.is_shared(module, address)) {
      Unit& unit = add(module, type, block.labels[0], "var." + block.labels[0], location);
      const auto& callers = meanings_.callers(module.directory);
      const bool is_set = module.directory != package_.directory && !callers.empty() &&
                          std::all_of(callers.begin(), callers.end(), [&](const auto& caller) {
                            return caller.second->find(block.labels[0]) != nullptr;
                          });
      if (const Argument* value = is_set ? nullptr : block.find("default")) {
        add_leaf(unit, "default", *value->file, value->attribute->value);
      }
      if (const Argument* value = block.find("type")) {
        read_type(unit, *value->file, "", value->attribute->value);
      }
    } else if (type == "output" && meanings_.is_shared(module, address)) {
      if (const Argument* value = block.find("value")) {
        Unit& unit = add(module, type, "", address, location);
        unit.is_created = called_.count(module.directory) != 0;
        add_leaf(unit, "", *value->file, value->attribute->value);
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
      add_leaf(unit, path, file, call->arguments[1]);
      unit.leaves.back().is_new = meanings_.is_new_member(path.substr(path.rfind('.') + 1), *unit.module, unit.kind);
    }
    read_type(unit, file, path, call->arguments[0]);
  }

  void read_object(Unit& unit, const MergedBlock& block) {
    if (const Argument* each = block.find("for_each")) {
      const TermPtr items = meanings_.read(*unit.module, *each, Follow::local_values);
      place_.iterators["each"] = items;
    }
    unit.is_created = called_.count(unit.module->directory) != 0 && is_created(*unit.module, block);
    const ModuleText* called = package_.called(*unit.module, block);
    unit.called = called;
    const Argument* source = block.type == "module" ? block.find("source") : nullptr;
    if (source != nullptr && !package_.local_target(*unit.module, block)) {
      unit.is_external = true;
      unit.location = {source->file->path, source->attribute->range()};
    }
    for (const auto& [name, argument] : block.arguments) {
      const bool is_source = block.type == "module" && (name == "source" || name == "version");
      if (is_source) {
        continue;
      }
      read_secrets(unit, name, argument);
      const bool is_plain_label = block.type == "resource" && is_label(name) && !is_effective_label(unit.kind, name);
      const bool is_plain = block.type != "module" && (name == "timeouts" || is_in(kNotes, name));
      if (is_plain_label || is_plain || name == "depends_on") {
        continue;
      }
      const bool is_meta = is_in("count for_each providers", name);
      if (called != nullptr && !is_meta && !meanings_.is_shared(*called, "variable." + name)) {
        continue;  // the variable is replaced in the module
      }
      add_leaf(unit, name, *argument.file, argument.attribute->value);
      if (called != nullptr && is_label(name)) {
        unit.leaves.back().feeds = called->scope + "var." + name;
      }
    }
    if (called != nullptr) {
      add_defaults(unit, block, *called);
    }
    for (const auto& [file, inner] : block.blocks) {
      unit.runs_code = unit.runs_code || inner->type == "provisioner";
      read_secrets(unit, *file, *inner, "");
      read_body(unit, *file, *inner, "");
    }
    unit.leaves.shrink_to_fit();
  }

  // The name in a block may be that of a secret: it shows nothing.
  static void read_secrets(Unit& unit, const ConfigText& file, const hcl::Block& block, const std::string& outer) {
    const bool is_dynamic = block.type == "dynamic" && !block.labels.empty();
    const std::string path =
        block.type == "content" ? outer : outer + (is_dynamic ? block.labels[0].text : block.type) + ".";
    for (const hcl::Attribute& attribute : block.body.attributes) {
      if (attribute.name != "name") {
        read_secrets(unit, path + attribute.name, {&attribute, &file});
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
      return std::any_of(kWords.begin(), kWords.end(),
                         [&](std::string_view word) { return ("_" + name + "_").find(word) != std::string::npos; });
    };
    std::vector<const Argument*> open = {&argument};
    std::size_t at = 0;
    ExpressionVisit visit;
    visit.reference = [&](const std::vector<std::string>& names, const Range& range) {
      if ((is_secret_type && names.back() == "value" && names.size() > 2) ||
          std::any_of(names.begin(), names.end(), is_secret)) {
        unit.secrets.emplace(fmt::format("{} in {}", fmt::join(names, "."), path),
                             Location{argument.file->path, at == 0 ? range : argument.attribute->value.range});
      } else if (names.size() > 1 && names[0] == "local") {
        const auto local = unit.module->locals.find(names[1]);
        if (local != unit.module->locals.end() && open.size() < kMostFollowed &&
            std::find(open.begin(), open.end(), &local->second) == open.end()) {
          open.push_back(&local->second);
        }
      }
    };
    for (; at < open.size(); ++at) {
      canonical_text(open[at]->attribute->value, open[at]->file->path, visit);
    }
  }

  // What a local call does not set has the default of the variable.
  void add_defaults(Unit& unit, const MergedBlock& call, const ModuleText& called) {
    for (const MergedBlock& variable : called.blocks) {
      if (variable.type == "variable" && !variable.labels.empty() && call.find(variable.labels[0]) == nullptr &&
          meanings_.is_shared(called, variable.address())) {
        if (const Argument* value = variable.find("default")) {
          const MeaningReader::Place outer = std::exchange(place_, {&called, value->file});
          add_leaf(unit, variable.labels[0], *value->file, value->attribute->value, true);
          if (is_label(variable.labels[0])) {
            unit.leaves.back().feeds = called.scope + "var." + variable.labels[0];
          }
          place_ = outer;
        }
      }
    }
  }

  void read_body(Unit& unit, const ConfigText& file, const hcl::Block& block, const std::string& outer) {
    const bool is_dynamic = block.type == "dynamic" && !block.labels.empty();
    const std::string& name = is_dynamic ? block.labels.front().text : block.type;
    if (is_harmless_block(outer, name)) {
      return;
    }
    const std::string path = outer.empty() ? name : outer + "." + name;
    const std::size_t parent = std::exchange(group_, unit.parents.size());
    unit.parents.push_back(parent);
    if (is_dynamic) {
      read_dynamic(unit, file, block, path);
    } else {
      read_content(unit, file, block, path);
    }
    group_ = parent;
  }

  void read_dynamic(Unit& unit, const ConfigText& file, const hcl::Block& block, const std::string& path) {
    place_.file = &file;
    const hcl::Attribute* each = block.body.find("for_each");
    const hcl::Attribute* iterator = block.body.find("iterator");
    const auto* written = iterator == nullptr ? nullptr : std::get_if<hcl::Variable>(&iterator->value.node);
    if (each == nullptr) {
      return;
    }
    add_leaf(unit, path + ".for_each", file, each->value);
    const TermPtr items = unit.leaves.back().term;
    const std::string inner = sha256_hex(around_ + std::string(unit.leaves.back().named->digest_with_files()));
    const MeaningReader::Place outer_place = place_;
    const std::string outer_around = std::exchange(around_, inner);
    const bool outer_dormant = std::exchange(is_dormant_, is_dormant_ || is_empty(items));
    place_.iterators[written == nullptr ? block.labels.front().text : written->name] = items;
    for (const hcl::Block& content : block.body.blocks) {
      if (content.type == "content") {
        read_content(unit, file, content, path);
      }
    }
    place_ = outer_place;
    around_ = outer_around;
    is_dormant_ = outer_dormant;
  }

  void read_content(Unit& unit, const ConfigText& file, const hcl::Block& block, const std::string& path) {
    const auto count = static_cast<std::ptrdiff_t>(unit.leaves.size());
    for (const hcl::Attribute& attribute : block.body.attributes) {
      const bool is_read = path == "lifecycle" ? is_in("ignore_changes replace_triggered_by enabled", attribute.name)
                                               : !is_in(kNotes, attribute.name);
      if (is_read) {
        add_leaf(unit, path + "." + attribute.name, file, attribute.value);
      }
    }
    for (const hcl::Block& inner : block.body.blocks) {
      read_body(unit, file, inner, path);
    }
    const bool is_plain = std::all_of(unit.leaves.begin() + count, unit.leaves.end(), [&](const Leaf& leaf) {
      return is_empty(leaf.named) || leaf.is_dormant != is_dormant_;
    });
    if (is_plain && path != "lifecycle") {
      static const TermPtr kBlock = std::make_shared<Term>(Term{.head = "{}"});
      push_leaf(unit, path, kBlock, kBlock, "{}", {file.path, block.header_range}).is_block = true;
    }
  }

  void add_leaf(Unit& unit, const std::string& path, const ConfigText& file, const hcl::Expression& value,
                bool is_default = false) {
    place_.file = &file;
    Leaf& leaf = push_leaf(unit, path, meanings_.read(place_, value, Follow::local_values),
                           meanings_.read(place_, value, Follow::new_names), source_text(file, value.range),
                           {file.path, value.range});
    leaf.is_absent = leaf.is_absent || (is_empty(leaf.term) && path != "for_each") ||
                     (path == "lifecycle.enabled" && leaf.term->head == "true");
    leaf.is_default = is_default;
    leaf.term = leaf.term->digest_with_files() == leaf.named->digest_with_files() ? leaf.named : leaf.term;
  }

  Leaf& push_leaf(Unit& unit, const std::string& path, TermPtr term, TermPtr named, std::string shown,
                  Location location) {
    unit.leaves.push_back({.path = path,
                           .term = std::move(term),
                           .named = std::move(named),
                           .shown = is_dormant_ ? "none" : std::move(shown),
                           .location = std::move(location),
                           .group = group_,
                           .around = around_,
                           .is_absent = is_dormant_,
                           .is_dormant = is_dormant_});
    return unit.leaves.back();
  }

  const PackageText& package_;
  KnownNames& known_;
  bool is_old_;
  MeaningReader meanings_;
  MeaningReader::Place place_;
  std::size_t group_ = 0;
  std::string around_;
  bool is_dormant_ = false;
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

class EffectComparison {
 public:
  explicit EffectComparison(std::vector<PackageFinding>& out) : out_(out) {}

  void run(const Units& before, const Units& after, const Context& context) {
    find_uses(after);
    find_passed_on(after);
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
           std::any_of(unit.called->blocks.begin(), unit.called->blocks.end(),
                       [](const MergedBlock& block) { return is_in("resource data module", block.type); });
  }

  // How a local value or a variable is used by arguments with an effect.
  struct Use {
    const std::string* user = nullptr;  // the first one
    bool is_whole = false;              // not only members of it
  };

  void find_uses(const Units& after) {
    std::deque<std::pair<TermPtr, const std::string*>> open;
    std::multimap<std::string_view, std::pair<TermPtr, const std::string*>> waiting;  // by the variable that they feed
    for (const auto& [key, unit] : after) {
      const bool is_user = is_object(unit) || (unit.type == "output" && unit.is_created);
      for (const Leaf& leaf : unit.leaves) {
        if (is_user && !leaf.feeds.empty()) {
          waiting.emplace(leaf.feeds, std::pair(leaf.named, &unit.name));
        } else if (is_user) {
          open.emplace_back(leaf.named, &unit.name);
        }
      }
    }
    std::set<const Term*> seen;
    for (; !open.empty(); open.pop_front()) {
      const auto [term, user] = open.front();
      if (!seen.insert(term.get()).second) {
        continue;
      }
      for (const TermPtr& part : term->parts) {  // a new entry takes the place of the other value
        if (term->head == "try" && part->head == "index" && !part->parts[0]->unit.empty()) {
          uses_[part->parts[0]->unit].is_whole = true;
        }
      }
      const bool reads_member = term->head == "index" && !term->parts[0]->unit.empty();
      for (std::size_t i = reads_member ? 1 : 0; i < term->parts.size(); ++i) {
        open.emplace_back(term->parts[i], user);
      }
      const std::string& name = reads_member ? term->parts[0]->unit : term->unit;
      if (name.empty()) {
        continue;
      }
      Use& use = uses_[name];
      use.is_whole = use.is_whole || (!reads_member && !term->is_member);
      const auto used = use.user == nullptr ? after.find(name) : after.end();
      if (use.user == nullptr) {
        const auto [first, last] = waiting.equal_range(name);
        std::transform(first, last, std::back_inserter(open), [](const auto& fed) { return fed.second; });
        use.user = user;
      }
      if (used != after.end()) {
        for (const Leaf& leaf : used->second.leaves) {
          open.emplace_back(leaf.named, user);
        }
      }
    }
  }

  // Finds the local values and variables that are part of an argument as a whole, with members that it does not name.
  void find_passed_on(const Units& after) {
    std::deque<TermPtr> open;
    for (const auto& [key, unit] : after) {
      for (const Leaf& leaf : unit.leaves) {
        const bool repeats = leaf.path == "count" || leaf.path.ends_with("for_each");
        if ((unit.type == "resource" || unit.is_external) && !repeats) {
          open.push_back(leaf.named);
        }
      }
    }
    std::set<const Term*> seen;
    for (; !open.empty(); open.pop_front()) {
      const TermPtr term = open.front();
      const std::string& name = term->unit;
      if (!seen.insert(term.get()).second) {
        continue;
      }
      if (!name.empty() && !term->is_member && passed_on_.insert(name).second) {
        if (const auto unit = after.find(name); unit != after.end()) {
          std::transform(unit->second.leaves.begin(), unit->second.leaves.end(), std::back_inserter(open),
                         [](const Leaf& leaf) { return leaf.named; });
        }
      }
      constexpr std::string_view kPassing =
          "{ [ merge concat try coalesce any-of template jsonencode( yamlencode( base64encode( templatefile( values( "
          "tolist( toset( tomap( flatten( distinct( compact( reverse( one( sort(";
      const bool is_condition = term->head == "?";
      const bool keeps_items = term->head.starts_with("for") && term->parts.size() > 2 && is_item(*term->parts[2]);
      if (keeps_items) {
        open.push_back(term->parts[0]);
      } else if (is_condition || is_in(kPassing, term->head)) {
        open.insert(open.end(), term->parts.begin() + (is_condition ? 1 : 0), term->parts.end());
      }
    }
  }

  // Whether a term is the value of a `for`: "&$0".
  static bool is_item(const Term& term) {
    return term.head.starts_with("&$") && term.head.find_first_not_of("0123456789", 2) == std::string::npos;
  }

  bool has_effect(const Unit& unit, const Leaf& leaf) const {
    return (leaf.feeds.empty() || uses_.count(leaf.feeds) != 0) && (!leaf.is_new || passed_on_.count(unit.name) != 0);
  }

  static bool is_object(const Unit& unit) {
    return unit.type == "resource" || unit.type == "data" || unit.type == "module";
  }

  // Whether an object has more members, and is the same otherwise.
  static bool only_grows(const TermPtr& before, const TermPtr& after) {
    const auto members_of = [](const TermPtr& object) {
      std::set<std::pair<std::string_view, std::string_view>> members;
      for (std::size_t i = 0; i + 1 < object->parts.size(); i += 2) {
        members.emplace(object->parts[i]->digest, object->parts[i + 1]->digest_with_files());
      }
      return members;
    };
    const auto old = members_of(before);
    const auto now = members_of(after);
    return before->head == "{" && after->head == "{" && std::includes(now.begin(), now.end(), old.begin(), old.end());
  }

  // What each nested block has, in any order.
  static std::string arrangement(const Unit& unit, const std::map<const Leaf*, const Leaf*>& pairs) {
    std::vector<std::multiset<std::string>> blocks(unit.parents.size());
    for (const Leaf& leaf : unit.leaves) {
      const auto pair = pairs.find(&leaf);
      const Leaf& meant = pair == pairs.end() ? leaf : *pair->second;
      if (!meant.is_absent) {
        blocks[leaf.group].insert(fmt::format("{}{}", leaf.path, meant.term->digest_with_files()));
      }
    }
    for (std::size_t i = blocks.size() - 1; i > 0; --i) {
      if (!blocks[i].empty()) {
        blocks[unit.parents[i]].insert(sha256_hex(fmt::format("{}", fmt::join(blocks[i], " "))));
      }
    }
    return fmt::format("{}", fmt::join(blocks[0], " "));
  }

  // That a block has no arguments says nothing if it has arguments on the other side.
  static void drop_blocks(std::vector<std::pair<const Leaf*, const Leaf*>>& changes) {
    std::set<std::string_view> paths;
    for (const auto& [was, is] : changes) {
      paths.insert((is != nullptr ? is : was)->path);
    }
    std::erase_if(changes, [&](const auto& change) {
      const Leaf& leaf = *(change.second != nullptr ? change.second : change.first);
      const std::string inner = leaf.path + ".";
      const auto first = leaf.is_block ? paths.lower_bound(inner) : paths.end();
      return first != paths.end() && first->starts_with(inner);
    });
  }

  void compare(const Unit& before, const Unit& after) {
    const bool needs_user = after.type == "local" || after.type == "variable";
    const auto use = uses_.find(after.name);
    if (needs_user && use == uses_.end()) {
      return;
    }
    // Leaves of the same path and meaning belong together.
    std::map<const Leaf*, const Leaf*> pairs;
    std::set<const Leaf*> paired;
    const auto pair_by = [&](const auto& key_of) {
      std::multimap<std::string, const Leaf*> open;
      for (const Leaf& leaf : before.leaves) {
        if (paired.count(&leaf) == 0) {
          open.emplace(leaf.path + " " + key_of(leaf), &leaf);
        }
      }
      for (const Leaf& leaf : after.leaves) {
        if (open.empty() || pairs.count(&leaf) != 0) {
          continue;
        }
        if (const auto same = open.find(leaf.path + " " + key_of(leaf)); same != open.end()) {
          pairs[&leaf] = same->second;
          paired.insert(same->second);
          open.erase(same);
        }
      }
    };
    const auto absent = [](const Leaf& leaf) { return leaf.is_absent ? " absent" : ""; };
    const auto named = [](const Leaf& leaf) {
      return std::string(leaf.is_default ? "default" : leaf.named->digest_with_files());
    };
    pair_by([&](const Leaf& leaf) { return std::string(leaf.term->digest_with_files()) + absent(leaf); });
    pair_by([&](const Leaf& leaf) { return named(leaf) + leaf.around; });
    pair_by([&](const Leaf& leaf) { return named(leaf) + absent(leaf); });
    std::multimap<std::string_view, const Leaf*> removed;
    for (const Leaf& leaf : before.leaves) {
      if (paired.count(&leaf) == 0) {
        removed.emplace(leaf.path, &leaf);
      }
    }
    std::vector<std::pair<const Leaf*, const Leaf*>> changes;
    for (const Leaf& leaf : after.leaves) {
      const auto old = removed.find(leaf.path);
      const Leaf* was = old == removed.end() ? nullptr : old->second;
      if (pairs.count(&leaf) != 0 || (leaf.is_absent && (was == nullptr || was->is_absent)) ||
          !has_effect(after, leaf)) {
        continue;
      }
      const bool tells_version =
          after.type == "output" && was != nullptr && is_version(was->term) && is_version(leaf.term);
      const bool is_table = needs_user && !use->second.is_whole && was != nullptr;
      if (!tells_version && (!is_table || !only_grows(was->term, leaf.term))) {
        changes.emplace_back(was, &leaf);
      }
      if (old != removed.end()) {
        removed.erase(old);
      }
    }
    for (const auto& [path, leaf] : removed) {
      if (!leaf->is_absent && has_effect(before, *leaf)) {
        changes.emplace_back(leaf, nullptr);
      }
    }
    drop_blocks(changes);
    const std::string was_named = before.name == after.name ? "" : fmt::format(" (was {})", before.name);
    for (const auto& [name, place] : after.secrets) {
      if (before.secrets.count(name) == 0) {
        add("secret-shown", after, " shows a value that may be secret: " + name, std::nullopt, place);
      }
    }
    if (changes.empty()) {
      const bool has_blocks = is_object(after) && (before.parents.size() > 2 || after.parents.size() > 2);
      if (has_blocks && arrangement(before, {}) != arrangement(after, pairs)) {
        add("effective-change", after, was_named + ": its blocks were rearranged", before.location, after.location);
      }
      return;
    }
    std::string cause = after.module->directory;
    std::vector<std::string> texts;
    NamedFiles files;
    bool only_files = true;
    for (const auto& [was, is] : changes) {
      const std::string& path = (is != nullptr ? is : was)->path;
      const std::string old_text = was == nullptr ? "none" : was->shown;
      const std::string text = is == nullptr ? "none" : is->shown;
      cause += fmt::format("{}\n{}\n{}\n", path, old_text, text);
      const bool is_same = was != nullptr && is != nullptr && was->named->digest == is->named->digest;
      NamedFiles read;
      for (const Leaf* leaf : {was, is}) {
        read.add(is_same && leaf->named->files != nullptr ? *leaf->named->files : NamedFiles());
      }
      files.add(read);
      only_files = only_files && is_same;
      std::vector<std::string> names(read.changed.begin(), read.changed.end());
      leave_first(names);
      const auto [from, to] = shorten(old_text, text);
      texts.push_back((path.empty() ? "" : path + ": ") +
                      (from != to      ? from + " -> " + to
                       : names.empty() ? to + ", whose names have another meaning"
                                       : fmt::format("{}, with other content of {}", to, fmt::join(names, ", "))));
    }
    leave_first(texts);
    const auto& [was, is] = changes.front();
    add("effective-change", after,
        fmt::format("{}{}{}{}", was_named, texts.size() == 1 && texts[0].find(": ") == std::string::npos ? ": " : " ",
                    fmt::join(texts, "; "), needs_user ? "; used by " + *use->second.user : ""),
        was == nullptr ? before.location : was->location, is == nullptr ? after.location : is->location);
    out_.back().causes = only_files ? files.causes() : std::set{cause};
  }

  void add(const char* rule, const Unit& unit, const std::string& text, std::optional<Location> before,
           std::optional<Location> after) {
    out_.push_back({{rule, "risky", unit.name + text, std::move(before), std::move(after), std::nullopt}, unit.name});
  }

  std::vector<PackageFinding>& out_;
  std::map<std::string, Use, std::less<>> uses_;
  std::set<std::string> passed_on_;                  // local values and variables
  std::set<std::string, std::less<>> known_before_;  // directories of the old package
};

}  // namespace

void find_effective_changes(const PackageText& before, const PackageText& after, const Context& context,
                            std::vector<PackageFinding>& out) {
  if (before.root.empty()) {
    return;
  }
  KnownNames known = known_names(before, after);
  const Units old_units = UnitReader(before, after, known, true).read(context);
  const Units new_units = UnitReader(after, before, known, false).read(context);
  EffectComparison(out).run(old_units, new_units, context);
}

}  // namespace modlock
