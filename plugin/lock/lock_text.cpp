#include "plugin/lock/lock_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "backends/base/collections.h"
#include "plugin/hcl/characters.h"
#include "plugin/lock/lock_file.h"
#include "plugin/lock/locked_text.h"

namespace modlock {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::string_view kBlanks = " \t\r";

bool is_blank(std::string_view text) {
  return text.find_first_not_of(kBlanks) == std::string_view::npos;
}

// The first line after the comment that begins on line `start`; `start` itself if no comment begins there, or if
// something else follows the comment on its last line.
std::size_t after_comment(const std::vector<TextLine>& lines, std::size_t start) {
  std::string_view rest = lines[start].text;
  rest.remove_prefix(std::min(rest.find_first_not_of(kBlanks), rest.size()));
  if (rest.substr(0, 1) == "#" || rest.substr(0, 2) == "//") {
    return start + 1;
  }
  if (rest.substr(0, 2) != "/*") {
    return start;
  }
  rest.remove_prefix(2);
  for (std::size_t line = start; line < lines.size(); ++line) {
    if (line != start) {
      rest = lines[line].text;
    }
    if (const std::size_t close = rest.find("*/"); close != std::string_view::npos) {
      return is_blank(rest.substr(close + 2)) ? line + 1 : start;
    }
  }
  return start;
}

// Adds a missing line ending to every line except the last; the last line ends as in the original file.
void repair_line_ends(LockText& text) {
  for (std::size_t i = 0; i < text.lines.size(); ++i) {
    std::string& end = text.lines[i].end;
    const bool wanted = i + 1 < text.lines.size() || text.final_line_end;
    if (!wanted) {
      end.clear();
    } else if (end.empty()) {
      end = text.line_end;
    }
  }
}

std::string write_hashes(const std::vector<std::string>& hashes) {
  std::string text = "  hashes = [\n";
  for (const std::string& hash : hashes) {
    text += fmt::format("    {},\n", hcl::quoted(hash));
  }
  return text + "  ]\n";
}

std::string join_lock_text(const LockText& text) {
  std::string result = text.bom;
  for (const TextLine& line : text.lines) {
    result += line.text;
    result += line.end;
  }
  return result;
}

// Removes blocks. `ranges` are their ranges in the text given to split_lock_text(), ascending. Removes a block's lines
// and the one blank line before it (after it, if it is at the top); keeps comments on those lines.
void remove_blocks(LockText& text, const std::vector<Range>& ranges) {
  std::vector<std::size_t> starts;  // byte at which each line starts
  std::size_t byte = text.bom.size();
  for (const TextLine& line : text.lines) {
    starts.push_back(byte);
    byte += line.text.size() + line.end.size();
  }
  std::vector<TextLine> kept;
  std::size_t next = 0;
  for (const Range& range : ranges) {
    const std::size_t first = range.start.line - 1;
    const std::size_t last = range.end.line - 1;
    kept.insert(kept.end(), text.lines.begin() + static_cast<std::ptrdiff_t>(next),
                text.lines.begin() + static_cast<std::ptrdiff_t>(first));
    const std::string before = text.lines[first].text.substr(0, range.start.byte - starts[first]);
    const std::string after = text.lines[last].text.substr(range.end.byte - starts[last]);
    next = last + 1;
    if (!is_blank(before) || !is_blank(after)) {
      kept.push_back({before + after, text.lines[last].end});
    } else if (!kept.empty() && kept.back().is_blank()) {
      kept.pop_back();
    } else if (kept.empty() && next < text.lines.size() && text.lines[next].is_blank()) {
      ++next;
    }
  }
  kept.insert(kept.end(), text.lines.begin() + static_cast<std::ptrdiff_t>(next), text.lines.end());
  text.lines = std::move(kept);
  repair_line_ends(text);
}

// Inserts blocks (LF line endings, including a final one) after the comments at the top of the file, each after one
// blank line. If the file does not begin with a comment, inserts them at the very top, each before one blank line.
void insert_blocks(LockText& text, const std::vector<std::string>& blocks) {
  const std::size_t head = head_size(text.lines);
  std::vector<TextLine> inserted;
  for (const std::string& block : blocks) {
    LockText lines = split_lock_text(block);
    for (TextLine& line : lines.lines) {
      line.end = block.find('\r') == std::string::npos ? text.line_end : line.end;
    }
    const TextLine blank{"", text.line_end};
    if (head > 0) {
      inserted.push_back(blank);
    }
    inserted.insert(inserted.end(), lines.lines.begin(), lines.lines.end());
    if (head == 0) {
      inserted.push_back(blank);
    }
  }
  text.lines.insert(text.lines.begin() + static_cast<std::ptrdiff_t>(head), inserted.begin(), inserted.end());
  repair_line_ends(text);
}

// Returns the bytes of the lines of a module block; empty: there is none.
std::string former_block(const LockFile& before, const std::string& key) {
  const Range* range = find_in(before.module_ranges, key);
  const std::size_t start = range == nullptr ? 0 : range->start.byte;
  return range == nullptr ? "" : before.text.substr(start, before.text.find('\n', range->end.byte) + 1 - start);
}

}  // namespace

std::string with_line_endings_of(std::string_view model, std::string_view text) {
  const LockText lines_of_model = split_lock_text(model);
  LockText lines = split_lock_text(text);
  lines.bom = lines_of_model.bom;
  for (TextLine& line : lines.lines) {
    line.end = line.end.empty() ? "" : lines_of_model.line_end;
  }
  return join_lock_text(lines);
}

std::size_t head_size(const std::vector<TextLine>& lines) {
  std::size_t head = 0;       // end of the last paragraph of the head
  std::size_t paragraph = 0;  // end of the paragraph being read
  std::size_t line = 0;
  while (line < lines.size()) {
    if (lines[line].is_blank()) {
      head = paragraph;
      ++line;
      continue;
    }
    const std::size_t next = after_comment(lines, line);
    if (next == line) {
      return head == 0 ? paragraph : head;
    }
    line = paragraph = next;
  }
  return paragraph;
}

LockText split_lock_text(std::string_view text) {
  LockText result;
  if (text.substr(0, kByteOrderMark.size()) == kByteOrderMark) {
    result.bom = kByteOrderMark;
    text.remove_prefix(kByteOrderMark.size());
  }
  while (!text.empty()) {
    const std::size_t feed = text.find('\n');
    if (feed == std::string_view::npos) {
      result.lines.push_back({std::string(text), ""});
      result.final_line_end = false;
      break;
    }
    const std::size_t size = feed > 0 && text[feed - 1] == '\r' ? feed - 1 : feed;
    result.lines.push_back({std::string(text.substr(0, size)), std::string(text.substr(size, feed + 1 - size))});
    text.remove_prefix(feed + 1);
  }
  const auto crlf = std::ranges::count(result.lines, "\r\n", &TextLine::end);
  result.line_end = 2 * static_cast<std::size_t>(crlf) > result.lines.size() ? "\r\n" : "\n";
  return result;
}

std::string_view file_with_blocks(const std::optional<std::string>& sidecar) {
  const bool has_blocks =
      sidecar && (sidecar->starts_with("module \"") || sidecar->find("\nmodule \"") != std::string::npos);
  return has_blocks ? kSidecarFileName : kLockFileName;
}

bool uses_sidecar_blocks(const LockFile& lock, const LockFile& sidecar, std::optional<bool> setting) {
  if (!setting) {
    return !sidecar.modules.empty();
  }
  return sidecar.exists && (*setting || lock.modules.empty());
}

LockFile with_module_blocks(LockFile lock, LockFile sidecar, std::optional<bool> setting) {
  if (uses_sidecar_blocks(lock, sidecar, setting)) {
    lock.modules = std::move(sidecar.modules);
  }
  return lock;
}

Result<void> check_one_placement(const LockFile& lock, const LockFile& sidecar) {
  for (const auto& [key, entry] : sidecar.modules) {
    const auto other = lock.modules.find(key);
    if (other == lock.modules.end() || other->second == entry) {
      continue;
    }
    return fail(
        Error{.code = Code::lock_parse,
              .message = fmt::format("{} and {} have different entries for module \"{}\" ({} and {})", kLockFileName,
                                     kSidecarFileName, key, locked_text(other->second), locked_text(entry)),
              .subject = "module." + key,
              .location = Location{std::string(kSidecarFileName), sidecar.module_ranges.find(key)->second},
              .hint = "find out which file is right; select it with module_lock_file = \"sidecar\" or "
                      "\"inline\" in .tofu-modlock.hcl, then run: " +
                      tofu_modlock("lock")});
  }
  return {};
}

std::string write_module_block(const ModuleLock& module) {
  std::string block = fmt::format("module {} {{\n", hcl::quoted(module.key));
  block += module.version ? fmt::format("  version = {}\n", hcl::quoted(*module.version)) : "";
  block += fmt::format("  source{} = {}\n", module.version ? " " : "", hcl::quoted(module.source));
  if (module.constraints) {
    block += fmt::format("\n  constraints = {}\n", hcl::quoted(*module.constraints));
  }
  if (!module.hashes.empty()) {
    block += "\n" + write_hashes(module.hashes);
  }
  return block + "}\n";
}

bool is_after_provider(const LockFile& lock, std::string_view key) {
  const Range* module = find_in(lock.module_ranges, key);
  return module != nullptr && std::ranges::any_of(lock.provider_ranges, [&](const auto& provider) {
           return provider.second.start.byte < module->start.byte;
         });
}

std::string write_provider_block(const ProviderAddress& address, const ProviderLock& provider) {
  std::string block = fmt::format("provider {} {{\n", hcl::quoted(address.to_string()));
  const bool is_constrained = !provider.constraints.empty();
  block += fmt::format("  version{} = {}\n", is_constrained ? "    " : "", hcl::quoted(provider.version.to_string()));
  block += is_constrained ? fmt::format("  constraints = {}\n", hcl::quoted(provider.constraints)) : "";
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
  if (std::ranges::all_of(text.lines, &TextLine::is_blank)) {
    text.lines.clear();
    text.final_line_end = true;
    for (const TextLine& line : split_lock_text(header).lines) {
      text.lines.push_back({line.text, text.line_end});
    }
  }
  insert_blocks(text, mapped(modules, [&](const auto& entry) {
                  std::string block = write_module_block(entry.second);
                  const std::string former = former_block(before, entry.first);
                  std::string plain = former;
                  std::erase(plain, '\r');
                  return plain == block ? former : block;
                }));
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
