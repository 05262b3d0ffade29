#include "plugin/cli/root_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "plugin/report/change_text.h"
#include "plugin/settings/settings.h"

namespace modlock::cli {
namespace {

namespace fs = std::filesystem;

// Outputs of roots that have something in common.
struct Group {
  const RootOutput* first;
  const Diagnostic* diagnostic;
  std::vector<std::string> roots;
};

std::string_view word_of(Severity severity) {
  return severity == Severity::error ? "Error" : severity == Severity::warning ? "Warning" : "Info";
}

// A note about a block of settings.
bool is_unused_block(const Diagnostic& diagnostic) {
  return diagnostic.severity == Severity::info && diagnostic.what.code == Code::config_parse;
}

// Adds an output to the group of the key, or to one of its own.
template <typename Key>
void group(std::vector<std::pair<Key, Group>>& groups, Key key, const RootOutput& output, bool joins,
           const Diagnostic* diagnostic = nullptr) {
  auto at = std::ranges::find_if(groups, [&](const auto& one) { return joins && one.first == key; });
  if (at == groups.end()) {
    at = groups.insert(at, {std::move(key), {&output, diagnostic, {}}});
  }
  if (at->second.roots.empty() || at->second.roots.back() != output.root()) {  // another call of the engine had it
    at->second.roots.push_back(output.root());
  }
}

}  // namespace

std::string list_of(const std::vector<std::string>& roots, std::size_t all, bool in_markdown) {
  constexpr std::size_t kMostNamed = 3;
  if (roots.size() > kMostNamed && roots.size() == all) {
    return fmt::format("all {} root modules", all);
  }
  const std::size_t named = roots.size() <= kMostNamed ? roots.size() : kMostNamed - 1;
  const auto name = [&](std::size_t i) { return in_markdown ? code_span(shown_path(roots[i])) : shown_path(roots[i]); };
  std::string text = name(0);
  for (std::size_t i = 1; i < named; ++i) {
    const char* const last = roots.size() == 2 ? " and " : ", and ";
    text += (i + 1 == roots.size() ? last : ", ") + name(i);
  }
  return text + (named < roots.size() ? fmt::format(", and {} more", roots.size() - named) : "");
}

Hint::Words place_of(const std::vector<std::string>& roots, const CommonFlags& flags) {
  const bool are_searched = flags.recursive && roots.size() > 1;
  Hint::Words words;
  for (const std::string& directory : are_searched ? flags.directories : roots) {
    if (const std::string path = shown_path(directory); !path.empty() && path != ".") {
      words.insert(words.end(), {"--chdir", path});
    }
  }
  if (are_searched) {
    words.emplace_back("--recursive");
  }
  return words;
}

RootOutput::RootOutput(std::string root, bool is_one_of_several)
    : root_(std::move(root)), is_one_of_several_(is_one_of_several) {}

std::string RootOutput::heading(std::string_view severity) const {
  return is_one_of_several_ ? fmt::format("{} in {}", severity, shown_path(root_)) : std::string(severity);
}

std::string RootOutput::hint(const Hint& hint) const {
  return hint_text(hint, place_of({root_}, {}));
}

std::string RootOutput::shown(std::string_view printed, bool is_of_several) const {
  std::string text(printed);
  const Hint::Words directory = place_of({root_}, {});
  for (std::size_t at = text.rfind(kSettingsFileName); !directory.empty() && at != std::string::npos;
       at = at == 0 ? std::string::npos : text.rfind(kSettingsFileName, at - 1)) {
    const std::size_t end = at + kSettingsFileName.size();
    const std::size_t name = at;
    at = at == 0 ? 0 : text.find_last_not_of("./", at - 1) + 1;
    if (at == name && is_of_several) {
      continue;
    }
    if (at == 0 || std::string_view(" \"`(").find(text[at - 1]) != std::string_view::npos) {
      const fs::path file = fs::path(directory.back()) / text.substr(at, end - at);
      text.replace(at, end - at, file.lexically_normal().generic_string());
    }
  }
  return text;
}

void RootOutput::print_texts(const Printer& print) {
  for (const auto& [stream, text] : std::exchange(texts_, {})) {
    stream == stderr ? print.err(text) : print.raw(text);
  }
}

void print_outputs(std::vector<RootOutput>& outputs, const CommonFlags& flags) {
  std::vector<std::pair<decltype(RootOutput::texts_), Group>> groups;
  for (const RootOutput& output : outputs) {
    if (!output.texts_.empty()) {
      group(groups, output.texts_, output, flags.comment.empty());  // each graph is for a program
    }
  }
  // What most roots have in common comes last.
  std::ranges::stable_sort(
      groups, [](const auto& left, const auto& right) { return left.second.roots.size() < right.second.roots.size(); });
  for (auto& [texts, group] : groups) {
    if (group.first->is_one_of_several()) {
      flags.print.out(fmt::format("{}{}{}:\n{}", &texts == &groups.front().first ? "" : "\n", flags.comment,
                                  list_of(group.roots, outputs.size(), flags.in_markdown),
                                  flags.in_markdown ? "\n" : ""));
    }
    RootOutput(*group.first).print_texts(flags.print);
  }
  print_diagnostics(outputs, flags);
}

void print_diagnostics(const std::vector<RootOutput>& outputs, const CommonFlags& flags) {
  std::vector<std::pair<std::string, Group>> groups;
  for (const RootOutput& output : outputs) {
    SourceExcerpts excerpts(output.root());
    for (const Diagnostic& diagnostic : output.diagnostics_) {
      group(groups, output.shown(render(diagnostic.what, word_of(diagnostic.severity), &excerpts), true), output, true,
            &diagnostic);
    }
  }
  for (const auto& [text, group] : groups) {
    const RootOutput& first = *group.first;
    if (is_unused_block(*group.diagnostic) && (!flags.recursive || group.roots.size() != outputs.size())) {
      continue;
    }
    const std::string_view word = word_of(group.diagnostic->severity);
    const std::string heading = group.roots.size() == 1
                                    ? first.heading(word)
                                    : fmt::format("{} in {}", word, list_of(group.roots, outputs.size()));
    SourceExcerpts excerpts(first.root());
    flags.print.err(first.shown(render(group.diagnostic->what, heading, &excerpts, place_of(group.roots, flags)),
                                group.roots.size() > 1));
  }
}

void print_diagnostics(const Diagnostics& diagnostics, const std::string& root, const Printer& print) {
  RootOutput output(root);
  output.add(diagnostics);
  CommonFlags flags;
  flags.print = print;
  print_diagnostics({output}, flags);
}

}  // namespace modlock::cli
