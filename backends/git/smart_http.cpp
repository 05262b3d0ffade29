#include "backends/git/smart_http.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <numeric>
#include <utility>

#include "backends/base/digest.h"
#include "backends/base/process.h"
#include "backends/git/git_command.h"
#include "backends/git/git_configuration.h"
#include "backends/git/http_exchange.h"
#include "backends/git/repository.h"
#include "backends/git/wire.h"

namespace modlock::git {

constexpr const char* kOtherEngine = "choose the engine \"auto\" or \"git\"";

// The last advertisements of remotes, for any caller with the same address and credentials.
class SmartHttp::Memory {
 public:
  // Null: only git can communicate with the remote.
  using Found = std::shared_ptr<const Advertised>;

  // Replaces what was kept of the remote. If its references are too many, only its endpoint is kept.
  void keep(const RemoteAddress& remote, const Advertised* found) {
    const bool is_small = found != nullptr && found->references.size() <= kMostReferences;
    Found kept = found == nullptr
                     ? nullptr
                     : std::make_shared<const Advertised>(is_small ? *found : Advertised{{}, found->found, {}});
    const std::scoped_lock lock(mutex_);
    const std::string key = key_of(remote);
    std::erase_if(entries_, [&](const Entry& entry) { return entry.key == key; });
    entries_.push_back({key, Clock::now(), std::move(kept)});
    while (entries_.size() > kMostKept || references_kept() > kMostReferences) {
      entries_.erase(entries_.begin());
    }
  }

  // Returns what was kept in the last minute.
  std::optional<Found> find(const RemoteAddress& remote) {
    const std::scoped_lock lock(mutex_);
    const auto end = Clock::now() - kKept;
    std::erase_if(entries_, [end](const Entry& entry) { return entry.time < end; });
    const std::string key = key_of(remote);
    const auto at = std::ranges::find(entries_, key, &Entry::key);
    return at == entries_.end() ? std::nullopt : std::optional(at->found);
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kKept{60};
  static constexpr std::size_t kMostKept = 64;
  static constexpr std::size_t kMostReferences = std::size_t{1} << 18U;  // of all remotes; some 30 MiB

  struct Entry {
    std::string key;
    Clock::time_point time;
    Found found;
  };

  std::size_t references_kept() const {
    return std::accumulate(entries_.begin(), entries_.end(), std::size_t{0}, [](std::size_t sum, const Entry& entry) {
      return sum + (entry.found ? entry.found->references.size() : 0);
    });
  }

  static std::string key_of(const RemoteAddress& remote) {
    return remote.url + '\0' + remote.full_url.reveal() + '\0' + remote.username.reveal() + '\0' +
           (remote.password ? remote.password->reveal() : "");
  }

  std::mutex mutex_;
  std::vector<Entry> entries_;  // the latest last
};

SmartHttp::SmartHttp(HttpClient* http, GitEngine engine, std::filesystem::path cache_directory)
    : http_(http), engine_(engine), cache_directory_(std::move(cache_directory)), memory_(std::make_unique<Memory>()) {}

SmartHttp::~SmartHttp() = default;

bool SmartHttp::is_ours(const RemoteAddress& remote, const Context& context) const {
  const bool is_http = remote.scheme == "https" || remote.scheme == "http";
  return http_ != nullptr && engine_ != GitEngine::git && is_http && !context.offline;
}

bool SmartHttp::may_leave_to_git(const std::string& reason) const {
  return !reason.empty() && engine_ == GitEngine::automatic && find_program("git");
}

std::string other_repository(std::string_view from, std::string_view to) {
  to.remove_suffix(to.ends_with('/') ? 1 : 0);
  const auto name_of = [](std::string_view url) {
    url.remove_prefix(std::min(url.find("://") + 3, url.size()));
    url = url.substr(0, url.find('?'));
    url = url.substr(0, url.find_last_not_of('/') + 1);
    return url.ends_with(".git") ? url.substr(0, url.size() - 4) : url;
  };
  return name_of(from) == name_of(to) ? "" : printable_url(to);
}

std::optional<Result<Advertising>> SmartHttp::list(const RemoteAddress& remote, const WantedReferences& wanted,
                                                   std::string_view doing, const Context& context) const {
  if (!is_ours(remote, context) || memory_->find(remote) == nullptr) {
    return std::nullopt;
  }
  const auto plan = plan_http(remote, lookup_environment, GitConfiguration::of(remote, lookup_environment, context));
  if (!plan && engine_ == GitEngine::automatic) {
    return std::nullopt;
  }
  if (!plan) {
    return fail(
        Code::source_unsupported,
        fmt::format("libgit2 could not {} \"{}\": {}, which git alone honours", doing, remote.display, plan.error()),
        kOtherEngine);
  }
  HttpExchange exchange(*http_, *plan, doing, context);
  auto advertised = exchange.advertise(wanted, cache_directory_ / sha256_hex(remote.display) / kEndpointFile);
  if (advertised) {
    memory_->keep(remote, &*advertised);
    return Advertising{.references = std::move(advertised->references),
                       .is_whole = !advertised->found.is_v2,
                       .redirected_to = other_repository(remote.url, advertised->found.base.reveal())};
  }
  if (may_leave_to_git(exchange.only_git())) {
    memory_->keep(remote, nullptr);
    return std::nullopt;
  }
  if (!exchange.only_git().empty()) {
    Error& error = advertised.error();
    error.notes.push_back("git itself was not asked: " + exchange.only_git());
    const bool has_entry = error.code == Code::auth_required && !netrc_logins(remote, lookup_environment).empty();
    error.hint = has_entry ? kOtherEngine : error.hint;
  }
  return fail(std::move(advertised.error()));
}

std::optional<References> SmartHttp::recall(const RemoteAddress& remote, const WantedReferences& wanted) const {
  const auto kept = memory_->find(remote).value_or(nullptr);
  const auto has = [&](const std::string& name) {
    return name == "HEAD" ||
           std::ranges::any_of(kept->wanted, [&](const std::string& prefix) { return name.starts_with(prefix); });
  };
  const bool has_all = kept && !kept->references.empty() && (!kept->found.is_v2 || std::ranges::all_of(wanted, has));
  return has_all ? std::optional(kept->references) : std::nullopt;
}

std::optional<Result<bool>> SmartHttp::fetch(const RemoteAddress& remote, const std::vector<std::string>& ids,
                                             const std::filesystem::path& repository, std::string_view doing,
                                             const Context& context) const {
  const auto kept = is_ours(remote, context) ? memory_->find(remote).value_or(nullptr) : nullptr;
  if (!kept || !HttpExchange::can_fetch(kept->found)) {
    return std::nullopt;
  }
  HttpExchange exchange(*http_, kept->found.plan, doing, context);
  PackResponse answer(repository);
  auto fetched = exchange.fetch(kept->found, ids, answer);
  if (!fetched && may_leave_to_git(exchange.only_git())) {
    memory_->keep(remote, nullptr);
    return std::nullopt;
  }
  return fetched;
}

std::optional<Result<SecretText>> SmartHttp::resolve(const RemoteAddress& remote, std::string_view doing,
                                                     const Context& context) const {
  const auto plan = plan_http(remote, lookup_environment, GitConfiguration::of(remote, lookup_environment, context));
  if (http_ == nullptr || !plan) {
    return std::nullopt;
  }
  auto led_to = HttpExchange(*http_, *plan, doing, context).resolve();
  return led_to && led_to->empty() ? std::nullopt : std::optional(std::move(led_to));
}

}  // namespace modlock::git
