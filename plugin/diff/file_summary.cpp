#include "plugin/diff/file_summary.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "backends/base/ascii.h"
#include "backends/base/text.h"
#include "plugin/config/config_files.h"
#include "plugin/diff/package_diff.h"
#include "protocol/base/utf8.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 37> kEndings = {
    ".sh",  ".bash", ".zsh",   ".fish", ".py",  ".pyc", ".rb",  ".pl",  ".ps1", ".psm1", ".bat", ".cmd", ".exe",
    ".dll", ".so",   ".dylib", ".jar",  ".war", ".js",  ".mjs", ".cjs", ".ts",  ".lua",  ".php", ".vbs", ".wasm",
    ".zip", ".tar",  ".gz",    ".tgz",  ".whl", ".rpm", ".deb", ".bin", ".awk", ".run",  ".msi"};
// Files that other programs run, or that a client or Terragrunt reads next to the module.
constexpr std::string_view kNames = "terragrunt.hcl .envrc Dockerfile .terraformrc .tofurc";
constexpr std::string_view kOtherDirectories =
    ".github .gitlab .circleci .ci example examples test tests doc docs .husky .devcontainer";

bool has_magic(std::string_view text) {
  constexpr std::array<std::string_view, 6> kMagic = {"#!",
                                                      "\x7f"
                                                      "ELF",
                                                      "MZ",
                                                      "PK\x03\x04",
                                                      "#cloud-config",
                                                      "\xcf\xfa\xed\xfe"};
  return text.starts_with(std::string_view("\0asm", 4)) ||
         std::ranges::any_of(kMagic, [&](std::string_view magic) { return text.starts_with(magic); });
}

bool is_executable(const TreeEntry& entry) {
  return entry.type == TreeEntry::Type::file && (entry.mode & 0100U) != 0;
}

// "run.sh.tpl" ends like a script too.
bool is_script(const TreeEntry& entry, std::string_view text) {
  const std::string name = fs::path(entry.name).filename().string();
  const bool has_ending = std::ranges::any_of(kEndings, [&](std::string_view ending) {
    return name.ends_with(ending) || name.find(std::string(ending) + ".t") != std::string::npos;
  });
  return has_ending || has_magic(text) || (is_executable(entry) && !config_kind(name)) || is_in(kNames, name);
}

// The directory of a module that the package calls counts as none of these.
bool is_in_other_directory(const std::string& path, const PackageText& package) {
  std::size_t called = 0;  // length of the innermost one
  for (const auto& [directory, module] : package.modules) {
    called = path.starts_with(directory + "/") ? std::max(called, directory.size()) : called;
  }
  for (const fs::path& part : fs::path(path.substr(called)).parent_path()) {
    if (is_in(kOtherDirectories, part.string()) &&
        (package.directory + "/").find(part.string() + "/") == std::string::npos) {
      return true;
    }
  }
  return false;
}

bool is_elsewhere(const std::string& path, const PackageText& package) {
  return is_in_other_directory(path, package) ||
         (!package.directory.empty() && !path.starts_with(package.directory + "/") &&
          std::ranges::none_of(package.modules,
                               [&](const auto& module) { return path.starts_with(module.first + "/"); }));
}

// How much more often `after` has each line.
std::unordered_map<std::string, std::ptrdiff_t> line_differences(std::string_view before, std::string_view after) {
  std::unordered_map<std::string, std::ptrdiff_t> lines;
  for (const auto& [text, step] : {std::pair(before, -1), std::pair(after, 1)}) {
    for (const std::string& line : lines_of(text)) {
      lines[line] += step;
    }
  }
  return lines;
}

// The lines of a changelog that an older one does not have, or not as often: each release may have the same heading.
std::vector<std::string> new_lines(std::string before, std::string after) {
  constexpr std::size_t kMostLines = 20;
  constexpr std::size_t kLongest = 200;
  std::erase(before, '\r');
  std::erase(after, '\r');
  std::unordered_map<std::string, std::ptrdiff_t> left = line_differences(before, after);
  std::vector<std::string> found;
  for (const std::string& line : lines_of(after)) {
    if (found.size() < kMostLines && left[line]-- > 0 && line.find_first_not_of(" \t") != std::string::npos) {
      found.push_back(cut_text(to_valid_utf8(line), kLongest));
    }
  }
  return found;
}

// The words of a text. A word behind a backslash is also there without its first character: "\\nrun".
std::unordered_set<std::string_view> words_of(std::string_view text) {
  std::unordered_set<std::string_view> words;
  const auto is_part = [](char c) { return ascii::is_alnum(c) || c == '-' || c == '_' || c == '.' || c < 0; };
  visit_words(text, is_part, [&](std::string_view word, std::size_t start) {
    words.insert(word);
    if (start > 0 && text[start - 1] == '\\') {
      words.insert(word.substr(1));
    }
  });
  return words;
}

// Lines that only one of two texts has.
std::pair<std::size_t, std::size_t> count_lines(std::string_view before, std::string_view after) {
  std::pair<std::size_t, std::size_t> sum;
  for (const auto& [line, left] : line_differences(before, after)) {
    (left > 0 ? sum.first : sum.second) += static_cast<std::size_t>(left > 0 ? left : -left);
  }
  return sum;
}

class FileComparison {
 public:
  FileComparison(const PackageText& before, const PackageText& after, std::vector<PackageFinding>& findings)
      : before_(before), after_(after), findings_(findings) {}

  messages::FileSummary run() {
    for (const auto& [name, entry] : before_.files) {
      if (after_.files.count(name) == 0) {
        const std::string text = before_.content(entry);
        add(name, "removed", is_script(entry, text), text, "");
        removed_texts_.emplace(text, name);
      }
    }
    for (const auto& [name, entry] : after_.files) {
      const auto old = before_.files.find(name);
      compare(name, old == before_.files.end() ? nullptr : &old->second, entry);
    }
    std::ranges::sort(out_.changed, [](const auto& left, const auto& right) {
      return left.is_script != right.is_script ? left.is_script : left.path < right.path;
    });
    return std::move(out_);
  }

 private:
  void add(const std::string& name, const std::string& change, bool is_script, std::string_view before,
           std::string_view after) {
    const bool is_text = before.find('\0') == std::string_view::npos && after.find('\0') == std::string_view::npos;
    const auto [added, removed] = is_text ? count_lines(before, after) : std::pair<std::size_t, std::size_t>();
    const bool is_document = name.ends_with(".md") || fs::path(name).filename().string().starts_with("LICENSE");
    out_.changed.push_back({.path = name,
                            .change = change,
                            .is_script = is_script,
                            .is_auxiliary = is_in_other_directory(name, change == "removed" ? before_ : after_) ||
                                            (!is_script && is_document),
                            .lines_added = added,
                            .lines_removed = removed});
    out_.lines_added += added;
    out_.lines_removed += removed;
  }

  // Whether the configuration of a module that is called names the file.
  bool is_named(const std::string& path) {
    if (words_.empty()) {
      for (const auto& [directory, module] : after_.modules) {
        for (const ConfigText& file : module.files) {
          words_.merge(words_of(file.text));
        }
      }
    }
    const std::string name = fs::path(path).filename().string();
    const auto words = words_of(name);
    return std::ranges::all_of(words, [&](std::string_view word) { return words_.count(word) != 0; });
  }

  void compare(const std::string& name, const TreeEntry* old, const TreeEntry& entry) {
    const std::string text = after_.content(entry);
    const std::string old_text = old == nullptr ? "" : before_.content(*old);
    const bool is_changed = old == nullptr || text != old_text || old->type != entry.type;
    const bool was_made_executable = old != nullptr && is_executable(entry) && !is_executable(*old);
    if (!is_changed && !was_made_executable) {
      return;
    }
    const std::string change = old == nullptr ? "added" : is_changed ? "changed" : "executable";
    const bool is_any_script = is_script(entry, text) || (old != nullptr && is_script(*old, old_text));
    add(name, change, is_any_script, old_text, text);
    if (!before_.files.empty() && (name == "CHANGELOG.md" || name == after_.directory + "/CHANGELOG.md")) {
      out_.changelog = new_lines(old_text, text);
    }
    if (!is_any_script) {
      return;
    }
    const auto source = removed_texts_.find(text);
    if (old == nullptr && source != removed_texts_.end() && is_script(before_.files.at(source->second), text) &&
        is_executable(before_.files.at(source->second)) == is_executable(entry)) {
      return;  // only its name is new
    }
    const bool is_notable = is_elsewhere(name, after_) && !is_named(name);
    const auto place = old == nullptr ? std::nullopt : std::optional(Location{name, std::nullopt});
    findings_.push_back(
        {{"script", is_notable ? "notable" : "risky",
          fmt::format("the script or binary {} was {}", name, change == "executable" ? "made executable" : change),
          place, Location{name, std::nullopt}, std::nullopt},
         name,
         {name}});
  }

  const PackageText& before_;
  const PackageText& after_;
  std::vector<PackageFinding>& findings_;
  messages::FileSummary out_;
  std::unordered_set<std::string_view> words_;                  // of the configuration of the modules that are called
  std::unordered_map<std::string, std::string> removed_texts_;  // to the name of one such file
};

}  // namespace

messages::FileSummary summarize_files(PackageText& before, PackageText& after, std::vector<PackageFinding>& findings) {
  messages::FileSummary files = FileComparison(before, after, findings).run();
  for (const messages::ChangedFile& file : files.changed) {
    before.changed.insert(file.path);
    after.changed.insert(file.path);
  }
  return files;
}

void join_findings(std::vector<PackageFinding>& findings) {
  std::map<std::string, PackageFinding*> by_cause;
  std::map<PackageFinding*, std::set<std::string>> users;
  for (PackageFinding& finding : findings) {
    const bool is_said =
        std::ranges::all_of(finding.causes, [&](const std::string& cause) { return by_cause.count(cause) != 0; });
    const bool says_cause = !is_in("provisioner connection data-source ephemeral", finding.rule);
    for (const std::string& cause : finding.causes) {
      if (!is_said) {
        by_cause.try_emplace(says_cause ? cause : "", &finding);
        continue;
      }
      PackageFinding& said = *by_cause[cause];
      said.grade = grade_rank(finding.grade) > grade_rank(said.grade) ? finding.grade : said.grade;
      if (said.subject != finding.subject) {
        users[&said].insert(finding.subject);
      }
    }
    if (is_said && !finding.causes.empty()) {
      finding.rule.clear();
    }
  }
  for (auto& [finding, subjects] : users) {
    std::vector<std::string> names(subjects.begin(), subjects.end());
    leave_first(names);
    finding->message +=
        fmt::format("; {} {}", finding->rule == "script" ? "used by" : "also in", fmt::join(names, ", "));
  }
  std::erase_if(findings, [](const PackageFinding& finding) { return finding.rule.empty(); });
}

}  // namespace modlock
