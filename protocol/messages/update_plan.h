#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "protocol/messages/lock_plan.h"

namespace modlock::messages {

// The requested change of one call or provider.
struct Update {
  std::string subject;
  std::optional<std::string> new_version;
  std::optional<std::string> new_constraint;
};
constexpr TypeName name_of(const Update*) {
  return {"Update", "What one module call or provider should become."};
}
template <typename Form>
void fields(Form& form, In<Form, Update> update) {
  form.member(
      "subject", update.subject,
      "`module.vpc.nested`, `provider.hashicorp/aws`, or `SOURCE[@VERSION|COMMIT|DIGEST]` for all that is locked "
      "to it");
  form.optional(
      "newVersion", update.new_version,
      "the version to lock; the configuration changes if it does not allow it; absent, and no constraint: the "
      "newest one below the next major number");
  form.optional("newConstraint", update.new_constraint, "takes the place of the constraint that is written");
}

// The form of a version in a source that takes no constraint.
enum class UpdatePin {
  tag,       // `?ref=v1.2.0`, `?tag=1.2.0`
  immutable  // `?ref=<commit>`, `?digest=sha256:…`
};
constexpr std::array<std::string_view, 2> names_of(const UpdatePin*) {
  return {"tag", "immutable"};
}

// The result of `update/plan` is a LockPlanResult whose edits begin with those of the configuration.
struct UpdatePlanParams {
  RootParams root;
  LockParams lock;
  std::vector<Update> updates;
  std::optional<UpdatePin> pin;
  Include include;
  bool accept_moved = false;
};
template <typename Form>
void fields(Form& form, In<Form, UpdatePlanParams> params) {
  form.include(params.root);
  form.optional("lock", params.lock, "the lock to start from; absent: the one on disk");
  form.member("updates", params.updates, "one at least; all of them or none");
  form.optional("pin", params.pin,
                "how git and OCI sources name a version, also in place of a version argument; absent: as they do");
  form.optional("include", params.include, "the kinds to lock; absent: both; the other one stays unchanged");
  form.optional_group("policy", "how versions are chosen", [&](auto& policy) {
    policy.optional("acceptMoved", params.accept_moved,
                    "resolve the tags of the other locked versions again, and lock the commits that they "
                    "point to now; false if absent");
  });
  form.check([&](ObjectReader& in) {
    if (params.updates.empty()) {
      in.reject("updates", "expected one update at least");
    }
    const auto is_left_out = [&](const Update& update) {
      return !(update.subject.starts_with("provider.") ? params.include.providers : params.include.modules);
    };
    if (std::ranges::any_of(params.updates, is_left_out)) {
      in.reject("include", "expected the kinds of all subjects that updates name");
    }
  });
}

}  // namespace modlock::messages
