#include "plugin/lock/opentofu_lock.h"

#include <algorithm>
#include <utility>

#include "backends/address/source.h"
#include "backends/backend.h"
#include "plugin/hcl/parser.h"
#include "plugin/hcl/value.h"

namespace modlock {
namespace {

constexpr std::string_view kRegistryPackage = "registry::";

// Returns the value of an argument that is a string; empty if there is none.
std::string string_argument(const hcl::Body& body, std::string_view name, const std::string& path) {
  const hcl::Attribute* attribute = body.find(name);
  const auto value = attribute == nullptr ? Result<hcl::Value>() : hcl::static_value(attribute->value, path);
  const std::string* text = value ? value->as_string() : nullptr;
  return text == nullptr ? std::string() : *text;
}

// Returns the `h1:` hash of a block; empty if there is none.
std::string h1_of(const hcl::Body& body, const std::string& path) {
  const hcl::Attribute* attribute = body.find("hashes");
  const auto value = attribute == nullptr ? Result<hcl::Value>() : hcl::static_value(attribute->value, path);
  const hcl::TupleValue* items = value ? value->as_tuple() : nullptr;
  for (const hcl::Value& item : items == nullptr ? hcl::TupleValue() : *items) {
    if (const std::string* hash = item.as_string(); hash != nullptr && hash->starts_with("h1:")) {
      return *hash;
    }
  }
  return {};
}

std::optional<OpenTofuModuleLock> read_module(const hcl::Body& body, const std::string& path,
                                              std::string_view default_host) {
  const auto source = parse_source(string_argument(body, "source", path), std::string(default_host));
  if (!source) {
    return std::nullopt;
  }
  OpenTofuModuleLock lock{.source = source->source.identity(), .package = string_argument(body, "package", path)};
  if (lock.package.starts_with(kRegistryPackage)) {
    auto version = Version::parse(lock.package.substr(lock.package.rfind('@') + 1));
    if (!version) {
      return std::nullopt;
    }
    lock.version = std::move(*version);
    lock.h1 = h1_of(body, path);
    return lock;
  }
  const auto package = parse_source(lock.package);
  const std::string id = package ? package->source.named_id() : std::string();
  if (id.empty()) {
    return std::nullopt;
  }
  (package->source.has_commits() ? lock.commit : lock.digest) = id;
  return lock;
}

}  // namespace

Result<OpenTofuLock> parse_opentofu_lock(std::string_view text, const std::string& path,
                                         std::string_view default_host) {
  const hcl::ParsedFile file = hcl::parse_native(text, path, {.error_code = Code::lock_parse});
  if (has_errors(file.diagnostics)) {
    return fail(parse_lock(text, path, default_host).error());
  }
  OpenTofuLock lock;
  std::string other_blocks(text);  // with everything else in its place, for locations
  for (const hcl::Block& block : file.body.blocks) {
    if (block.type != "module") {
      continue;
    }
    const auto start = other_blocks.begin();
    std::replace_if(
        start + static_cast<std::ptrdiff_t>(block.range.start.byte),
        start + static_cast<std::ptrdiff_t>(block.range.end.byte), [](char c) { return c != '\n' && c != '\r'; }, ' ');
    if (block.labels.size() != 1) {
      continue;
    }
    if (auto module = read_module(block.body, path, default_host)) {
      lock.modules.emplace(block.labels.front().text, std::move(*module));
    }
  }
  MODLOCK_TRY(auto providers, parse_lock(other_blocks, path, default_host));
  lock.providers = std::move(providers.providers);
  return lock;
}

}  // namespace modlock
