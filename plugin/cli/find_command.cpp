#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "backends/base/text.h"
#include "plugin/cli/over_roots.h"
#include "plugin/lock/locked_text.h"
#include "plugin/settings/release_pattern.h"

namespace modlock::cli {
namespace {

using Answers = std::vector<RootAnswer<messages::LockFindResult>>;

// Returns the JSON of a root.
RootOutcome json_of(const RootAnswer<messages::LockFindResult>& answer, const CommonFlags& flags,
                    const std::string& root) {
  return answer.result ? RootOutcome{.exit_code = 0, .json = messages::encode(*answer.result)}
                       : failed(answer.result.error(), flags, root, answer.details.error_data);
}

void add_rows(const messages::LockFindResult& result, const std::string& root, std::vector<std::vector<Cell>>& rows) {
  for (const messages::FoundRelease& found : result.found) {
    const auto source = parse_identity(found.source);
    rows.push_back({{shown_path(root)},
                    {found.subject},
                    {locked_text(found.version, source ? named_reference(*source) : std::string(), found.origin)},
                    {found.source}});
  }
}

// Prints one table for all roots. Returns the worst exit code of roots that cannot be read.
int print_found(const CommandLine& line, const std::vector<std::string>& roots, const Answers& answers) {
  std::vector<std::vector<Cell>> rows = {{{"ROOT"}, {"SUBJECT"}, {"LOCKED"}, {"SOURCE"}}};
  std::vector<std::string> without_lock;
  std::size_t finding = 0;
  std::size_t unread = 0;
  int worst = 0;
  for (std::size_t i = 0; i < roots.size(); ++i) {
    const auto& result = answers[i].result;
    if (!result) {
      const NamedRoot named(roots[i], roots.size() > 1);
      worst = worse_exit_code(worst, failed(result.error(), line.common, roots[i]).exit_code);
      ++unread;
      continue;
    }
    finding += result->found.empty() ? 0U : 1U;
    if (!result->is_locked) {
      without_lock.push_back(shown_path(roots[i]));
    }
    add_rows(*result, roots[i], rows);
  }
  if (rows.size() > 1) {
    print_table_out(rows, Fit::cut_middle);
  }
  const std::size_t read = roots.size() - unread - without_lock.size();
  if (finding == 0 && unread == 0) {
    print_out(fmt::format("No root module locks {} ({} searched).\n", line.find, counted(read, "lock file")));
  } else if (finding != 0) {
    print_out(fmt::format("{} of {} lock{} {}.\n", finding, counted(roots.size(), "root module"),
                          finding == 1 ? "s" : "", line.find));
  }
  if (!without_lock.empty()) {
    print_err(fmt::format("No lock file, so nothing was searched: {}\n", fmt::join(without_lock, ", ")));
  }
  if (unread != 0) {
    print_err(fmt::format("{} of {} root modules could not be read, so they may lock it too.\n", unread, roots.size()));
  }
  return worst;
}

}  // namespace

Result<int> run_find(const CommandLine& line, const Host& host) {
  CommonFlags flags = line.common;
  flags.only_locks = true;
  MODLOCK_TRY(ReleasePattern::parse(line.find));
  MODLOCK_TRY(const auto roots, find_roots(flags, host));
  const Answers answers = call_for_roots(roots, flags, host, [&](const std::string& root) {
    return host.call(&Engine::find,
                     messages::LockFindParams{.root = host.root_params(root, flags), .lock = {}, .release = line.find});
  });
  if (!flags.json) {
    return print_found(line, roots, answers);
  }
  auto next = answers.begin();
  return run_for_roots(roots, flags, [&](const std::string& root) { return json_of(*next++, flags, root); });
}

}  // namespace modlock::cli
