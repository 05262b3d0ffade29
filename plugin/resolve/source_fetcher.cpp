#include "plugin/resolve/source_fetcher.h"

#include <fmt/format.h>

#include <algorithm>

#include "backends/address/source_remote.h"
#include "backends/base/collections.h"
#include "backends/base/digest.h"
#include "backends/base/files.h"
#include "backends/base/parallel.h"
#include "backends/store/listing_cache.h"

namespace modlock {
namespace {

// The threads wait for the network and do not compute, so there are more than cores.
constexpr std::size_t kFetches = 16;

// Versions of a registry module may share an id (one commit) and be in different directories of it.
std::string request_key(const Source& source, const FetchRequest& request) {
  const bool needs_ref = request.id.empty() || source.is_registry();
  const std::string held = request.held.empty() ? "" : "\n" + request.held;
  return needs_ref ? fmt::format("{} ref:{}{}", request.id, request.ref, held) : request.id;
}

std::vector<Observation> sightings_of(const Listing& listing) {
  return mapped(listing.versions, [](const ListedVersion& version) { return Observation{version.ref, version.id}; });
}

void warn_cached_data(const Context& context, const Source& source, const std::string& when = {}) {
  context.log->write(LogLevel::warning, fmt::format("offline: using cached data for {}{}", source.identity(), when));
}

// Offline, only the last listing is available.
Result<Listing> list(Backend& backend, const SourceAddress& address, const std::string& tag_prefix, const Store& store,
                     const Context& context) {
  const ListingCache kept(store);
  const std::string key = SourceFetcher::package_key(address);
  auto listing = backend.list_versions(address, tag_prefix, context);
  if (listing && !listing->is_again) {
    kept.keep(key, tag_prefix, *listing);
  } else if (!listing && listing.error().code == Code::offline_miss) {
    if (auto last = kept.find(key, tag_prefix)) {
      warn_cached_data(context, address.source, fmt::format(" (last fetched at {})", time_text(last->fetched_at)));
      return std::move(*last);
    }
  }
  return listing;
}

bool is_id_of(const Backend& backend, const std::string& id) {
  return backend.id_of(std::vector{backend.id_hash(id)}) == id;
}

Result<Pin> ask_for_pin(Backend& backend, const SourceAddress& address, const Store& store, const Context& context,
                        SourceFetcher::Time now) {
  const ListingCache kept(store);
  auto pin = backend.pin(address, context);
  if (pin && !pin->is_again) {
    kept.keep_pin(address.source, *pin, now);
  } else if (!pin && pin.error().code == Code::offline_miss) {
    // A backend that the settings no longer name may have given an id that is none of this one.
    if (auto last = kept.find_pin(address.source); last && is_id_of(backend, last->pin.id)) {
      warn_cached_data(context, address.source, fmt::format(" (last fetched at {})", time_text(last->fetched_at)));
      return std::move(last->pin);
    }
  }
  return pin;
}

}  // namespace

// A query argument that the identity omits may select other content. For git the address behind it is the same
// repository, and only `depth` may select another reference.
std::string SourceFetcher::package_key(const SourceAddress& address) {
  const Source& source = address.source;
  return source.package_identity() +
         (source.identifies_package() ? "" : "\n" + sha256_hex(address.package_url.reveal())) +
         (source.has_commits() && is_shallow(address) ? "\nshallow" : "");
}

// In a run over many roots, most requests were already sent for other roots: their answers are taken at once, because
// threads would cost more. Otherwise the thread that gets the last response of a task continues with its packages.
void SourceFetcher::run(std::span<const FetchTask> tasks) {
  struct State {
    std::atomic<std::size_t> open = 0;  // requests
    std::vector<PackageRequest> chosen = {};
  };
  std::vector<State> states(tasks.size());
  Work work;
  tasks_ = tasks.size();
  tasks_done_ = 0;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const auto choose = [this, &task = tasks[i], &state = states[i]] {
      state.chosen = task.choose ? task.choose() : std::vector<PackageRequest>();
      return take_stored(state.chosen);
    };
    const auto finish = [this](std::vector<Missing> missing) {
      fetch_missing(std::move(missing));
      ++tasks_done_;
    };
    Work questions = questions_of(tasks[i]);
    if (knows_answers(tasks[i])) {
      std::ranges::for_each(questions, [](const auto& question) { question(); });
      if (auto missing = choose(); missing.empty()) {
        ++tasks_done_;
      } else {
        work.emplace_back([finish, missing = std::move(missing)] { finish(missing); });
      }
      continue;
    }
    states[i].open = std::max<std::size_t>(questions.size(), 1);
    if (questions.empty()) {
      questions.emplace_back([] {});
    }
    for (auto& question : questions) {
      work.emplace_back([question = std::move(question), &open = states[i].open, choose, finish] {
        question();
        if (--open == 0) {
          finish(choose());
        }
      });
    }
  }
  parallel_for(work.size(), kFetches, [&](std::size_t i) { work[i](); });
}

void SourceFetcher::list(std::span<const ListingRequest> requests, std::span<const SourceAddress* const> pins) {
  std::map<std::string, FetchTask> by_package;
  for (const ListingRequest& request : requests) {
    by_package[package_key(*request.source)].listings.push_back(request);
  }
  for (const SourceAddress* pin : pins) {
    by_package[package_key(*pin)].pins.push_back(pin);
  }
  run(values_of(by_package));
}

// Returns whether the task has requests, all of which were answered before.
bool SourceFetcher::knows_answers(const FetchTask& task) const {
  if (task.listings.empty() && task.pins.empty()) {
    return false;
  }
  const bool knows_listings = std::ranges::all_of(task.listings, [&](const auto& request) {
    return backend(request.source->source)->knows_versions(*request.source, request.tag_prefix);
  });
  return knows_listings && std::ranges::all_of(task.pins, [&](const SourceAddress* source) {
           return backend(source->source)->knows_pin(*source);
         });
}

// Creates the slots of the responses here, so that the maps do not change while fetch tasks run.
SourceFetcher::Work SourceFetcher::questions_of(const FetchTask& task) {
  Work questions;
  for (const ListingRequest& request : task.listings) {
    const auto [at, is_new] = listings_.emplace(Key{package_key(*request.source), request.tag_prefix}, Listed{});
    if (is_new) {
      questions.emplace_back([this, &request, &slot = at->second] {
        report("listing " + request.source->source.package_identity());
        slot.listing =
            modlock::list(*backend(request.source->source), *request.source, request.tag_prefix, store_, context_);
        if (slot.listing) {
          const auto sightings = sightings_of(*slot.listing);
          slot.known_since =
              FirstSeen(store_).note(request.source->source.package_identity(), sightings, now_, context_);
          for (std::size_t i = 0; i < sightings.size(); ++i) {
            slot.known_since[i] = known_since(request.source->source, slot.listing->versions[i], slot.known_since[i]);
          }
        }
      });
    }
  }
  for (const SourceAddress* source : task.pins) {
    const auto [at, is_new] = pins_.emplace(source->source.identity(), Pin{});
    if (is_new) {
      questions.emplace_back([this, source, &slot = at->second] {
        report("querying " + source->source.identity());
        slot = ask_for_pin(*backend(source->source), *source, store_, context_, now_);
      });
    }
  }
  return questions;
}

const Result<Listing>& SourceFetcher::listing(const SourceAddress& source, std::string_view tag_prefix) const {
  return listings_.at(Key{package_key(source), tag_prefix}).listing;
}

const std::vector<SourceFetcher::Time>& SourceFetcher::known_since(const SourceAddress& source,
                                                                   std::string_view tag_prefix) const {
  return listings_.at(Key{package_key(source), tag_prefix}).known_since;
}

bool SourceFetcher::apply_claim(const SourceAddress& source, std::string_view tag_prefix, const std::string& ref,
                                Time claimed) {
  Listed& listed = listings_.at(Key{package_key(source), tag_prefix});
  bool is_later = false;
  for (std::size_t i = 0; i < listed.known_since.size(); ++i) {
    if (listed.listing->versions[i].ref == ref && listed.known_since[i] < claimed) {
      listed.known_since[i] = claimed;
      is_later = true;
    }
  }
  return is_later;
}

SourceFetcher::Time SourceFetcher::known_since(const Source& source, const ListedVersion& version,
                                               Time first_seen) const {
  if (!version.published) {
    return first_seen;
  }
  return backend(source)->trusts_dates(source) ? *version.published : std::max(first_seen, *version.published);
}

const ListedVersion* SourceFetcher::known_version(const Source& source, const std::string& ref) const {
  const Listed* found = find_in(listings_, Key{source.package_identity(), ""});
  return found != nullptr && found->listing && source.identifies_package()
             ? find_by(found->listing->versions, ref, &ListedVersion::ref)
             : nullptr;
}

Diagnostics SourceFetcher::redirect_warnings() const {
  std::map<std::string, std::string> targets;  // by package
  for (const auto& [key, listed] : listings_) {
    targets.emplace(key.first.substr(0, key.first.find('\n')), listed.listing ? listed.listing->redirected_to : "");
  }
  for (const auto& [identity, pin] : pins_) {
    const auto source = parse_identity(identity);
    targets.emplace(source ? source->package_identity() : identity, pin ? pin->redirected_to : "");
  }
  Diagnostics warnings;
  for (const auto& [package, target] : targets) {
    if (!target.empty()) {
      warnings.push_back(
          as_warning({.code = Code::registry_notice,
                      .message = fmt::format("\"{}\" redirects to another address, {}", package, target),
                      .hint = "find out whether it still has the same owner; then name the new address in the "
                              "source"}));
    }
  }
  return warnings;
}

SourceFetcher::Time SourceFetcher::note(const Source& source, const std::string& ref, const std::string& id) const {
  const FirstSeen seen(store_);
  const Observation sighting{ref, id};
  const auto listed = seen.find(source, ref, "");
  const Time first = listed ? *listed : seen.note(source.package_identity(), {&sighting, 1}, now_, context_).front();
  const ListedVersion* version = known_version(source, ref);
  return version == nullptr ? first : known_since(source, *version, first);
}

std::string SourceFetcher::other_id(const Source& source, const std::string& ref, const std::string& id) const {
  return FirstSeen(store_).other_id(source, ref, id);
}

std::optional<SourceFetcher::Time> SourceFetcher::first_seen_as(const Source& source, const std::string& ref,
                                                                const std::string& id) const {
  const FirstSeen seen(store_);
  const auto found = seen.find(source, ref, id);
  return found ? found : seen.find(source, ref, "");
}

std::optional<SourceFetcher::Time> SourceFetcher::first_seen(const Source& source, const std::string& ref,
                                                             const std::string& id) const {
  auto found = first_seen_as(source, ref, id);
  found = found ? found : FirstSeen(store_).find(source, "", id);
  const ListedVersion* version = known_version(source, ref);
  return found && version != nullptr ? known_since(source, *version, *found) : found;
}

std::optional<SourceFetcher::Time> SourceFetcher::claimed(const Source& source, const std::string& ref,
                                                          const std::string& id) const {
  const auto package = store_.find(source, id, ref);
  return package ? package->claimed : std::nullopt;
}

const Listing* SourceFetcher::known_listing(const SourceAddress& source) const {
  const Listed* found = find_in(listings_, Key{package_key(source), ""});
  return found != nullptr && found->listing ? &*found->listing : nullptr;
}

const Result<Pin>& SourceFetcher::pinned(const Source& source) const {
  return pins_.at(source.identity());
}

const Result<Package>& SourceFetcher::package(const SourceAddress& source, const FetchRequest& request) const {
  return packages_.at(Key{package_key(source), request_key(source.source, request)});
}

std::optional<Package> SourceFetcher::stored(const Source& source, const FetchRequest& request) const {
  return store_.find(source, request.id, request.ref);
}

void SourceFetcher::remember(const Source& source, const FetchRequest& request, const Package& package) const {
  Package known = package;
  known.id = request.id;
  known.validator.clear();
  // The store is a cache: results that it does not store are fetched again.
  (void)store_.record(source, known);
}

// Returns those that the store lacks.
std::vector<SourceFetcher::Missing> SourceFetcher::take_stored(std::span<const PackageRequest> requests) {
  std::vector<Missing> missing;
  for (const PackageRequest& request : requests) {
    Result<Package>* const package = add_package(request);
    Missing wanted{&request, package};
    if (package != nullptr && !take_stored(wanted)) {
      missing.push_back(wanted);
    }
  }
  return missing;
}

void SourceFetcher::report(const std::string& message) const {
  context_.progress->report(message, tasks_done_, tasks_);
}

void SourceFetcher::fetch_missing(std::vector<Missing> missing) {
  if (missing.empty()) {
    return;
  }
  // Another process may be fetching the same package. When it releases the lock, the package is in the store.
  std::optional<FileLock> alone;
  if (!context_.offline) {
    auto lock = store_.hold(missing.front().request->source->source, context_);
    if (!lock) {
      for (const Missing& one : missing) {
        *one.package = fail(lock.error());
      }
      return;
    }
    alone = std::move(*lock);
    std::erase_if(missing, [this](Missing& one) { return take_stored(one); });
  }
  if (!missing.empty()) {
    fetch(missing);
  }
}

bool SourceFetcher::take_stored(Missing& wanted) const {
  const auto& [address, request] = *wanted.request;
  auto known = stored(address->source, request);
  const auto since = context_.offline ? std::filesystem::file_time_type::min() : fresh_since_;
  if (!known && request.id.empty() && since) {
    known = store_.find_answer(address->source, question_of(*wanted.request), *since);
    known = known && is_id_of(*backend(address->source), known->id) ? std::move(known) : std::nullopt;
    if (known && context_.offline) {
      warn_cached_data(context_, address->source);
    }
  }
  wanted.is_damaged = wanted.is_damaged || known.has_value();
  auto intact = load_intact_package(store_, std::move(known), context_);
  if (!intact) {
    *wanted.package = fail(std::move(intact.error()));
    return true;
  }
  if (*intact) {
    context_.count_cache_hit();
    *wanted.package = *std::move(*intact);
    if (!request.held.empty()) {
      (*wanted.package)->directory.clear();  // the source stated in this run that it is unchanged
    }
  }
  return intact->has_value();
}

// Warns whether or not the package can be downloaded again.
void SourceFetcher::warn_damaged_package(const Missing& wanted) {
  const Source& source = wanted.request->source->source;
  if (*wanted.package) {
    (*wanted.package)->warnings.push_back(damage_warning(source));
  } else {
    wanted.package->error().notes.push_back(fmt::format(
        "the cached package of {} was damaged, and has been removed from the cache", source.package_identity()));
  }
}

std::string SourceFetcher::question_of(const PackageRequest& request) {
  return package_key(*request.source) + "\n" + request_key(request.source->source, request.request);
}

// Returns where the package of a request will be; null if it was requested before.
Result<Package>* SourceFetcher::add_package(const PackageRequest& request) {
  Key key{package_key(*request.source), request_key(request.source->source, request.request)};
  const std::scoped_lock lock(mutex_);
  const auto [at, is_new] = packages_.emplace(std::move(key), Package{});
  return is_new ? &at->second : nullptr;
}

void SourceFetcher::fetch(std::span<const Missing> missing) {
  const SourceAddress& source = *missing.front().request->source;
  report("fetching " + source.source.package_identity());
  auto parent = store_.make_temporary();
  if (!parent) {
    for (const Missing& one : missing) {
      *one.package = fail(parent.error());
    }
    return;
  }
  const auto requests = mapped(missing, [](const Missing& one) { return one.request->request; });
  auto trees = backend(source.source)->fetch(source, requests, *parent, context_);
  for (std::size_t i = 0; i < trees.size(); ++i) {
    if (trees[i] && trees[i]->ref.empty()) {
      trees[i]->ref = requests[i].ref;
    }
    const bool is_unchanged = trees[i] && trees[i]->directory.empty() && !requests[i].held.empty();
    *missing[i].package = is_unchanged ? Package{.id = requests[i].held, .h1 = {}, .directory = {}}
                          : trees[i]   ? store_.admit(source.source, std::move(*trees[i]), context_)
                                       : fail(std::move(trees[i].error()));
    // Every caller gets the warning.
    const bool answers = requests[i].id.empty() && requests[i].held.empty() != is_unchanged;
    if (const auto& package = *missing[i].package; package && answers && package->warnings.empty()) {
      store_.note_answer(question_of(*missing[i].request), *package);
    }
    if (missing[i].is_damaged) {
      warn_damaged_package(missing[i]);
    }
  }
  // A package that admit() rejected is useless; `cache prune` handles a failure to remove it.
  (void)remove_tree(*parent);
}

}  // namespace modlock
