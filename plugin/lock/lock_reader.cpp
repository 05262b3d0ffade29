#include <fmt/ranges.h>

#include <algorithm>
#include <initializer_list>

#include "backends/backend.h"
#include "backends/base/ascii.h"
#include "backends/base/collections.h"
#include "plugin/constraint/provider_constraint.h"
#include "plugin/hcl/parser.h"
#include "plugin/hcl/value.h"
#include "plugin/lock/lock_file.h"
#include "plugin/lock/side_alignment.h"
#include "protocol/base/result.h"

namespace modlock {
namespace {

constexpr std::string_view kRepairHint =
    "fix the file manually, or restore it from version control; nothing was written";

// A registry source may be written without "modules/". An invalid source is compared as written.
std::string canonical_source(std::string text) {
  const auto source = parse_identity(text);
  return source && source->is_registry() ? source->identity() : text;
}

// Reads the blocks of one file. Every message names the block as `module "vpc"` or `provider "…"`.
class LockReader {
 public:
  LockReader(std::string_view text, const std::string& path, std::string_view default_host)
      : path_(path), default_host_(default_host) {
    lock_.text = text;
    lock_.exists = true;
  }

  Result<LockFile> read() {
    const hcl::ParsedFile file = hcl::parse_native(lock_.text, path_, {.error_code = Code::lock_parse});
    for (const Diagnostic& diagnostic : file.diagnostics) {
      if (diagnostic.severity == Severity::error) {
        Error error = diagnostic.what;
        if (error.code == Code::lock_parse && split_conflict(lock_.text)) {
          error.message = "the file has conflict markers of a merge";
          error.hint = "run: " + tofu_modlock("lock") + ", which keeps the entries of both sides";
        } else if (error.hint.empty() || error.code == Code::limit_exceeded) {
          error.hint = kRepairHint;
        }
        return fail(std::move(error));
      }
    }
    if (!file.body.attributes.empty()) {
      const hcl::Attribute& attribute = file.body.attributes.front();
      return reject(attribute.name_range,
                    fmt::format("expected a provider or module block, found the argument \"{}\"", attribute.name));
    }
    for (const hcl::Block& block : file.body.blocks) {
      MODLOCK_TRY(read_block(block));
    }
    return std::move(lock_);
  }

 private:
  using Seen = std::map<std::string, Location, std::less<>>;

  tl::unexpected<Error> reject(const Range& range, std::string message) const {
    return fail(Error{.code = Code::lock_parse,
                      .message = std::move(message),
                      .location = Location{path_, range},
                      .hint = std::string(kRepairHint)});
  }

  Result<void> read_block(const hcl::Block& block) {
    if (block.type != "module" && block.type != "provider") {
      return reject(block.header_range,
                    fmt::format("expected a provider or module block, found a block \"{}\"", block.type));
    }
    const bool is_module = block.type == "module";
    const std::string_view wanted = is_module ? "the call's key" : "the provider's address";
    if (block.labels.empty()) {
      return reject(block.header_range, fmt::format("a {} block needs one label, {}, found none", block.type, wanted));
    }
    if (block.labels.size() > 1) {
      return reject(block.labels[1].range,
                    fmt::format("a {} block needs one label, {}, found {}", block.type, wanted, block.labels.size()));
    }
    const std::string& label = block.labels.front().text;
    const std::string name = fmt::format("{} \"{}\"", block.type, label);
    if (label.empty()) {
      return reject(block.labels.front().range,
                    fmt::format("the label of a {} block must be {}, found an empty string", block.type, wanted));
    }
    Seen& seen = is_module ? modules_seen_ : providers_seen_;
    const auto [first, is_new] = seen.emplace(label, Location{path_, block.header_range});
    if (!is_new) {
      auto error = reject(block.header_range, fmt::format("{} is locked twice", name));
      error.value().related.push_back({"the first block is here", first->second});
      return error;
    }
    return is_module ? read_module(block, name) : read_provider(block, name);
  }

  Result<void> read_module(const hcl::Block& block, const std::string& name) {
    MODLOCK_TRY(check_arguments(block, name, {"version", "source", "constraints", "hashes"}));
    ModuleLock module{.key = block.labels.front().text};
    MODLOCK_TRY(const auto source, read_string(block.body, "source", name));
    MODLOCK_TRY(module.version, read_string(block.body, "version", name));
    MODLOCK_TRY(module.constraints, read_string(block.body, "constraints", name));
    MODLOCK_TRY(auto hashes, read_hashes(block.body, name));
    if (!source) {
      return reject(block.header_range, fmt::format("{} lacks the argument \"source\"", name));
    }
    if (module.version) {
      MODLOCK_TRY(read_version<Version>(*module.version, block, name));
    }
    module.source = canonical_source(*source);
    module.hashes = std::move(hashes).value_or(std::vector<std::string>{});
    for (std::string& hash : module.hashes) {
      if (hash.starts_with("git:") || hash.starts_with("oci:") || hash.starts_with("zh:")) {
        hash = ascii::lower(hash);  // hexadecimal digits in either case
      }
    }
    sort_unique(module.hashes);
    for (const std::string_view scheme : {"git:", "h1:", "oci:"}) {
      const auto has_scheme = [scheme](const std::string& hash) { return hash.starts_with(scheme); };
      if (std::ranges::count_if(module.hashes, has_scheme) > 1) {
        return reject(block.body.find("hashes")->value.range,
                      fmt::format("{} has more than one \"{}\" hash: one package has only one", name, scheme));
      }
    }
    lock_.module_ranges.emplace(module.key, block.range);
    lock_.modules.emplace(module.key, std::move(module));
    return {};
  }

  Result<void> read_provider(const hcl::Block& block, const std::string& name) {
    MODLOCK_TRY(auto address, read_address(block, name));
    MODLOCK_TRY(check_arguments(block, name, {"version", "constraints", "hashes"}));
    MODLOCK_TRY(auto version, read_provider_version(block, name));
    MODLOCK_TRY(auto constraints, read_provider_constraints(block, name));
    MODLOCK_TRY(auto hashes, read_hashes(block.body, name));
    if (hashes && hashes->empty()) {
      return reject(block.body.find("hashes")->value.range,
                    fmt::format("the hashes of {} must not be an empty list: leave the argument out", name));
    }
    lock_.provider_ranges.emplace(address, block.range);
    lock_.providers.emplace(std::move(address),
                            ProviderLock{.version = std::move(version),
                                         .constraints = std::move(constraints),
                                         .hashes = std::move(hashes).value_or(std::vector<std::string>{})});
    return {};
  }

  Result<ProviderAddress> read_address(const hcl::Block& block, const std::string& name) const {
    const hcl::Label& label = block.labels.front();
    auto address = ProviderAddress::parse(label.text, default_host_);
    if (!address) {
      return reject(label.range, fmt::format("the label of {} must be an address \"hostname/namespace/type\"", name));
    }
    if (address->is_builtin(default_host_)) {
      return reject(label.range, fmt::format("{} is part of the client and has no version to lock", name));
    }
    if (address->is_legacy()) {
      return reject(label.range, fmt::format("{} has the namespace of Terraform 0.12 and cannot be locked", name));
    }
    if (address->to_string() != label.text) {
      return reject(label.range, fmt::format("the label of {} must be written as \"{}\"", name, address->to_string()));
    }
    return address;
  }

  Result<ProviderVersion> read_provider_version(const hcl::Block& block, const std::string& name) const {
    MODLOCK_TRY(const auto text, read_string(block.body, "version", name));
    if (!text) {
      return reject(block.header_range, fmt::format("{} lacks the argument \"version\"", name));
    }
    return read_version<ProviderVersion>(*text, block, name);
  }

  Result<std::string> read_provider_constraints(const hcl::Block& block, const std::string& name) const {
    auto text = read_string(block.body, "constraints", name);
    if (!text || !*text) {
      return text ? Result<std::string>() : fail(std::move(text.error()));
    }
    const Range& range = block.body.find("constraints")->value.range;
    const auto constraint = ProviderConstraint::parse_locked(**text);
    if (!constraint) {
      return reject(range, fmt::format("the constraints of {} cannot be read: {}", name, constraint.error().message));
    }
    if (constraint->canonical() != **text) {
      return reject(range, fmt::format("the constraints of {} must be written as \"{}\", found \"{}\"", name,
                                       constraint->canonical(), **text));
    }
    return std::move(**text);
  }

  Result<void> check_arguments(const hcl::Block& block, const std::string& name,
                               std::initializer_list<std::string_view> known) const {
    if (!block.body.blocks.empty()) {
      const hcl::Block& inner = block.body.blocks.front();
      return reject(inner.header_range, fmt::format("{} must not contain blocks, found \"{}\"", name, inner.type));
    }
    std::string unknown;
    const hcl::Attribute* first = nullptr;
    for (const hcl::Attribute& attribute : block.body.attributes) {
      if (!contains(known, attribute.name)) {
        first = first == nullptr ? &attribute : first;
        unknown += fmt::format("{}\"{}\"", unknown.empty() ? "" : ", ", attribute.name);
      }
    }
    if (first == nullptr) {
      return {};
    }
    return reject(first->name_range, fmt::format("{} has unknown arguments: {} (known are {})", name, unknown,
                                                 fmt::join(known.begin(), known.end(), ", ")));
  }

  // nullopt if the argument is absent.
  Result<std::optional<std::string>> read_string(const hcl::Body& body, std::string_view argument,
                                                 const std::string& name) const {
    const hcl::Attribute* attribute = body.find(argument);
    if (attribute == nullptr) {
      return std::nullopt;
    }
    const Result<hcl::Value> value = hcl::static_value(attribute->value, path_);
    const std::string* text = value ? value->as_string() : nullptr;
    if (text == nullptr) {
      return reject(attribute->value.range, fmt::format("the {} of {} must be a string, found {}", argument, name,
                                                        value ? hcl::type_name(*value) : "an expression"));
    }
    return *text;
  }

  Result<std::optional<std::vector<std::string>>> read_hashes(const hcl::Body& body, const std::string& name) const {
    const hcl::Attribute* attribute = body.find("hashes");
    if (attribute == nullptr) {
      return std::nullopt;
    }
    const Result<hcl::Value> value = hcl::static_value(attribute->value, path_);
    const hcl::TupleValue* items = value ? value->as_tuple() : nullptr;
    if (items == nullptr) {
      return reject(attribute->value.range, fmt::format("the hashes of {} must be a list of strings, found {}", name,
                                                        value ? hcl::type_name(*value) : "an expression"));
    }
    std::vector<std::string> hashes;
    for (const hcl::Value& item : *items) {
      const std::string* hash = item.as_string();
      if (hash == nullptr) {
        return reject(item.range,
                      fmt::format("each hash of {} must be a string, found {}", name, hcl::type_name(item)));
      }
      const std::size_t colon = hash->find(':');
      if (colon == 0 || colon == std::string::npos) {
        return reject(item.range, fmt::format("the hash \"{}\" of {} lacks its scheme, such as \"h1:\"", *hash, name));
      }
      hashes.push_back(*hash);
    }
    return hashes;
  }

  template <typename Kind>
  Result<Kind> read_version(const std::string& text, const hcl::Block& block, const std::string& name) const {
    const Range& range = block.body.find("version")->value.range;
    auto version = Kind::parse(text);
    if (!version) {
      return reject(range, fmt::format("the version \"{}\" of {} is not a version number", text, name));
    }
    if (version->to_string() != text) {
      return reject(range, fmt::format("the version of {} must be written as \"{}\", found \"{}\"", name,
                                       version->to_string(), text));
    }
    return version;
  }

  const std::string& path_;
  const std::string_view default_host_;
  LockFile lock_;
  Seen modules_seen_;
  Seen providers_seen_;
};

}  // namespace

std::string ModuleLock::hash_value(std::string_view scheme) const {
  return find_hash(hashes, scheme);
}

std::string ModuleLock::origin_hash() const {
  const auto found = std::ranges::find_if(hashes, [](const std::string& hash) { return !hash.starts_with("h1:"); });
  return found == hashes.end() ? std::string() : *found;
}

std::optional<Version> ModuleLock::parsed_version() const {
  auto parsed = version ? Version::parse(*version) : fail(Error{});
  return parsed ? std::optional(std::move(*parsed)) : std::nullopt;
}

std::vector<const ModuleLock*> closest_entries(std::string_view key, std::vector<const ModuleLock*> entries) {
  const auto common_names = [&](const ModuleLock* entry) {
    const std::string_view other = entry->key;
    const auto [end, other_end] = std::mismatch(key.rbegin(), key.rend(), other.rbegin(), other.rend());
    const bool is_whole = (end == key.rend() || *end == '.') && (other_end == other.rend() || *other_end == '.');
    return std::count(key.rbegin(), end, '.') + (is_whole ? 1 : 0);
  };
  const auto best = std::ranges::max_element(entries, {}, common_names);
  const auto most = best == entries.end() ? 0 : common_names(*best);
  std::erase_if(entries, [&](const ModuleLock* entry) { return common_names(entry) < most; });
  return entries;
}

Result<LockFile> parse_lock(std::string_view text, const std::string& path, std::string_view default_host) {
  return LockReader(text, path, default_host).read();
}

}  // namespace modlock
