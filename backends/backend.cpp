#include "backends/backend.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "backends/memo.h"

namespace modlock {
namespace {

// Schemes that identify content, then the one that is only evidence of it.
constexpr std::array<std::string_view, 3> kHashSchemes = {"git", "oci", "zh"};

// The context of one call. Log lines are scrubbed, also of the secrets in the address.
struct ScrubbedCall {
  ScrubbedCall(const SourceAddress& source, const Context& given, KnownSecrets& secrets)
      : log(*given.log, secrets), context(given) {
    context.log = &log;
    for (const std::string& secret : secrets_of(source)) {
      secrets.add(secret);
    }
  }

  ScrubbingLog log;
  Context context;
};

void scrub(Listing& listing, const Secrets& secrets) {
  listing.redirected_to = secrets.scrub(listing.redirected_to);
  for (SkippedTag& skipped : listing.skipped) {
    skipped = {secrets.scrub(skipped.tag), secrets.scrub(skipped.reason)};
  }
  std::erase_if(listing.versions, [&](ListedVersion& version) {
    const bool is_secret = secrets.are_in(version.tag);
    if (is_secret) {
      listing.skipped.push_back({secrets.scrub(version.tag), "it holds a secret that the server was sent"});
    } else {
      version.ambiguous_with = secrets.scrub(version.ambiguous_with);
      version.deprecated = version.deprecated ? std::optional(secrets.scrub(*version.deprecated)) : std::nullopt;
    }
    return is_secret;
  });
}

// Removes the secrets from the error of a result.
template <typename T>
Result<T> scrubbed(Result<T> result, const KnownSecrets& secrets) {
  if (!result) {
    secrets.all().scrub(result.error());
  }
  return result;
}

// Used only for comparison, because it may contain secrets.
std::string question_of(const SourceAddress& source, std::string_view what) {
  const std::string more = source.source.identifies_package() ? "" : source.package_url.reveal();
  return fmt::format("{}\n{}\n{}\n{}", source.source.package_identity(), more, what, source.is_users);
}

// Returns the external backend of a git source; empty: there is none.
std::string external_of(const BackendCore& core, const Source& source) {
  return source.has_commits() ? core.answered_by() : std::string();
}

}  // namespace

constexpr int kLatestYear = 2200;  // the clock ends in 2262

std::optional<std::chrono::system_clock::time_point> read_time(const std::string& text) {
  int year = 0;
  unsigned month = 0;
  unsigned day = 0;
  int hours = 0;
  int minutes = 0;
  int seconds = 0;
  int used = 0;
  if (std::sscanf(text.c_str(), "%4d-%2u-%2uT%2d:%2d:%2d%n", &year, &month, &day, &hours, &minutes, &seconds, &used) !=
          6 ||
      used != 19) {
    return std::nullopt;
  }
  std::string_view zone = std::string_view(text).substr(19);
  if (zone.substr(0, 1) == ".") {
    zone.remove_prefix(std::min(zone.find_first_not_of("0123456789", 1), zone.size()));
  }
  int zone_hours = 0;
  int zone_minutes = 0;
  if (zone != "Z" && zone != "z" &&
      (zone.size() != 6 || (zone[0] != '+' && zone[0] != '-') ||
       std::sscanf(zone.data() + 1, "%2d:%2d", &zone_hours, &zone_minutes) != 2)) {
    return std::nullopt;
  }
  const std::chrono::year_month_day date{std::chrono::year{year}, std::chrono::month{month}, std::chrono::day{day}};
  const bool fits = date.ok() && year >= 1970 && year <= kLatestYear && hours >= 0 && hours < 24 && minutes >= 0 &&
                    minutes < 60 && zone_hours < 24 && zone_minutes < 60 && seconds >= 0 && seconds <= 60;
  const auto offset = std::chrono::hours(zone_hours) + std::chrono::minutes(zone_minutes);
  return fits ? std::optional(std::chrono::sys_days(date) + std::chrono::hours(hours) + std::chrono::minutes(minutes) +
                              std::chrono::seconds(seconds) - (zone[0] == '-' ? -offset : offset))
              : std::nullopt;
}

std::string find_hash(std::span<const std::string> hashes, std::string_view scheme) {
  for (const std::string& hash : hashes) {
    if (hash.size() > scheme.size() && hash.starts_with(scheme) && hash[scheme.size()] == ':') {
      return hash.substr(scheme.size() + 1);
    }
  }
  return {};
}

struct Backend::Memory {
  Memo<Listing> listings;
  Memo<Pin> pins;
};

Backend::Backend(std::unique_ptr<BackendCore> core, BackendOptions options)
    : core_(std::move(core)),
      hosts_(std::move(options.hosts)),
      secrets_(options.secrets != nullptr ? *options.secrets : own_secrets_),
      memory_(options.memoizes ? std::make_unique<Memory>() : nullptr) {}

Backend::~Backend() = default;

Result<Listing> Backend::list_versions(const SourceAddress& source, std::string_view tag_prefix,
                                       const Context& context) {
  const auto list = [&](const Context& given) {
    const ScrubbedCall call(source, given, secrets_);
    auto listing = core_->list_versions(source, tag_prefix, call.context);
    listing ? scrub(*listing, secrets_.all()) : secrets_.all().scrub(listing.error());
    return listing;
  };
  return memory_ ? memory_->listings.get(question_of(source, tag_prefix), context, list) : list(context);
}

Result<Pin> Backend::pin(const SourceAddress& source, const Context& context) {
  const auto pin = [&](const Context& given) {
    const ScrubbedCall call(source, given, secrets_);
    auto pin = scrubbed(core_->pin(source, call.context), secrets_);
    if (pin) {
      pin->redirected_to = secrets_.all().scrub(pin->redirected_to);
    }
    return pin;
  };
  return memory_ ? memory_->pins.get(question_of(source, source.source.identity()), context, pin) : pin(context);
}

bool Backend::knows_versions(const SourceAddress& source, std::string_view tag_prefix) const {
  return memory_ && memory_->listings.has(question_of(source, tag_prefix));
}

bool Backend::knows_pin(const SourceAddress& source) const {
  return memory_ && memory_->pins.has(question_of(source, source.source.identity()));
}

std::vector<Result<FetchedTree>> Backend::fetch(const SourceAddress& source, std::span<const FetchRequest> requests,
                                                const std::filesystem::path& parent, const Context& context) {
  const ScrubbedCall call(source, context, secrets_);
  auto trees = core_->fetch(source, requests, parent, call.context);
  const Secrets secrets = secrets_.all();
  for (Result<FetchedTree>& tree : trees) {
    if (tree && secrets.are_in(tree->subdir)) {
      tree = fail(Code::bad_response,
                  fmt::format("\"{}\" is in a directory whose name contains a secret that the server was sent",
                              source.source.package_identity()),
                  "do not trust that server; renew the secret");
    }
    if (!tree) {
      secrets.scrub(tree.error());
      continue;
    }
    for (std::string* const text : {&tree->package, &tree->validator}) {
      *text = secrets.are_in(*text) ? "" : std::move(*text);
    }
    for (Diagnostic& warning : tree->warnings) {
      secrets.scrub(warning.what);
    }
  }
  return trees;
}

std::optional<CommitDistance> Backend::commit_distance(const SourceAddress& source, const std::string& older,
                                                       const std::string& newer, const Context& context) {
  const ScrubbedCall call(source, context, secrets_);
  GitAbilities* const git = core_->git();
  return git == nullptr ? std::nullopt : git->commit_distance(source, older, newer, call.context);
}

Result<std::filesystem::path> Backend::repository_with(const SourceAddress& source,
                                                       std::span<const FetchRequest> requests, const Context& context) {
  if (core_->git() == nullptr) {
    const std::string by = external_of(*core_, source.source);
    return fail(Code::source_unsupported,
                fmt::format("\"{}\" has no git repository{}", source.source.package_identity(),
                            by.empty() ? "" : " here: it is served by " + by));
  }
  const ScrubbedCall call(source, context, secrets_);
  return scrubbed(core_->git()->repository_with(source, requests, call.context), secrets_);
}

Result<std::string> Backend::verify_signature(const SourceAddress& source, const FetchRequest& request,
                                              const SignatureDemand& demand, const Context& context) {
  if (const std::string by = external_of(*core_, source.source); !by.empty()) {
    return fail(Code::signature_invalid,
                fmt::format("\"{}\" has no signature that can be verified: it is served by {}, which has none",
                            source.source.package_identity(), by),
                "remove its host from the hosts of that backend");
  }
  if (core_->git() == nullptr) {
    return fail(Code::signature_invalid,
                fmt::format("\"{}\" has no signature that can be verified: only git sources have signed tags",
                            source.source.package_identity()),
                "limit the glob of the source block to git sources");
  }
  const ScrubbedCall call(source, context, secrets_);
  return scrubbed(core_->git()->verify_signature(source, request, demand, call.context), secrets_);
}

Result<void> Backend::check_redirected(const SourceAddress& source, const Context& context) {
  const ScrubbedCall call(source, context, secrets_);
  GitAbilities* const git = core_->git();
  return git == nullptr ? Result<void>() : scrubbed(git->check_redirected(source, call.context), secrets_);
}

std::string Backend::id_hash(std::string_view id) const {
  const std::string scheme = core_->hash_scheme();
  return scheme.empty() ? std::string(id) : fmt::format("{}:{}", scheme, id);
}

std::string Backend::id_of(std::span<const std::string> hashes) const {
  if (const std::string own = core_->hash_scheme(); !own.empty()) {
    return find_hash(hashes, own);
  }
  for (const std::string_view scheme : kHashSchemes) {
    if (const std::string value = find_hash(hashes, scheme); !value.empty()) {
      return fmt::format("{}:{}", scheme, value);
    }
  }
  return {};
}

Result<void> check_redirected_source(const Source& source, const Context& context) {
  if (!source.is_remote() || (source.scheme == "file" && !source.has_commits())) {
    return fail(Code::source_denied,
                fmt::format("\"{}\" is on this machine, and a server must not redirect to it", source.identity()),
                "if you trust it, write that path as the source");
  }
  return context.check_allowed(source);
}

}  // namespace modlock
