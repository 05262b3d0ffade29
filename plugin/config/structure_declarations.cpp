#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "plugin/config/module_call.h"
#include "plugin/config/object_address.h"
#include "plugin/config/structure.h"
#include "plugin/hcl/value.h"

namespace modlock {
namespace {

// A thing that is declared: the text that no other may have, and how messages call it.
struct Thing {
  std::string key;
  std::string_view kind;  // "output", "resource"
  std::string title;      // `output "x"`
};

std::optional<std::string> alias_of(const hcl::Block& block, const ConfigText& file) {
  const hcl::Attribute* alias = block.body.find("alias");
  const auto value = alias != nullptr ? hcl::static_value(alias->value, file.path) : hcl::Value{};
  return value && value->as_string() != nullptr ? std::optional(*value->as_string()) : std::nullopt;
}

// What the block declares, where names must be unique.
std::optional<Thing> thing_of(const hcl::Block& block, const ConfigText& file) {
  const auto& labels = block.labels;
  if (labels.size() == 2 && (block.type == "resource" || block.type == "data" || block.type == "ephemeral")) {
    const std::string name = fmt::format("{}.{}", labels[0].text, labels[1].text);
    const std::string_view kind = block.type == "data"        ? "data resource"
                                  : block.type == "ephemeral" ? "ephemeral resource"
                                                              : "resource";
    return Thing{block.type + "." + name, kind, fmt::format("the {} {}", kind, name)};
  }
  if (labels.size() != 1) {
    return std::nullopt;
  }
  const std::string& name = labels[0].text;
  if (block.type == "output" || block.type == "check") {
    const std::string_view kind = block.type == "output" ? "output" : "check";
    return Thing{fmt::format("{}.{}", kind, name), kind, fmt::format("the {} \"{}\"", kind, name)};
  }
  if (block.type == "provider") {
    const auto alias = alias_of(block, file);
    return Thing{fmt::format("provider.{}.{}", name, alias.value_or("")), "provider configuration",
                 alias ? fmt::format("the provider configuration \"{}\" with the alias \"{}\"", name, *alias)
                       : fmt::format("the default provider configuration \"{}\"", name)};
  }
  return std::nullopt;
}

class DeclarationChecker {
 public:
  DeclarationChecker(const std::vector<ConfigText>& files, ClientKind tool, Diagnostics& diagnostics)
      : tool_(tool), diagnostics_(diagnostics) {
    incomplete_ = std::any_of(files.begin(), files.end(), [](const ConfigText& file) {
      return file.role == ConfigFile::Role::primary && has_errors(file.parsed.diagnostics);
    });
  }

  void read_primary(const ConfigText& file) {
    for (const hcl::Block& block : file.parsed.body.blocks) {
      if (block.type == "terraform") {
        for (const hcl::Block& inner : block.body.blocks) {
          declare_setting(inner, file);
        }
      } else if (block.type == "import") {
        declare_import(block, file);
      } else if (block.type == "module" && block.labels.size() == 1) {
        calls_.emplace(block.labels.front().text, std::pair(&file, &block));
      } else if (const auto thing = thing_of(block, file)) {
        declare(thing->key, block, file, fmt::format("Duplicate {}", thing->kind), thing->title);
      }
      if (block.type == "check") {
        declare_check_data(block, file);
      }
    }
  }

  void read_override(const ConfigText& file) {
    std::map<std::string_view, const hcl::Block*> settings;
    for (const hcl::Block& block : file.parsed.body.blocks) {
      if (block.type == "terraform") {
        for (const hcl::Block& inner : block.body.blocks) {
          check_override_setting(inner, file, settings);
        }
      } else if (block.type == "module") {
        check_source(block);
      } else if (block.type != "check") {
        check_override(block, file);
      }
    }
  }

 private:
  void report(const ConfigText& file, const Range& range, std::string message, std::string hint) {
    diagnostics_.push_back(config_error(file, range, std::move(message), std::move(hint)));
  }

  void declare(const std::string& key, const hcl::Block& block, const ConfigText& file, std::string_view summary,
               std::string_view title) {
    const auto [found, added] = declared_.emplace(key, Location{file.path, block.header_range});
    if (!added) {
      report(file, block.header_range, fmt::format("{}: {} was already declared", summary, title),
             "rename or remove one of the two, or move it to an override file");
      diagnostics_.back().what.related.push_back({"the first one is here", found->second});
    }
  }

  void declare_setting(const hcl::Block& block, const ConfigText& file) {
    if (block.type == "backend" || block.type == "cloud") {
      declare(block.type, block, file, fmt::format("Duplicate {} configuration", block.type),
              fmt::format("a {} block", block.type));
      const auto other = declared_.find(block.type == "backend" ? "cloud" : "backend");
      if (other != declared_.end() && !std::exchange(both_, true)) {
        report(file, block.header_range,
               "Both a backend and a cloud configuration are present: a module may have one of the two",
               "remove one of the blocks");
        diagnostics_.back().what.related.push_back({"the other one is here", other->second});
      }
    } else if (block.type == "encryption" && tool_ == ClientKind::opentofu) {
      declare(block.type, block, file, "Duplicate encryption configuration", "an encryption block");
    } else if (block.type == "provider_meta" && block.labels.size() == 1) {
      declare("provider_meta." + block.labels.front().text, block, file, "Duplicate provider_meta block",
              fmt::format("provider_meta \"{}\"", block.labels.front().text));
    }
  }

  // Two import blocks may not bring in the same thing.
  void declare_import(const hcl::Block& block, const ConfigText& file) {
    const hcl::Attribute* to = block.body.find("to");
    const auto traversal = to != nullptr ? read_traversal(to->value, file.path) : std::nullopt;
    if (!traversal || !read_object_address(*traversal, tool_)) {
      return;
    }
    std::string key = "import";
    for (const Traversal::Step& step : traversal->steps) {
      key += step.key ? fmt::format("[{}]", step.name) : "." + step.name;
    }
    declare(key, block, file, "Duplicate import configuration",
            fmt::format("an import block for {}", key.substr(std::string_view("import.").size())));
  }

  void declare_check_data(const hcl::Block& check, const ConfigText& file) {
    for (const hcl::Block& inner : check.body.blocks) {
      const auto thing = inner.type == "data" ? thing_of(inner, file) : std::nullopt;
      if (thing) {
        declare(thing->key, inner, file, "Duplicate data resource", thing->title);
      }
    }
  }

  void check_override(const hcl::Block& block, const ConfigText& file) {
    const auto thing = thing_of(block, file);
    // Without a block of its own a provider has an empty default configuration, which may be overridden.
    const bool is_default_provider = block.type == "provider" && !alias_of(block, file);
    // Terraform leaves ephemeral blocks there unread.
    const bool is_unread = block.type == "ephemeral" && tool_ == ClientKind::terraform;
    if (!thing || is_default_provider || is_unread || incomplete_ || declared_.count(thing->key) != 0) {
      return;
    }
    report(file, block.header_range,
           fmt::format("Missing {} to override: no primary file declares {}", thing->kind, thing->title),
           "declare it in a file that is no override file, or remove the override");
  }

  // Each override file may have each of these once; it replaces what the others have.
  void check_override_setting(const hcl::Block& block, const ConfigText& file,
                              std::map<std::string_view, const hcl::Block*>& seen) {
    const bool single = block.type == "backend" || block.type == "cloud" ||
                        (block.type == "encryption" && tool_ == ClientKind::opentofu);
    if (!single || seen.emplace(block.type, &block).second) {
      return;
    }
    report(file, block.header_range,
           fmt::format("Duplicate {0} configuration: each override file may have only one {0} block", block.type),
           "remove one of the two");
    diagnostics_.back().what.related.push_back({"the first one is here", {file.path, seen[block.type]->header_range}});
  }

  // A call needs its source where it is made, also where an override gives another.
  void check_source(const hcl::Block& block) {
    if (block.labels.size() != 1 || block.body.find("source") == nullptr) {
      return;
    }
    const auto call = calls_.find(block.labels.front().text);
    if (call != calls_.end() && call->second.second->body.find("source") == nullptr) {
      report(*call->second.first, call->second.second->header_range,
             "Missing required argument: a module block needs the argument \"source\", also where it is overridden",
             "say here where the module comes from");
      calls_.erase(call);
    }
  }

  ClientKind tool_;
  Diagnostics& diagnostics_;
  bool incomplete_ = false;  // things may be missing: a primary file could not be read to its end
  bool both_ = false;        // a backend beside a cloud block was reported
  std::map<std::string, Location, std::less<>> declared_;
  std::map<std::string, std::pair<const ConfigText*, const hcl::Block*>, std::less<>> calls_;  // the first of a name
};

}  // namespace

void check_declarations(const std::vector<ConfigText>& files, ClientKind tool, Diagnostics& diagnostics) {
  DeclarationChecker checker(files, tool, diagnostics);
  for (const ConfigText& file : files) {
    if (file.role == ConfigFile::Role::primary) {
      checker.read_primary(file);
    }
  }
  for (const ConfigText& file : files) {
    if (file.role == ConfigFile::Role::override_file) {
      checker.read_override(file);
    }
  }
}

}  // namespace modlock
