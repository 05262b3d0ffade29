#include "plugin/lock/revision_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <set>

#include "backends/base/text.h"
#include "backends/git/git_command.h"
#include "plugin/lock/local_git.h"
#include "protocol/base/utf8.h"

namespace modlock {
namespace {

constexpr const char* kEmptyVariable = "MODLOCK_EMPTY";
constexpr std::size_t kLongestText = std::size_t{4} << 20U;  // no configuration file is longer
constexpr std::size_t kMostNamedPaths = 64;                  // on a command line

std::string_view first_line(std::string_view text) {
  return text.substr(0, text.find('\n'));
}

// A line of `git cat-file`, about one path.
struct ObjectLine {
  bool is_object = false;  // "<id> <type> <size>"
  bool is_file = false;
  bool has_text = false;  // a text follows in either mode: of a dangling symbolic link
  std::size_t size = 0;   // of the object, or of the text
};

ObjectLine read_line(std::string_view text) {
  constexpr std::array<std::string_view, 4> kLinks = {"symlink", "dangling", "loop", "notdir"};
  const std::string_view first = text.substr(0, text.find(' '));
  const std::string_view digits = text.substr(std::min(text.rfind(' ') + 1, text.size()));
  ObjectLine line;
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), line.size);
  const bool has_size = parsed.ec == std::errc() && parsed.ptr == digits.data() + digits.size();
  line.is_object = has_size && first.find_first_not_of("0123456789abcdef") == std::string_view::npos;
  line.is_file = line.is_object && text.substr(first.size()).starts_with(" blob ");
  line.has_text = has_size && std::ranges::find(kLinks, first) != kLinks.end();
  return line;
}

}  // namespace

Result<std::string> RevisionReader::ask(std::vector<std::string> arguments, std::string input) const {
  MODLOCK_TRY(const auto finished, run(std::move(arguments), std::move(input)));
  return finished.exit_code == 0 ? Result<std::string>(std::move(finished.output)) : cannot_read(finished);
}

// git would run filters to compare files, and hooks after it refreshed the index: all settings of both, of any origin,
// are replaced by empty ones.
Result<std::string> RevisionReader::changed_since(const std::string& commit) const {
  MODLOCK_TRY(const auto settings, run({"config", "--null", "--name-only", "--get-regexp", "^(filter|hook)[.]"}));
  std::vector<std::string> arguments;
  for (const std::string& key : lines_of(settings.output, '\0')) {
    arguments.push_back(fmt::format("--config-env={}={}", key, kEmptyVariable));
  }
  for (const char* const argument :
       {"diff", "--name-status", "-z", "--no-renames", "--no-ext-diff", "--ignore-submodules=dirty"}) {
    arguments.emplace_back(argument);
  }
  arguments.insert(arguments.end(), {commit, "--"});
  return ask(std::move(arguments));
}

Result<std::string> RevisionReader::commit_of(const std::string& revision) const {
  MODLOCK_TRY(const auto found, run({"rev-parse", "--verify", "--quiet", "--end-of-options", revision + "^{commit}"}));
  constexpr int kNotFound = 1;
  if (found.exit_code > kNotFound) {
    return cannot_read(found);
  }
  if (found.exit_code != 0) {
    MODLOCK_TRY(const auto shallow, run({"rev-parse", "--is-shallow-repository"}));
    const bool is_shallow = shallow.output.starts_with("true");
    return fail(Code::invalid_params,
                fmt::format("revision \"{}\" not found in the {} {}", revision,
                            is_shallow ? "shallow clone" : "repository", top_.string()),
                is_shallow ? "clone with the history (fetch-depth: 0 on GitHub, GIT_DEPTH: \"0\" on GitLab), or fetch "
                             "the revision before"
                           : "name a branch, tag or commit that was fetched");
  }
  return std::string(first_line(found.output));
}

Result<std::map<std::string, std::string>> RevisionReader::texts(const std::string& commit,
                                                                 const std::vector<std::string>& paths) const {
  std::map<std::string, std::string> texts;
  std::vector<std::string> short_files;
  std::vector<std::string> asked = paths;
  std::erase_if(asked, [](const std::string& path) { return path.find('\n') != std::string::npos; });
  MODLOCK_TRY(read_objects("--batch-check", commit, asked,
                           [&](const std::string& path, std::string_view) { short_files.push_back(path); }));
  MODLOCK_TRY(read_objects("--batch", commit, short_files, [&](const std::string& path, std::string_view text) {
    if (is_utf8(text)) {
      texts.emplace(path, text);
    }
  }));
  return texts;
}

Result<std::map<std::string, std::string>> RevisionReader::texts_at(const std::string& revision,
                                                                    const std::vector<std::string>& paths) const {
  MODLOCK_TRY(const auto commit, commit_of(revision));
  std::vector<std::string> arguments = {"--literal-pathspecs", "ls-tree",     "-r",   "-z",
                                        "--name-only",         "--full-tree", commit, "--"};
  if (paths.size() <= kMostNamedPaths) {
    arguments.insert(arguments.end(), paths.begin(), paths.end());
  }
  MODLOCK_TRY(const auto listed, ask(std::move(arguments)));
  const std::set<std::string> wanted(paths.begin(), paths.end());
  std::vector<std::string> existing = lines_of(listed, '\0');
  std::erase_if(existing, [&](const std::string& path) { return wanted.count(path) == 0; });
  MODLOCK_TRY(auto found, texts(commit, existing));
  const auto lacking = std::ranges::find_if(existing, [&](const std::string& path) { return found.count(path) == 0; });
  if (lacking != existing.end()) {
    return fail(Code::io_error, fmt::format("cannot read {} at the revision \"{}\": no text file", *lacking, revision),
                fmt::format("run: git -C {} show {}, and fix the file", shell_word(top_.string()),
                            shell_word(commit + ":" + *lacking)));
  }
  return found;
}

tl::unexpected<Error> RevisionReader::cannot_read(const Finished& finished) const {
  RepositoryFault fault = explain_fault(top_, finished.error_output);
  return fail(Code::io_error, fmt::format("cannot read revisions of {}: {}", top_.string(), fault.why),
              std::move(fault.hint));
}

Result<Finished> RevisionReader::run(std::vector<std::string> arguments, std::string input) const {
  Command command = git::enclosing_command(top_, std::move(arguments));
  command.input = std::move(input);
  command.set_environment[kEmptyVariable] = "";
  auto finished = run_command(command, context_);
  if (!finished) {
    return fail(with_note(std::move(finished.error()), "git reads the configuration at the revision"));
  }
  return finished;
}

template <typename Take>
Result<void> RevisionReader::read_objects(const char* mode, const std::string& commit,
                                          const std::vector<std::string>& paths, const Take& take) const {
  std::string input;
  for (const std::string& path : paths) {
    input += fmt::format("{}:{}\n", commit, path);
  }
  if (input.empty()) {
    return {};
  }
  std::vector<std::string> arguments = {"cat-file", mode};
  if (!commit.empty()) {  // git does not follow links of the index
    arguments.emplace_back("--follow-symlinks");
  }
  MODLOCK_TRY(const auto output, ask(std::move(arguments), std::move(input)));
  const bool has_texts = std::string_view(mode) == "--batch";
  std::string_view rest = output;
  for (const std::string& path : paths) {
    const ObjectLine line = read_line(first_line(rest));
    rest.remove_prefix(std::min(first_line(rest).size() + 1, rest.size()));
    std::string_view text;
    if (line.has_text || (has_texts && line.is_object)) {
      text = rest.substr(0, line.size);
      rest.remove_prefix(std::min(line.size + 1, rest.size()));
    }
    if (line.is_file && line.size <= kLongestText) {
      take(path, text);
    }
  }
  return {};
}

}  // namespace modlock
