#include "backends/git/submodules.h"

#include <fmt/format.h>

#include <atomic>
#include <cstddef>
#include <system_error>
#include <utility>

#include "backends/address/scrub.h"
#include "backends/base/digest.h"
#include "backends/base/parallel.h"
#include "backends/git/checkout.h"
#include "backends/git/commit_fetch.h"
#include "backends/git/file_transport.h"
#include "backends/git/git_command.h"
#include "backends/git/git_error.h"
#include "backends/git/gitmodules.h"
#include "backends/git/repository.h"
#include "protocol/base/result.h"

namespace modlock::git {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kDeepest = 16;
constexpr std::size_t kMost = 1000;
constexpr std::size_t kAtOnce = 4;

// "user@host:path", which ssh takes relative to the user's home; the same as a URL.
struct ScpForm {
  std::string url;
  bool is_relative = false;
};
std::optional<ScpForm> parse_scp(const std::string& text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos || colon == 0 || text.find('/') < colon || text.find("://") != std::string::npos ||
      text.substr(0, colon).find_first_of("[]") != std::string::npos || colon + 1 == text.size()) {
    return std::nullopt;
  }
  const bool is_relative = text[colon + 1] != '/';
  return ScpForm{fmt::format("ssh://{}{}{}", text.substr(0, colon), is_relative ? "/" : "", text.substr(colon + 1)),
                 is_relative};
}

// "helper::address", for which git runs the program git-remote-helper.
bool names_helper(std::string_view url) {
  const std::size_t mark = url.find("::");
  return mark != std::string_view::npos && mark > 0 &&
         url.substr(0, mark).find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-._") ==
             std::string_view::npos;
}

// The address behind a submodule's URL.
Result<RemoteAddress> address_of(const std::string& url, const RemoteAddress& parent, const Context& context) {
  if (names_helper(url)) {
    return fail(Code::source_denied,
                fmt::format("the submodule's URL \"{}\" names a transport helper, a program that git would run",
                            quotable(scrub_urls(url))),
                "write a URL of https, http, ssh or git into .gitmodules");
  }
  const auto scp = parse_scp(url);
  const std::string text = scp ? scp->url : url.starts_with('/') ? "file://" + url : url;
  if (text.find("://") == std::string::npos) {
    return fail(Code::source_unsupported,
                fmt::format("the submodule's URL \"{}\" names no host", quotable(scrub_urls(url))),
                "write a whole URL into .gitmodules");
  }
  MODLOCK_TRY(const auto source, parse_source("git::" + text));
  if (!source.source.subdir.empty() || !source.source.query.empty()) {
    return fail(Code::source_unsupported,
                fmt::format("the submodule's URL \"{}\" has \"//\" or arguments in it", source.source.identity()),
                "write the URL of the repository alone into .gitmodules");
  }
  if (context.check_source) {
    MODLOCK_TRY(context.check_source(source.source));
  }
  auto address = make_remote_address(source);
  if (address) {
    address->ssh_key = parent.ssh_key;
    if (scp && scp->is_relative) {
      address->url = url;
    }
  }
  return address;
}

// The places of one package's submodules, filled level by level.
class Filling {
 public:
  Filling(const fs::path& cache_directory, const fs::path& top, const SmartHttp* http, const Context& context)
      : cache_directory_(cache_directory), top_(top), http_(http), context_(context) {}

  Result<Diagnostics> fill(const Superproject& parent, std::size_t depth);

 private:
  Result<Diagnostics> fill_one(const Superproject& parent, const Submodule& submodule, const SubmoduleEntry& entry,
                               std::size_t depth);
  Result<CheckedOut> check_out_one(const RemoteAddress& address, const Submodule& submodule,
                                   const fs::path& directory) const;

  const fs::path& cache_directory_;
  const fs::path& top_;
  const SmartHttp* http_;
  const Context& context_;
  std::atomic<std::size_t> count_{0};
};

Result<Diagnostics> Filling::fill(const Superproject& parent, std::size_t depth) {
  if (parent.submodules.empty()) {
    return Diagnostics{};
  }
  if (depth >= kDeepest || (count_ += parent.submodules.size()) > kMost) {
    return fail(Code::limit_exceeded,
                fmt::format("commit {} of \"{}\" has more submodules than {}, or deeper ones than {} levels",
                            parent.commit, parent.address.display, kMost, kDeepest),
                "use the submodules' repositories themselves");
  }
  MODLOCK_TRY(const auto entries, read_gitmodules(parent.directory, parent.address.display, context_));
  std::vector<Result<Diagnostics>> filled(parent.submodules.size());
  parallel_for(parent.submodules.size(), depth == 0 ? kAtOnce : 1, [&](std::size_t i) {
    const Submodule& submodule = parent.submodules[i];
    const auto entry = find_submodule(entries, submodule.path, parent.address.display);
    filled[i] = entry ? fill_one(parent, submodule, *entry, depth) : fail(entry.error());
    if (!filled[i]) {
      filled[i].error().notes.push_back(fmt::format("for the submodule \"{}\" of commit {} of \"{}\"",
                                                    shown_path(submodule.path), parent.commit, parent.address.display));
    }
  });
  Diagnostics warnings;
  for (auto& result : filled) {
    if (!result) {
      return result;
    }
    warnings.insert(warnings.end(), result->begin(), result->end());
  }
  return warnings;
}

Result<Diagnostics> Filling::fill_one(const Superproject& parent, const Submodule& submodule,
                                      const SubmoduleEntry& entry, std::size_t depth) {
  if (entry.update == "none") {
    return Diagnostics{};
  }
  const std::string url = resolve_submodule_url(parent.url.reveal(), entry.url);
  MODLOCK_TRY(auto address, address_of(url, parent.address, context_));
  MODLOCK_TRY(check_file_transport(address, "submodule", "which git does not allow to submodules", context_));
  Superproject inner{SecretText(url), std::move(address), submodule.commit, parent.directory / submodule.path, {}};
  MODLOCK_TRY(auto checked_out, check_out_one(inner.address, submodule, inner.directory));
  inner.submodules = std::move(checked_out.submodules);
  auto deeper = fill(inner, depth + 1);
  if (deeper) {
    deeper->insert(deeper->begin(), checked_out.warnings.begin(), checked_out.warnings.end());
  }
  return deeper;
}

Result<CheckedOut> Filling::check_out_one(const RemoteAddress& address, const Submodule& submodule,
                                          const fs::path& directory) const {
  if (context_.offline && !Repository::exists(cache_directory_, address.display)) {
    return fail(not_in_cache(address));
  }
  MODLOCK_TRY(const auto repository, Repository::open(cache_directory_, address.display, context_));
  MODLOCK_TRY(fetch_submodule(Remote(address, context_, http_), repository, submodule.commit, context_));
  const fs::path index = top_.string() + "." + random_hex(8) + ".index";
  return check_out(repository, submodule.commit, directory, index, address.display, context_);
}

}  // namespace

Result<Diagnostics> fill_submodules(const fs::path& cache_directory, const Superproject& top, const SmartHttp* http,
                                    const Context& context) {
  return Filling(cache_directory, top.directory, http, context).fill(top, 0);
}

}  // namespace modlock::git
