#include "plugin/report/inspect_formats.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <utility>

#include "plugin/lock/locked_text.h"

namespace modlock {
namespace {

// Mermaid and DOT differ in how a node and an edge are written; node names are numbers in both.
class Drawing {
 public:
  explicit Drawing(bool dot) : dot_(dot), text_(dot ? "digraph modules {\n  rankdir = \"LR\";\n" : "graph LR\n") {}

  // 'm' and the key of a module, or 'p' and the address of a provider.
  using Node = std::pair<char, std::string>;

  // Things of a kind with one label are one node.
  void add(const Node& node, const std::string& label) {
    const auto [known, is_new] =
        labels_.try_emplace({node.first, label}, fmt::format("{}{}", node.first, counts_[node.first]));
    const std::string& name = names_[node] = known->second;
    if (!is_new) {
      return;
    }
    ++counts_[node.first];
    const bool is_module = node.first == 'm';
    if (dot_) {
      text_ +=
          fmt::format("  {} [label = \"{}\" shape = \"{}\"];\n", name, escaped(label), is_module ? "box" : "ellipse");
    } else {
      text_ += fmt::format("  {}{}\"{}\"{}\n", name, is_module ? '[' : '(', escaped(label), is_module ? ']' : ')');
    }
  }

  // A line to a provider is dashed.
  void connect(const std::string& module, const Node& node, const std::string& label = {}) {
    const std::string& from = names_[{'m', module}];
    const std::string& to = names_[node];
    const bool dashed = node.first == 'p';
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

  bool has_module(const std::string& key) const { return names_.contains({'m', key}); }

  std::string finish() && {
    if (dot_) {
      text_ += "}\n";
    }
    return std::move(text_);
  }

 private:
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

  bool dot_;
  std::string text_;
  std::map<Node, std::string> names_;
  std::map<Node, std::string> labels_;  // names by kind and label
  std::map<char, std::size_t> counts_;  // of nodes, by kind
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
  drawing.add({'m', ""}, "root module");
  std::map<std::string, std::string> calls;  // of a locked release
  for (const messages::InspectedModule& module : inspected.modules) {
    std::string& keys = calls[release_of(module)];
    keys += (keys.empty() ? "" : ", ") + module.key;
  }
  for (const messages::InspectedModule& module : inspected.modules) {
    const std::string release = release_of(module);
    drawing.add({'m', module.key}, (module.locked ? calls[release] : module.key) + "\n" + release);
  }
  for (const messages::InspectedModule& module : inspected.modules) {
    drawing.connect(caller_of(module.key, drawing), {'m', module.key});
  }
  for (const messages::InspectedProvider& provider : inspected.providers) {
    drawing.add({'p', provider.address}, provider.address);
    std::map<std::string, std::string> constraints;
    for (const messages::InspectedConstraint& constraint : provider.constraints) {
      std::string& text = constraints[constraint.module];
      text += (text.empty() ? "" : ", ") + constraint.text;
    }
    for (const std::string& module : provider.modules) {
      drawing.connect(module, {'p', provider.address}, constraints[module]);
    }
  }
  return std::move(drawing).finish();
}

Json::Value terraform_modules(const std::vector<messages::InspectedModule>& modules) {
  Json::Value document;
  document["format_version"] = "1.0";
  Json::Value& records = document["modules"] = Json::arrayValue;
  for (const messages::InspectedModule& module : modules) {
    if (module.of_tests) {
      continue;
    }
    Json::Value& record = records.append(Json::objectValue);
    const auto add = [&](const char* member, const std::optional<std::string>& text) {
      if (text) {
        record[member] = *text;
      }
    };
    record["key"] = module.key.substr(module.key.rfind('.') + 1);
    record["source"] = module.source.value_or(module.raw_source.value_or(""));
    record["version"] = module.source_kind == "registry" ? module.locked_version.value_or("") : "";
    record["path"] = module.key;
    record["locked"] = module.locked;
    add("sourceKind", module.source_kind);
    add("lockedVersion", module.locked_version);
    add("commit", module.commit);
    add("digest", module.digest);
  }
  return document;
}

bool has_remote_source(const messages::InspectedModule& module) {
  const auto source = parse_identity(module.source.value_or(""));
  return !source || source->is_remote();
}

}  // namespace modlock
