#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "backends/base/files.h"
#include "backends/base/pinned_directory.h"
#include "plugin/cli/commands.h"
#include "plugin/cli/embedded_files.h"
#include "plugin/cli/terminal.h"
#include "plugin/config/roots.h"
#include "plugin/lock/lock_file.h"
#include "plugin/settings/settings.h"
#include "plugin/settings/settings_documents.h"
#include "plugin/workspace/block_placement.h"

namespace modlock::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kAttribute = "merge=tofu-modlock";
constexpr bool kNeedsOwner = kGithubWorkflow.find("OWNER/") != std::string_view::npos;  // not in a release

// A file that `init` offers.
struct Offer {
  std::string flag;
  fs::path directory;  // absolute and existing
  std::string name;    // relative to it
  std::string purpose;
  std::string text;           // of a new file
  std::string addition = {};  // what an existing file needs; printed, not written
  std::string next = {};      // what remains to be done after it was written
  bool is_wanted = false;
};

// Returns the lines that configure the merge driver and that the text lacks.
std::string missing_attributes(const std::string& text, const std::vector<std::string>& locks) {
  std::string missing;
  for (const std::string& lock : locks) {
    std::istringstream lines(text);
    bool found = false;
    for (std::string line; std::getline(lines, line);) {
      std::istringstream line_words(line);
      const std::vector<std::string> words{std::istream_iterator<std::string>(line_words), {}};
      found = found || (!words.empty() && words.front() == lock && std::ranges::find(words, kAttribute) != words.end());
    }
    missing += found ? "" : fmt::format("{} {}\n", lock, kAttribute);
  }
  return missing;
}

Result<std::vector<Offer>> make_offers(const CommandLine& line) {
  const std::string named = line.common.directories.empty() ? "." : line.common.directories.front();
  std::error_code error;
  const fs::path directory = fs::absolute(named, error).lexically_normal();
  if (error || !fs::is_directory(directory, error)) {
    return fail(Code::invalid_params, fmt::format("\"{}\" is not a directory", named), "name a directory that exists");
  }
  const fs::path top = find_repository_root(directory);
  const auto settings = load_settings(directory, top, std::nullopt, {});
  const bool may_use_sidecar = settings && !settings->uses_sidecar;
  const bool uses_sidecar = may_use_sidecar && !may_have_inline_blocks(top);
  const std::vector<std::string> locks = {std::string(kLockFileName), std::string(kSidecarFileName)};
  const bool is_gitlab = line.ci.empty() ? fs::exists(top / ".gitlab-ci.yml", error) : line.ci == "gitlab";
  Offer ci{
      .flag = is_gitlab ? "--ci gitlab" : "--ci github",
      .directory = top,
      .name = is_gitlab ? ".gitlab-ci.yml" : ".github/workflows/tofu-modlock.yml",
      .purpose = "check the lock files in CI",
      .text = std::string(is_gitlab ? kGitlabJob : kGithubWorkflow),
      .addition = is_gitlab ? std::string(kGitlabJob) : "",
      .next = fmt::format("{}for Terraform, replace the client",
                          is_gitlab     ? "replace the image in the file; "
                          : kNeedsOwner ? "replace OWNER in the file with the account that publishes tofu-modlock; "
                                        : ""),
      .is_wanted = line.all || !line.ci.empty()};
  return std::vector<Offer>{
      {.flag = "--settings",
       .directory = directory,
       .name = std::string(kSettingsFileName),
       .purpose = "settings, most as comments",
       .text = commented_settings(uses_sidecar),
       .addition = uses_sidecar ? std::string(kUseSidecar) + "\n" : "",
       .next = may_use_sidecar && !uses_sidecar
                   ? fmt::format("module locks stay in {}; to move them, set {}", kLockFileName, kUseSidecar)
                   : "",
       .is_wanted = line.all || line.settings},
      {.flag = "--gitattributes",
       .directory = top,
       .name = ".gitattributes",
       .purpose = "merge lock files entry by entry",
       .text = missing_attributes("", locks),
       .next = "configure the merge driver once in each clone:\n"
               "    git config merge.tofu-modlock.name 'tofu-modlock'\n"
               "    git config merge.tofu-modlock.driver 'tofu-modlock merge --marker-size %L %O %A %B'",
       .is_wanted = line.all || line.gitattributes},
      std::move(ci),
      {.flag = "--pre-commit",
       .directory = top,
       .name = ".pre-commit-config.yaml",
       .purpose = "check the lock files before each commit",
       .text = "repos:\n" + std::string(kPreCommitEntry),
       .addition = std::string(kPreCommitEntry),
       .is_wanted = line.all || line.pre_commit}};
}

fs::path path_of(const Offer& offer) {
  return offer.directory / offer.name;
}

constexpr std::string_view kKept = "exists, not changed";

// A symbolic link counts, also one that points to nothing.
bool is_taken(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(fs::symlink_status(path, ignored));
}

void ask(Offer& offer, const Printer& print) {
  if (is_taken(path_of(offer)) && offer.flag != "--gitattributes") {
    offer.is_wanted = true;  // reports it
    return;
  }
  print.out(fmt::format("Write {} ({})? [y/N] ", shown_path(path_of(offer).string()), offer.purpose));
  flush_out();
  std::string answer;
  std::getline(std::cin, answer);
  offer.is_wanted = answer == "y" || answer == "Y" || answer == "yes";
}

// Writes below the directory without following links. Appends to an existing .gitattributes; leaves other existing
// files as they are. Returns what was done.
Result<std::string> write(const Offer& offer) {
  const fs::path relative(offer.name);
  const bool is_new = !is_taken(path_of(offer));
  std::string text = offer.text;
  if (!is_new && offer.flag == "--gitattributes" && !fs::is_symlink(path_of(offer))) {
    MODLOCK_TRY(const std::string before, read_file(path_of(offer)));
    std::vector<std::string> locks;
    std::istringstream lines(offer.text);
    for (std::string lock, attribute; lines >> lock >> attribute;) {
      locks.push_back(lock);
    }
    const std::string missing = missing_attributes(before, locks);
    if (missing.empty()) {
      return "has the line";
    }
    text = before + (before.empty() || before.ends_with('\n') ? "" : "\n") + missing;
  } else if (!is_new) {
    return std::string(kKept);
  }
  MODLOCK_TRY(const auto directory, PinnedDirectory::open_or_make(offer.directory, relative.parent_path()));
  if (auto ok = write_file_atomically(directory.path() / relative.filename(), text); !ok) {
    return fail(directory.with_real_path(std::move(ok.error())));
  }
  return is_new ? "written" : "line added";
}

}  // namespace

Result<int> run_init(const CommandLine& line) {
  const Printer& print = line.common.print;
  MODLOCK_TRY(auto offers, make_offers(line));
  const auto is_wanted = [](const Offer& offer) { return offer.is_wanted; };
  if (std::ranges::none_of(offers, is_wanted)) {
    if (isatty(STDIN_FILENO) != 1 || isatty(STDOUT_FILENO) != 1) {
      print.err("Nothing was written. Name what to write, or --all:\n");
      for (const Offer& offer : offers) {
        print.err(fmt::format("  {:<15}  {}: {}\n", offer.flag, shown_path(path_of(offer).string()), offer.purpose));
      }
      return 2;
    }
    std::ranges::for_each(offers, [&](Offer& offer) { ask(offer, print); });
  }
  int code = 0;
  for (const Offer& offer : offers) {
    if (!offer.is_wanted) {
      continue;
    }
    const std::string path = shown_path(path_of(offer).string());
    const auto done = write(offer);
    if (!done) {
      print.err(render(done.error()));
      code = worse_exit_code(code, exit_code(done.error()));
      continue;
    }
    if (line.common.quiet) {
      continue;
    }
    print.out(fmt::format("{}: {}\n", path, *done));
    const bool is_kept = *done == kKept;
    if (is_kept && !offer.addition.empty()) {
      const auto present = read_file(path_of(offer));
      if (!present || present->find(offer.addition) == std::string::npos) {
        print.out(fmt::format("  Add to it:\n{}", offer.addition));
      }
    } else if (!is_kept && !offer.next.empty()) {
      print.out(fmt::format("  Next: {}\n", offer.next));
    }
  }
  if (!offers.front().is_wanted && !offers.front().addition.empty() && !line.common.quiet) {
    print.out(
        fmt::format("Before the first lock, set {} in .tofu-modlock.hcl, so that the client keeps the module "
                    "locks: tofu-modlock init --settings\n",
                    kUseSidecar));
  }
  return code;
}

}  // namespace modlock::cli
