#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "plugin/resolve/plan.h"
#include "plugin/resolve/selection.h"

namespace modlock {

// Decides, level by level, what every remote call resolves to, and fetches the packages. One object serves one run. It
// remembers the constraints of earlier walks, so that a version chosen early can be corrected when a deeper call
// constrains it further (`must_restart`).
class VersionResolver {
 public:
  VersionResolver(const PlanRequest& request, SourceFetcher& fetcher, const Context& context, const PlanFiles& files);

  void start_walk();
  Result<void> visit(std::span<ModuleNode* const> level);
  // Returns true after a walk in which a decision became wrong: walk again. Constraints only accumulate, so this ends.
  bool must_restart() const { return must_restart_; }

  const std::map<std::string, ResolvedModule, std::less<>>& resolved() const { return resolved_; }
  // Returns the matching lock entry of a call, from the lock or from the restorable blocks, also under the key that the
  // call had before it was renamed; null if there is none. Under frozen a renamed call has none.
  const ModuleLock* prior(const ModuleNode& node) const;
  // Returns the entries in which renamed calls are found: the lock, or the restorable blocks if it has no blocks.
  const ModuleLocks& former_locks() const { return former_locks_; }
  // Returns what is installed for a call of a first lock; null if nothing is or if it does not match.
  const InstalledRecord* recorded(const std::string& key) const;
  // Returns the entry that a renamed or moved call had under its former key; null if there is none.
  const ModuleLock* renamed_from(const std::string& key) const;
  // Returns whether several different entries match a renamed call equally well. It is then resolved as a new call.
  bool has_ambiguous_name(const std::string& key) const;
  // Returns whether a call resolves to what is installed.
  bool is_adopted(const std::string& key) const;
  // Calls that keep their locked version because their tag was moved, by key.
  const std::map<std::string, HeldMove>& held() const { return held_; }
  const Diagnostics& diagnostics() const { return diagnostics_; }
  // Keys that no backend serves.
  const std::set<std::string>& unserved() const { return unserved_; }
  // Calls without a usable lock entry under frozen: key -> reason.
  const std::map<std::string, std::string>& frozen_out() const { return frozen_out_; }

 private:
  // The lock entry of one member.
  struct Locked {
    ResolvedModule resolved;
    std::string h1;
  };

  // Calls that get the same version.
  struct Group {
    std::map<std::string, ConstraintUse> uses;  // by key and constraint text
    bool upgrade = false;
    bool accepts_moved = false;  // PlanRequest::accepts_moved() of a member
    std::string offered;         // the id after the move; not empty: the locked version stays in all later walks
    std::chrono::seconds minimum_age{0};  // the longest age of all members
    bool decided = false;                 // in this walk
    bool failed = false;                  // in this walk; its error is in diagnostics_ when the level is done
    bool locked = false;                  // the decision comes from the lock
    ResolvedModule decision;
    Result<void> outcome;  // of the decision
    std::string locked_h1;
    bool is_stored = false;                    // the store has the package of the locked id
    std::optional<LocalPackage> in_place;      // already installed with the locked h1: nothing to fetch
    std::map<std::string, Locked> candidates;  // by key and version: the lock entries of members met so far
    // Versions whose content, which only a fetch shows, is denied: by Version::to_string().
    std::map<std::string, const DenyRule*> denied;
    std::set<std::string> commits;   // installed for members met so far, if a version has to be found
    std::vector<ModuleNode*> level;  // members of the level being visited

    bool is_open() const { return !decided && !failed; }
  };

  // A remote call that this walk has met.
  struct Met {
    std::string source;  // Source::identity()
    int level = 0;
  };

  bool is_target(const std::string& key) const;
  bool is_orphan(const ModuleLock& entry) const;
  bool follows_an_orphan(const std::string& key) const;
  const ModuleLock* former_entry_below(const ModuleNode& node, const std::string& identity) const;
  void find_former_entry(const ModuleNode& node);
  void join(Group& group, ModuleNode& node);
  static bool fits(const Group& group, const std::optional<Version>& version);
  std::vector<Locked> locked_candidates(const ModuleNode& node) const;
  std::optional<Locked> locked_candidate(const ModuleNode& node, const ModuleLock& entry) const;
  const ModuleLock* contested_prior(const ModuleNode& node,
                                    const std::vector<std::optional<ModuleLock>>& entries) const;
  std::optional<Locked> recorded_candidate(const ModuleNode& node) const;
  static const ListedVersion* find_installed_version(const Group& group, const Listing& listing);
  static bool decide_from_lock(Group& group);
  void find_at_hand(Group& group) const;
  bool needs_locked_listing(const Group& group) const;
  bool asks_tags_again() const;
  static void forget_id(Group& group);
  void consult_lock(Group& group) const;
  void run_fetch_tasks(const std::vector<Group*>& touched);
  SourceFetcher::FetchTask task_of(const std::vector<Group*>& groups) const;
  std::vector<SourceFetcher::PackageRequest> choose(const std::vector<Group*>& groups) const;
  void name_open_calls(const std::vector<Group*>& touched);
  ReleaseGate gate_of(const Group& group) const;
  const DenyRule* find_denial_of(const ModuleNode& node, const ResolvedModule& release, const std::string& h1) const;
  Result<void> check_allowed(const Group& group) const;
  Result<void> decide_from_origin(Group& group) const;
  Result<void> complete_locked(Group& group) const;
  static FetchRequest fetch_request_for(const Group& group);
  Result<void> take_package(Group& group);
  Error explain_fetch(const Group& group, Error error) const;
  std::string why_content_differs(const Group& group, const Package& package) const;
  std::string why_open(const Group& group, const ModuleNode& node, const ModuleLock& entry) const;
  bool must_hold(const Group& group, const Package& package) const;
  bool claims_to_be_young(const Group& group, const Package& package);
  static bool is_candidate(const Group& group, const std::string& key);  // whether the lock has an entry for the call
  Result<void> publish_decision(const Group& group);
  void report(Group& group, Error error);

  const PlanRequest& request_;
  SourceFetcher& fetcher_;
  const Context& context_;
  const PlanFiles& files_;
  const bool adopts_;  // it is a first lock
  const ModuleLocks& former_locks_;
  std::multimap<std::string_view, const ModuleLock*> formers_by_source_;
  std::map<std::string, std::optional<InstalledRecord>> recorded_;  // by key, of calls met so far
  std::map<std::string, Group> groups_;
  bool must_restart_ = false;
  // Of the current walk.
  int level_ = 0;
  std::map<std::string, Met, std::less<>> met_;                    // by key
  std::map<std::string, const ModuleLock*, std::less<>> renamed_;  // by key; null: ambiguous
  std::map<std::string, ResolvedModule, std::less<>> resolved_;
  std::set<std::string> unserved_;
  std::map<std::string, std::string> frozen_out_;
  std::map<std::string, HeldMove> held_;
  Diagnostics diagnostics_;
};

}  // namespace modlock
