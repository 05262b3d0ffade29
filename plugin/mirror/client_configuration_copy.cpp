#include "plugin/mirror/client_configuration_copy.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "backends/address/hostname.h"
#include "backends/base/ascii.h"
#include "backends/base/files.h"
#include "plugin/client/client_configuration.h"
#include "plugin/client/hcl1.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;

using hcl1::Item;
using hcl1::Value;

bool is_plain(std::string_view key) {
  return !key.empty() && std::ranges::all_of(key, [](char c) { return ascii::is_alpha(c) || c == '_'; });
}

// Quotes a text for both syntaxes. In native syntax "${" would begin an expression, so its "$" is escaped.
std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += text[i];
    } else if (c < 0x20 || c == 0x7f || (c == '$' && i + 1 < text.size() && text[i + 1] == '{')) {
      out += fmt::format("\\u{:04x}", c);
    } else {
      out += text[i];
    }
  }
  return out + "\"";
}

std::string scalar(const Value& value) {
  return value.kind == Value::Kind::string ? in_quotes(value.text) : value.text;
}

std::string write_list(const Value& list) {
  std::string text = "[";
  for (const Value& element : list.elements) {
    text += text.size() == 1 ? "" : ", ";
    text += element.kind == Value::Kind::list ? write_list(element) : scalar(element);
  }
  return text + "]";
}

std::string write_items(const std::vector<Item>& items, std::size_t depth = 0);

std::string write_item(const Item& item, const Value& value, std::size_t depth) {
  std::string text;
  if (value.kind == Value::Kind::list && std::ranges::count(value.elements, Value::Kind::object, &Value::kind) != 0) {
    for (const Value& element : value.elements) {
      text += write_item(item, element, depth);
    }
    return text;
  }
  const std::string indent(depth * 2, ' ');
  text = indent;
  for (std::size_t i = 0; i < item.keys.size(); ++i) {
    text += (i == 0 && is_plain(item.keys[i]) ? item.keys[i] : in_quotes(item.keys[i])) + " ";
  }
  if (value.kind == Value::Kind::object) {
    return text + (item.is_assigned ? "= {\n" : "{\n") + write_items(value.items, depth + 1) + indent + "}\n";
  }
  return text + "= " + (value.kind == Value::Kind::list ? write_list(value) : scalar(value)) + "\n";
}

// Returns the items in native syntax of HCL 1, each on a new line: objects as blocks, lists of objects as repeated
// blocks, everything else as arguments. A client reads them as the same content.
std::string write_items(const std::vector<Item>& items, std::size_t depth) {
  std::string text;
  for (const Item& item : items) {
    text += write_item(item, item.value, depth);
  }
  return text;
}

// Returns the items as members of a JSON object, without its braces. Items of several keys are nested: `a "b" {…}` is
// "a":{"b":{…}}.
std::string write_json_members(const std::vector<Item>& items) {
  std::string out;
  for (const Item& item : items) {
    out += out.empty() ? "" : ",";
    for (std::size_t i = 0; i < item.keys.size(); ++i) {
      out += (i == 0 ? "" : "{") + in_quotes(item.keys[i]) + ":";
    }
    out +=
        item.value.kind == Value::Kind::object ? "{" + write_json_members(item.value.items) + "}" : scalar(item.value);
    out.append(item.keys.size() - 1, '}');
  }
  return out;
}

bool is_named(const Item& item, std::string_view name) {
  return ascii::equals_ignoring_case(item.keys.front(), name);
}

bool has_label(const Item& item) {
  return is_named(item, "host") || is_named(item, "credentials") || is_named(item, "credentials_helper");
}

void add_labelled(const std::string& type, const Value& value, std::vector<Item>& out) {
  for (const Value& element : value.elements) {
    add_labelled(type, element, out);
  }
  for (const Item& item : value.items) {
    Item labelled = item;
    labelled.keys.insert(labelled.keys.begin(), type);
    labelled.is_assigned = false;
    out.push_back(std::move(labelled));
  }
}

// Returns whether a client reads the item after all blocks with a label: `host { "example.com" {…} }`, and in JSON
// lists.
bool comes_last(const Item& item, bool is_json) {
  const auto is_list = [](const Item& inner) { return inner.value.kind == Value::Kind::list; };
  return has_label(item) && item.keys.size() == 1 &&
         (!is_json || is_list(item) || std::ranges::any_of(item.value.items, is_list));
}

// Returns the items of a file in the order of a client, with each labeled block separate.
std::vector<Item> items_of(const hcl1::File& file) {
  std::vector<Item> out;
  std::vector<Item> last;
  for (const Item& item : file.items) {
    if (has_label(item) && item.keys.size() == 1) {
      add_labelled(item.keys.front(), item.value, comes_last(item, file.is_json) ? last : out);
    } else {
      out.push_back(item);
    }
  }
  out.insert(out.end(), last.begin(), last.end());
  return out;
}

struct SourceFile {
  std::string text;
  bool is_json = false;
  bool is_changed = false;  // some content was changed
  std::vector<Item> items;
};

class Merger {
 public:
  Merger(ClientKind tool, const ProcessEnvironment& environment) : tool_(tool), environment_(environment) {}

  Result<std::string> run(const ServicesByHost& services) {
    Diagnostics missing;
    for (const auto& given : client_configuration_files(tool_, environment_, missing)) {
      MODLOCK_TRY(read(given));
    }
    resolve_duplicates();
    std::vector<Item> hosts;
    for (const auto& [host, urls] : services) {
      for (const std::string& label : labels_of(host)) {
        hosts.push_back(host_block(label, urls));
      }
    }
    if (files_.size() == 1 && files_.front().is_json && !files_.front().is_changed) {
      return spliced(files_.front().text, hosts);
    }
    std::string out;
    for (const SourceFile& file : files_) {
      out += file.is_json || file.is_changed ? write_items(file.items) : file.text;
      out += out.empty() || out.ends_with('\n') ? "" : "\n";
    }
    return out + write_items(hosts);
  }

 private:
  Result<void> read(const ClientConfigurationFile& given) {
    MODLOCK_TRY(auto text, read_file(given.path));
    const auto file =
        hcl1::parse(text, environment_.display(given.path),
                    tool_ == ClientKind::opentofu ? hcl1::Duplicates::refused : hcl1::Duplicates::last_counts);
    if (!file) {
      Error error = file.error();
      error.hint = "fix the file: otherwise the client ignores it and contacts the registries directly";
      return fail(std::move(error));
    }
    SourceFile source{.text = std::move(text), .is_json = file->is_json, .items = items_of(*file)};
    // After such a block an added one would have no effect.
    source.is_changed = std::ranges::any_of(
        file->items, [&](const Item& item) { return is_named(item, "host") && comes_last(item, file->is_json); });
    for (Item& item : source.items) {
      if (is_named(item, "oci_default_credentials")) {
        make_absolute(item.value, given.path.parent_path(), source.is_changed);
      }
    }
    if (!given.is_main) {
      // A client ignores this block in such a file.
      drop(source, [](const Item& item) { return is_named(item, "registry_protocols"); });
    }
    files_.push_back(std::move(source));
    return {};
  }

  static void make_absolute(Value& value, const fs::path& directory, bool& is_changed) {
    for (Value& element : value.elements) {
      make_absolute(element, directory, is_changed);
    }
    for (Item& item : value.items) {
      for (Value& path : item.value.elements) {
        const bool is_path = item.keys.front() == "docker_style_config_files" && path.kind == Value::Kind::string;
        if (is_path && fs::path(path.text).is_relative()) {
          path.text = (directory / path.text).lexically_normal().string();
          is_changed = true;
        }
      }
    }
  }

  template <typename Predicate>
  static void drop(SourceFile& file, Predicate goes) {
    const auto kept = std::remove_if(file.items.begin(), file.items.end(), goes);
    file.is_changed = file.is_changed || kept != file.items.end();
    file.items.erase(kept, file.items.end());
  }

  // Merges several files. Duplicates within one file are left to the client.
  void resolve_duplicates() {
    std::set<std::vector<std::string>> later;
    for (auto file = files_.rbegin(); file != files_.rend(); ++file) {
      drop(*file, [&](const Item& item) { return has_label(item) && later.count(item.keys) != 0; });
      for (const Item& item : file->items) {
        if (has_label(item)) {
          later.insert(item.keys);
        }
      }
    }
    std::set<std::string> earlier;
    for (SourceFile& file : files_) {
      drop(file, [&](const Item& item) { return is_argument(item) && earlier.count(item.keys.front()) != 0; });
      for (const Item& item : file.items) {
        if (is_argument(item)) {
          earlier.insert(item.keys.front());
        }
      }
    }
  }

  static bool is_argument(const Item& item) {
    return item.keys.size() == 1 && item.value.kind != Value::Kind::object && item.value.kind != Value::Kind::list;
  }

  // Returns the user's spellings: a client treats two spellings of one host as two blocks, and either may win.
  std::set<std::string> labels_of(const std::string& host) const {
    std::set<std::string> labels;
    for (const SourceFile& file : files_) {
      for (const Item& item : file.items) {
        const auto forms =
            is_named(item, "host") && item.keys.size() > 1 ? parse_service_host(item.keys[1]) : std::nullopt;
        if (forms && forms->ascii == host) {
          labels.insert(item.keys[1]);
        }
      }
    }
    if (labels.empty()) {
      const auto forms = parse_service_host(host);
      labels.insert(forms ? forms->display : host);
    }
    return labels;
  }

  static Item argument(const std::string& name, const std::string& text) {
    Item item{.keys = {name}, .is_assigned = true, .value = {}, .at = {}};
    item.value.kind = Value::Kind::string;
    item.value.text = text;
    return item;
  }

  static Item host_block(const std::string& label, const std::map<std::string, std::string>& urls) {
    Item services{.keys = {"services"}, .is_assigned = true, .value = {}, .at = {}};
    for (const auto& [name, url] : urls) {
      services.value.items.push_back(argument(name, url));
    }
    Item host{.keys = {"host", label}, .is_assigned = false, .value = {}, .at = {}};
    host.value.items.push_back(std::move(services));
    return host;
  }

  // Inserts before the brace that ends the object.
  static std::string spliced(const std::string& text, const std::vector<Item>& hosts) {
    if (hosts.empty()) {
      return text;
    }
    const std::size_t brace = text.rfind('}');
    const std::size_t last = text.find_last_not_of(" \t\r\n", brace - 1);
    const bool needs_comma = text[last] != ',' && text[last] != '{';
    return text.substr(0, brace) + (needs_comma ? "," : "") + write_json_members(hosts) + text.substr(brace);
  }

  ClientKind tool_;
  const ProcessEnvironment& environment_;
  std::vector<SourceFile> files_;
};

}  // namespace

Result<std::string> client_configuration_copy(ClientKind tool, const ProcessEnvironment& environment,
                                              const ServicesByHost& services) {
  return Merger(tool, environment).run(services);
}

}  // namespace modlock
