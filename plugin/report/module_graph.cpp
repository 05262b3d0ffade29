#include "plugin/report/module_graph.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "plugin/lock/locked_text.h"

namespace modlock {
namespace {

// Mermaid and DOT differ in how a node and an edge are written; node names are numbers in both.
class Drawing {
 public:
  explicit Drawing(bool dot) : dot_(dot), text_(dot ? "digraph modules {\n  rankdir = \"LR\";\n" : "graph LR\n") {}

  void add_module(const std::string& key, const std::string& label) {
    add(module_names_, 'm', key, label, dot_ ? " shape = \"box\"" : "[]");
  }
  void add_provider(const std::string& address) {
    add(provider_names_, 'p', address, address, dot_ ? " shape = \"ellipse\"" : "()");
  }
  void connect_modules(const std::string& from, const std::string& to) {
    connect(module_names_[from], module_names_[to], false);
  }
  void connect_provider(const std::string& module, const std::string& address, const std::string& constraint) {
    connect(module_names_[module], provider_names_[address], true, constraint);
  }
  bool has_module(const std::string& key) const { return module_names_.count(key) != 0; }

  std::string finish() && {
    if (dot_) {
      text_ += "}\n";
    }
    return std::move(text_);
  }

 private:
  using Names = std::map<std::string, std::string>;

  // Escapes quotes, and the control sequences of both languages in a label.
  std::string escaped(std::string_view label) const {
    std::string out;
    for (const char c : label) {
      if (c == '\n') {
        out += dot_ ? "\\n" : "<br/>";
      } else if (static_cast<unsigned char>(c) < ' ') {
        out += ' ';
      } else if (c == '"' || (c == '\\' && dot_)) {
        out += dot_ ? std::string("\\") + c : "#quot;";
      } else if (!dot_ && (c == '#' || c == '<' || c == '&')) {
        out += fmt::format("#{};", static_cast<int>(c));
      } else {
        out += c;
      }
    }
    return out;
  }

  // Things with one label are one node.
  void add(Names& names, char kind, const std::string& key, const std::string& label, std::string_view shape) {
    Names& labels = labels_[kind];
    const auto [known, is_new] = labels.try_emplace(label, fmt::format("{}{}", kind, labels.size()));
    const std::string& name = names[key] = known->second;
    if (!is_new) {
      return;
    }
    if (dot_) {
      text_ += fmt::format("  {} [label = \"{}\"{}];\n", name, escaped(label), shape);
    } else {
      text_ += fmt::format("  {}{}\"{}\"{}\n", name, shape[0], escaped(label), shape[1]);
    }
  }

  void connect(const std::string& from, const std::string& to, bool dashed, const std::string& label = {}) {
    if (!edges_.insert(fmt::format("{} {} {}", from, to, label)).second) {
      return;
    }
    if (dot_) {
      text_ += fmt::format("  {} -> {} [label = \"{}\"{}];\n", from, to, escaped(label),
                           dashed ? " style = \"dashed\"" : "");
    } else if (label.empty()) {
      text_ += fmt::format("  {} {} {}\n", from, dashed ? "-.->" : "-->", to);
    } else {
      text_ += fmt::format("  {} {}|\"{}\"| {}\n", from, dashed ? "-.->" : "-->", escaped(label), to);
    }
  }

  bool dot_;
  std::string text_;
  Names module_names_;
  Names provider_names_;
  std::map<char, Names> labels_;  // by kind
  std::set<std::string> edges_;
};

// Returns two lines: the source, and "~> 1.0 = 1.1.0" or "v1.0.0 (1a2b3c4d5e6f)".
std::string release_of(const messages::InspectedModule& module) {
  const std::string source = module.source.value_or("not resolved");
  const std::string locked =
      module.locked ? locked_text({.key = module.key,
                                   .version = module.locked_version,
                                   .source = source,
                                   .hashes = {origin_of(module.commit.value_or(""), module.digest.value_or(""),
                                                        module.checksum.value_or(""))}})
                    : "";
  const std::string constraint = module.constraint.value_or("");
  const std::string version = constraint + (constraint.empty() || locked.empty() ? "" : " = ") + locked;
  return source + (version.empty() ? "" : "\n" + version);
}

// Returns the nearest call above that is drawn: names of test modules have parts that are not calls.
std::string caller_of(std::string key, const Drawing& drawing) {
  do {
    key.resize(key.find('.') == std::string::npos ? 0 : key.rfind('.'));
  } while (!key.empty() && !drawing.has_module(key));
  return key;
}

}  // namespace

std::string module_graph(const messages::ConfigInspectResult& inspected, GraphFormat format) {
  Drawing drawing(format == GraphFormat::dot);
  drawing.add_module("", "root module");
  std::map<std::string, std::string> calls;  // of a locked release
  for (const messages::InspectedModule& module : inspected.modules) {
    std::string& keys = calls[release_of(module)];
    keys += (keys.empty() ? "" : ", ") + module.key;
  }
  for (const messages::InspectedModule& module : inspected.modules) {
    const std::string release = release_of(module);
    drawing.add_module(module.key, (module.locked ? calls[release] : module.key) + "\n" + release);
  }
  for (const messages::InspectedModule& module : inspected.modules) {
    drawing.connect_modules(caller_of(module.key, drawing), module.key);
  }
  for (const messages::InspectedProvider& provider : inspected.providers) {
    drawing.add_provider(provider.address);
    std::map<std::string, std::string> constraints;
    for (const messages::InspectedConstraint& constraint : provider.constraints) {
      std::string& text = constraints[constraint.module];
      text += (text.empty() ? "" : ", ") + constraint.text;
    }
    for (const std::string& module : provider.modules) {
      drawing.connect_provider(module, provider.address, constraints[module]);
    }
  }
  return std::move(drawing).finish();
}

}  // namespace modlock
