#include <fmt/format.h>

#include <algorithm>

#include "backends/base/collections.h"
#include "plugin/hcl/characters.h"
#include "plugin/lock/lock_file.h"
#include "plugin/lock/lock_text.h"

namespace modlock {
namespace {

std::string write_hashes(const std::vector<std::string>& hashes) {
  std::string text = "  hashes = [\n";
  for (const std::string& hash : hashes) {
    text += fmt::format("    {},\n", hcl::quoted(hash));
  }
  return text + "  ]\n";
}

}  // namespace

std::string write_module_block(const ModuleLock& module) {
  std::string block = fmt::format("module {} {{\n", hcl::quoted(module.key));
  if (module.version) {
    block += fmt::format("  version = {}\n", hcl::quoted(*module.version));
    block += fmt::format("  source  = {}\n", hcl::quoted(module.source));
  } else {
    block += fmt::format("  source = {}\n", hcl::quoted(module.source));
  }
  if (module.constraints) {
    block += fmt::format("\n  constraints = {}\n", hcl::quoted(*module.constraints));
  }
  if (!module.hashes.empty()) {
    block += "\n" + write_hashes(module.hashes);
  }
  return block + "}\n";
}

bool is_after_provider(const LockFile& lock, std::string_view key) {
  const auto module = lock.module_ranges.find(key);
  return module != lock.module_ranges.end() && std::ranges::any_of(lock.provider_ranges, [&](const auto& provider) {
           return provider.second.start.byte < module->second.start.byte;
         });
}

std::string write_provider_block(const ProviderAddress& address, const ProviderLock& provider) {
  std::string block = fmt::format("provider {} {{\n", hcl::quoted(address.to_string()));
  const std::string version = hcl::quoted(provider.version.to_string());
  if (provider.constraints.empty()) {
    block += fmt::format("  version = {}\n", version);
  } else {
    block += fmt::format("  version     = {}\n", version);
    block += fmt::format("  constraints = {}\n", hcl::quoted(provider.constraints));
  }
  std::vector<std::string> hashes = provider.hashes;
  sort_unique(hashes);
  if (!hashes.empty()) {
    block += write_hashes(hashes);
  }
  return block + "}\n";
}

std::string write_lock(const LockFile& before, const ModuleLocks& modules, std::string_view header) {
  const bool is_in_place = std::ranges::none_of(
      before.module_ranges, [&](const auto& block) { return is_after_provider(before, block.first); });
  if (modules == before.modules && is_in_place) {
    return before.text;
  }
  LockText text = split_lock_text(before.text);
  std::vector<Range> ranges = values_of(before.module_ranges);
  std::ranges::sort(ranges, [](const Range& left, const Range& right) { return left.start.byte < right.start.byte; });
  remove_blocks(text, ranges);
  const bool nothing_else = std::ranges::all_of(
      text.lines, [](const TextLine& line) { return line.text.find_first_not_of(" \t\r") == std::string::npos; });
  if (nothing_else) {
    text.lines.clear();
    text.final_line_end = true;
    for (const TextLine& line : split_lock_text(header).lines) {
      text.lines.push_back({line.text, text.line_end});
    }
  }
  insert_blocks(text, mapped(modules, [](const auto& entry) { return write_module_block(entry.second); }));
  return join_lock_text(text);
}

std::string write_whole_lock(const ModuleLocks& modules, const ProviderLocks& providers, std::string_view header) {
  std::string text(header);
  for (const auto& [key, module] : modules) {
    text += "\n" + write_module_block(module);
  }
  for (const auto& [address, provider] : providers) {
    text += "\n" + write_provider_block(address, provider);
  }
  return text;
}

}  // namespace modlock
