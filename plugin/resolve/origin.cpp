#include "plugin/resolve/origin.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "backends/crypto/digest.h"
#include "backends/files/files.h"
#include "backends/parallel.h"
#include "backends/store/kept_listings.h"
#include "backends/store/whole_package.h"

namespace modlock {
namespace {

// Waiting for the network, not computing: wider than the machine has cores.
constexpr std::size_t kWidth = 16;

// Versions of a registry module may share an id (one commit) and lie in different directories of it.
std::string wished_thing(const Source& source, const FetchWish& wish) {
  const bool needs_ref = wish.id.empty() || source.kind == SourceKind::registry;
  return needs_ref ? fmt::format("{} ref:{}", wish.id, wish.ref) : wish.id;
}

std::vector<Sighting> sightings_of(const Listing& listing) {
  std::vector<Sighting> sightings;
  std::transform(listing.versions.begin(), listing.versions.end(), std::back_inserter(sightings),
                 [](const ListedVersion& version) {
                   return Sighting{version.ref, version.id};
                 });
  return sightings;
}

void tell_kept(const Context& context, const Source& source, const std::string& when) {
  context.log->write(LogLevel::warning,
                     fmt::format("offline: {} is taken to have what it had {}", source.identity(), when));
}

// Offline, what the source said last is all there is.
Result<Listing> list(Backend& backend, const SourceAddress& address, const std::string& tag_prefix, const Store& store,
                     const Context& context) {
  const KeptListings kept(store);
  const std::string key = Origin::package_key(address);
  auto listing = backend.list_versions(address, tag_prefix, context);
  if (listing && !listing->is_again) {
    kept.keep(key, tag_prefix, *listing);
  } else if (!listing && listing.error().code == Code::offline_miss) {
    if (auto last = kept.find(key, tag_prefix)) {
      tell_kept(context, address.source, "at " + time_text(last->fetched_at));
      return std::move(*last);
    }
  }
  return listing;
}

Result<Pin> ask_for_pin(Backend& backend, const SourceAddress& address, const Store& store, const Context& context,
                        Origin::Time now) {
  const KeptListings kept(store);
  auto pin = backend.pin(address, context);
  if (pin && !pin->is_again) {
    kept.keep_pin(address.source, *pin, now);
  } else if (!pin && pin.error().code == Code::offline_miss) {
    if (auto last = kept.find_pin(address.source)) {
      tell_kept(context, address.source, "at " + time_text(last->fetched_at));
      return std::move(last->pin);
    }
  }
  return pin;
}

}  // namespace

// A query argument that the identity leaves out may choose other content, but for git, where the address behind it is
// the same repository.
std::string Origin::package_key(const SourceAddress& address) {
  const Source& source = address.source;
  const bool is_identified =
      source.kind == SourceKind::git || source.kind == SourceKind::registry || source.kind == SourceKind::oci;
  return source.package_identity() + (is_identified ? "" : "\n" + sha256_hex(address.package_url.reveal()));
}

// What an errand has come to.
struct Origin::State {
  std::atomic<std::size_t> open = 0;  // questions
  std::vector<PackageWish> chosen = {};
};

void Origin::run(std::span<const Errand> errands) {
  std::vector<State> states(errands.size());
  Work work;
  for (std::size_t i = 0; i < errands.size(); ++i) {
    knows_answers(errands[i]) ? run_at_once(errands[i], states[i], work) : ask(errands[i], states[i], work);
  }
  parallel_for(work.size(), kWidth, [&](std::size_t i) { work[i](); });
}

// In a run over many roots most has been asked and fetched for others: threads would cost more than it.
void Origin::run_at_once(const Errand& errand, State& state, Work& work) {
  for (const auto& question : questions_of(errand)) {
    question();
  }
  state.chosen = errand.choose();
  if (auto missing = take_stored(state.chosen); !missing.empty()) {
    work.emplace_back([this, missing = std::move(missing)] { bring(missing); });
  }
}

// Whoever gets the last answer goes on.
void Origin::ask(const Errand& errand, State& state, Work& work) {
  Work questions = questions_of(errand);
  if (questions.empty()) {
    questions.emplace_back([] {});
  }
  state.open = questions.size();
  for (auto& question : questions) {
    work.emplace_back([this, question = std::move(question), &errand, &state] {
      question();
      if (--state.open == 0) {
        state.chosen = errand.choose();
        bring(take_stored(state.chosen));
      }
    });
  }
}

// Whether it asks, and only what has been answered before.
bool Origin::knows_answers(const Errand& errand) const {
  if (errand.listings.empty() && errand.pins.empty()) {
    return false;
  }
  const bool knows_listings = std::all_of(errand.listings.begin(), errand.listings.end(), [&](const auto& wish) {
    return backend(wish.source->source)->knows_versions(*wish.source, wish.tag_prefix);
  });
  return knows_listings && std::all_of(errand.pins.begin(), errand.pins.end(), [&](const SourceAddress* source) {
           return backend(source->source)->knows_pin(*source);
         });
}

// The slots of the answers are made here, so that the maps stay as they are while errands run.
Origin::Work Origin::questions_of(const Errand& errand) {
  Work questions;
  for (const ListingWish& wish : errand.listings) {
    const auto [at, is_new] = listings_.emplace(Key{package_key(*wish.source), wish.tag_prefix}, Listed{});
    if (is_new) {
      questions.emplace_back([this, &wish, &slot = at->second] {
        context_.progress->report("listing " + wish.source->source.package_identity(), 0, 0);
        slot.listing = list(*backend(wish.source->source), *wish.source, wish.tag_prefix, store_, context_);
        if (slot.listing) {
          const auto sightings = sightings_of(*slot.listing);
          slot.known_since = FirstSeen(store_).note(wish.source->source, sightings, now_, context_);
        }
      });
    }
  }
  for (const SourceAddress* source : errand.pins) {
    const auto [at, is_new] = pins_.emplace(source->source.identity(), Pin{});
    if (is_new) {
      questions.emplace_back([this, source, &slot = at->second] {
        context_.progress->report("asking " + source->source.identity(), 0, 0);
        slot = ask_for_pin(*backend(source->source), *source, store_, context_, now_);
      });
    }
  }
  return questions;
}

const Result<Listing>& Origin::listing(const SourceAddress& source, std::string_view tag_prefix) const {
  return listings_.at(Key{package_key(source), tag_prefix}).listing;
}

const std::vector<Origin::Time>& Origin::known_since(const SourceAddress& source, std::string_view tag_prefix) const {
  return listings_.at(Key{package_key(source), tag_prefix}).known_since;
}

Origin::Time Origin::note(const Source& source, const std::string& ref, const std::string& id) const {
  const FirstSeen seen(store_);
  const Sighting sighting{ref, id};
  const auto listed = seen.find(source, ref, "");
  return listed ? *listed : seen.note(source, {&sighting, 1}, now_, context_).front();
}

std::string Origin::other_id(const Source& source, const std::string& ref, const std::string& id) const {
  return FirstSeen(store_).other_id(source, ref, id);
}

std::optional<Origin::Time> Origin::first_seen_as(const Source& source, const std::string& ref,
                                                  const std::string& id) const {
  const FirstSeen seen(store_);
  const auto found = seen.find(source, ref, id);
  return found ? found : seen.find(source, ref, "");
}

std::optional<Origin::Time> Origin::first_seen(const Source& source, const std::string& ref,
                                               const std::string& id) const {
  const auto found = first_seen_as(source, ref, id);
  return found ? found : FirstSeen(store_).find(source, "", id);
}

const Listing* Origin::known_listing(const SourceAddress& source) const {
  const auto found = listings_.find(Key{package_key(source), ""});
  return found != listings_.end() && found->second.listing ? &*found->second.listing : nullptr;
}

const Result<Pin>& Origin::pinned(const Source& source) const {
  return pins_.at(source.identity());
}

const Result<Package>& Origin::package(const SourceAddress& source, const FetchWish& wish) const {
  return packages_.at(Key{package_key(source), wished_thing(source.source, wish)});
}

std::optional<Package> Origin::stored(const Source& source, const FetchWish& wish) const {
  return store_.find(source, wish.id, wish.ref);
}

void Origin::remember(const Source& source, const FetchWish& wish, const Package& package) const {
  Package known = package;
  known.id = wish.id;
  // The store is a cache: what it does not take is fetched again.
  (void)store_.record(source, known);
}

// Those that the store lacks.
std::vector<Origin::Missing> Origin::take_stored(std::span<const PackageWish> wishes) {
  std::vector<Missing> missing;
  for (const PackageWish& wish : wishes) {
    Result<Package>* const package = add_package(wish);
    Missing wanted{&wish, package};
    if (package != nullptr && !take_stored(wanted)) {
      missing.push_back(wanted);
    }
  }
  return missing;
}

void Origin::bring(std::vector<Missing> missing) {
  if (missing.empty()) {
    return;
  }
  // Another process may be fetching the same: what it brings is in the store when it lets go.
  std::optional<FileLock> alone;
  if (!context_.offline) {
    auto held = store_.hold(missing.front().wish->source->source, context_);
    if (!held) {
      for (const Missing& one : missing) {
        *one.package = fail(held.error());
      }
      return;
    }
    alone = std::move(*held);
    std::erase_if(missing, [this](Missing& one) { return take_stored(one); });
  }
  if (!missing.empty()) {
    fetch(missing);
  }
}

bool Origin::take_stored(Missing& wanted) const {
  const auto& [address, wish] = *wanted.wish;
  auto known = stored(address->source, wish);
  const auto since = context_.offline ? std::filesystem::file_time_type::min() : fresh_since_;
  if (!known && wish.id.empty() && since) {
    known = store_.find_answer(address->source, question_of(*wanted.wish), *since);
    if (known && context_.offline) {
      tell_kept(context_, address->source, "when it was asked last");
    }
  }
  wanted.is_damaged = wanted.is_damaged || known.has_value();
  known = whole_package(store_, std::move(known), context_);
  if (known) {
    context_.count_cache_hit();
    *wanted.package = std::move(*known);
  }
  return known.has_value();
}

// Whether or not it could be had again.
void Origin::tell_damage(const Missing& wanted) {
  const Source& source = wanted.wish->source->source;
  if (*wanted.package) {
    (*wanted.package)->warnings.push_back(damage_warning(source));
  } else {
    wanted.package->error().notes.push_back(fmt::format(
        "the cached package of {} was damaged, and has been removed from the cache", source.package_identity()));
  }
}

std::string Origin::question_of(const PackageWish& wish) {
  return package_key(*wish.source) + "\n" + wished_thing(wish.source->source, wish.wish);
}

// Where the package of a wish will be; null where it has been asked for before.
Result<Package>* Origin::add_package(const PackageWish& wish) {
  Key key{package_key(*wish.source), wished_thing(wish.source->source, wish.wish)};
  const std::scoped_lock lock(mutex_);
  const auto [at, is_new] = packages_.emplace(std::move(key), Package{});
  return is_new ? &at->second : nullptr;
}

void Origin::fetch(std::span<const Missing> missing) {
  const SourceAddress& source = *missing.front().wish->source;
  context_.progress->report("fetching " + source.source.package_identity(), 0, 0);
  auto parent = store_.make_temporary();
  if (!parent) {
    for (const Missing& one : missing) {
      *one.package = fail(parent.error());
    }
    return;
  }
  std::vector<FetchWish> wishes;
  for (const Missing& one : missing) {
    wishes.push_back(one.wish->wish);
  }
  auto trees = backend(source.source)->fetch(source, wishes, *parent, context_);
  for (std::size_t i = 0; i < trees.size(); ++i) {
    if (trees[i] && trees[i]->ref.empty()) {
      trees[i]->ref = wishes[i].ref;
    }
    *missing[i].package =
        trees[i] ? store_.admit(source.source, std::move(*trees[i]), context_) : fail(std::move(trees[i].error()));
    // A warning is for everybody to see.
    if (const auto& package = *missing[i].package; package && wishes[i].id.empty() && package->warnings.empty()) {
      store_.note_answer(question_of(*missing[i].wish), *package);
    }
    if (missing[i].is_damaged) {
      tell_damage(missing[i]);
    }
  }
  // What admit() did not take is of no use to anybody; failing to remove it is `cache prune`'s matter.
  (void)remove_tree(*parent);
}

}  // namespace modlock
