#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/address/provider_address.h"
#include "backends/address/provider_version.h"
#include "backends/address/version.h"
#include "plugin/config/variable_values.h"
#include "plugin/resolve/module_tree.h"
#include "plugin/resolve/source_fetcher.h"
#include "plugin/update/argument_change.h"
#include "plugin/update/text_origin.h"

namespace modlock {

// What a host wants of one provider. At least one of the two is given.
struct ProviderUpdate {
  ProviderAddress address;
  std::optional<Version> new_version = {};
  std::optional<std::string> new_constraint = {};

  std::string subject() const { return "provider." + address.to_string(); }
};

// Why the files of a module cannot be edited, by its key; empty: they can.
using RefusalOf = std::function<std::string(const std::string& key)>;

// What has to be written where in required_providers entries and in provider blocks. A new constraint takes the place
// of those of the root module, where it has none, of those of its local modules. A new version is let in (let_in()) by
// every constraint of these that keeps it out or names another one exactly; without a new constraint only. Constraints
// of packages stay: whether they allow it is for who plans the lock. Errors: INVALID_PARAMS (there is no constraint
// that could be changed); CONSTRAINT_SYNTAX; those of let_in(); CONFIG_NON_STATIC (a constraint that is no plain
// literal).
Result<std::vector<FileSplice>> change_provider_constraints(const ModuleTree& tree, const ProviderUpdate& update,
                                                            const RefusalOf& refusal_of);

// What a host wants of one call or provider. At least one of the two is given.
struct RequestedUpdate {
  std::string subject;                             // "module.vpc.nested", "provider.hashicorp/aws"
  std::optional<Version> new_version = {};         // has to be locked; the configuration is changed where it must be
  std::optional<std::string> new_constraint = {};  // takes the place of the constraint
};

// How a version is named in a source that takes no constraint.
enum class UpdatePin {
  tag,       // `?ref=v1.2.0`, `?tag=1.2.0`
  immutable  // `?ref=<commit>`, `?digest=sha256:…`
};

// Changes what the files of a configuration, and our settings beside it, say of module calls and of providers, with
// everything else left as it is: comments, layout, line ends.
class ConfigurationEditor {
 public:
  // What is edited: `walk` as it was read into `tree`. All outlive the object. Without `pin` a source that names an id
  // goes on naming one. With it also a `version` argument on a git or OCI source, which stock releases refuse, becomes
  // a tag or an id in the source.
  ConfigurationEditor(const WalkRequest& walk, const ModuleTree& tree, const VariableValues& values,
                      SourceFetcher& fetcher, std::optional<UpdatePin> pin);

  // Errors, naming the subject: INVALID_PARAMS (no such call, a constraint where none can stand, a version that is
  // asked of what has none); CONFIG_NON_STATIC (what has to be changed is computed, set from outside, or part of a
  // package); CONSTRAINT_SYNTAX; CONSTRAINT_CONFLICT (let_in()); NO_MATCHING_VERSION (the source has no such version);
  // those of listing versions. Of providers those of change_provider_constraints().
  Result<void> apply(const RequestedUpdate& update);

  // The files after all that: path relative to the root -> before and after. Errors: CONFIG_PARSE where two updates
  // want to change one place to different texts.
  struct EditedFile {
    std::string before;
    std::string after;
  };
  Result<std::map<std::string, EditedFile>> files() const;
  // By key of the call: the version that has to be chosen.
  const std::map<std::string, Version, std::less<>>& versions() const { return versions_; }
  const std::map<ProviderAddress, ProviderVersion>& provider_versions() const { return provider_versions_; }

 private:
  const EditedModule& module_at(const std::string& key);
  Result<void> apply_to_provider(const RequestedUpdate& update);
  Result<void> change_constraints(const ModuleNode& node, const RequestedUpdate& update);
  Result<void> change_rule(const ConstraintUse& rule, const RequestedUpdate& update);
  Result<void> change_reference(const ModuleNode& node, const Version& version);
  Result<void> drop_version_argument(const ModuleNode& node);
  Result<ListedVersion> find_version(const ModuleNode& node, const Version& version);
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
  std::map<ProviderAddress, ProviderVersion> provider_versions_;
};

}  // namespace modlock
