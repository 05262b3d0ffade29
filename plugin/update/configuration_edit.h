#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/address/provider_address.h"
#include "backends/address/provider_version.h"
#include "backends/address/version.h"
#include "plugin/config/variable.h"
#include "plugin/resolve/module_tree.h"
#include "plugin/resolve/source_fetcher.h"
#include "plugin/update/text_change.h"
#include "protocol/messages/update_plan.h"

namespace modlock {

// The requested update of one call or provider. At least one of the two is set.
struct RequestedUpdate {
  std::string subject;                             // "module.vpc.nested", "provider.hashicorp/aws"
  std::optional<Version> new_version = {};         // has to be locked; the configuration is changed if necessary
  std::optional<std::string> new_constraint = {};  // replaces the constraint
  std::string tag = {};                            // the new version, if it is written as a tag ("v1.2.0", "net/1.2.0")
};

using messages::UpdatePin;

// Changes module calls and providers in the files of a configuration and in the settings file of its directory.
// Everything else stays unchanged: comments, layout, line endings.
class ConfigurationEditor {
 public:
  // Edits the configuration of `walk` as read into `tree`. All arguments outlive the object. Without `pin`, a source
  // that names an id keeps naming one. With it, a `version` argument on a git or OCI source, which unmodified clients
  // reject, also becomes a tag or an id in the source.
  ConfigurationEditor(const WalkRequest& walk, const ModuleTree& tree, const VariableValues& values,
                      SourceFetcher& fetcher, std::optional<UpdatePin> pin);

  // Errors, naming the subject: INVALID_PARAMS (no such call, a constraint that is not possible there, a version for a
  // source without versions); CONFIG_NON_STATIC (the text to change is computed, set from outside, or part of a
  // package); CONSTRAINT_SYNTAX; CONSTRAINT_CONFLICT (let_in()); NO_MATCHING_VERSION (the source has no such version);
  // those of listing versions. For providers: INVALID_PARAMS (no constraint can be changed).
  //
  // A new constraint of a provider replaces those of the root module, or those of its local modules if the root module
  // has none. A new version without a new constraint is allowed (let_in()) in every constraint of these that excludes
  // it or names another version exactly. Constraints of packages stay; the lock plan checks whether they allow it.
  Result<void> apply(const RequestedUpdate& update);

  // Returns the files after all updates: path relative to the root -> before and after. Errors: CONFIG_PARSE if two
  // updates change the same place to different texts.
  struct EditedFile {
    std::string before;
    std::string after;
  };
  Result<std::map<std::string, EditedFile>> files() const;
  // By key of the call: the version that has to be chosen.
  const std::map<std::string, Version, std::less<>>& versions() const { return versions_; }
  // By key of the call: the commit or digest that was written, and the tag that has it now.
  const std::map<std::string, ListedVersion, std::less<>>& pinned() const { return pinned_; }
  const std::map<ProviderAddress, ProviderVersion>& provider_versions() const { return provider_versions_; }

 private:
  const EditedModule& module_at(const std::string& key);
  Result<void> apply_to_provider(RequestedUpdate update);
  Result<void> change_constraints(const ModuleNode& node, const RequestedUpdate& update);
  Result<void> change_rule(const ConstraintUse& rule, const RequestedUpdate& update);
  Result<void> change_reference(const ModuleNode& node, const RequestedUpdate& update);
  Result<void> drop_version_argument(const ModuleNode& node);
  Result<ListedVersion> find_version(const ModuleNode& node, const RequestedUpdate& update, bool by_id);
  Result<void> change_value(const ModuleNode& node, std::string_view argument, const std::string& before,
                            const Splice& splice);
  Result<std::string> text_of(const std::string& path) const;

  const WalkRequest& walk_;
  const ModuleTree& tree_;
  const VariableValues& values_;
  SourceFetcher& fetcher_;
  std::optional<UpdatePin> pin_;
  std::map<std::string, EditedModule> modules_;  // by key
  std::vector<FileSplice> splices_;
  std::map<std::string, Version, std::less<>> versions_;
  std::map<std::string, ListedVersion, std::less<>> pinned_;
  std::map<ProviderAddress, ProviderVersion> provider_versions_;
};

}  // namespace modlock
