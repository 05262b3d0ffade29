#pragma once

#include <optional>
#include <string>
#include <vector>

#include "protocol/messages/lock_plan.h"

namespace modlock::messages {

struct LockExplainParams {
  RootParams root;
  LockParams lock;
  std::string subject;
};
template <typename Form>
void fields(Form& form, In<Form, LockExplainParams> params) {
  form.include(params.root);
  form.optional("lock", params.lock, "the lock to explain; absent: the one on disk");
  form.member("subject", params.subject, "`module.vpc.nested`, `provider.hashicorp/aws`");
}

struct Rejection {
  std::string version;
  std::string why;
};

// One step of the decision, and its effect on the versions that the earlier steps kept.
struct ExplainedStep {
  std::string constraint;    // as written, or a description
  std::string subject = {};  // of the call that it belongs to; empty: none
  std::optional<Location> location = {};
  std::vector<std::string> kept = {};    // versions, newest first; commits and digests if there are no versions
  std::vector<Rejection> rejected = {};  // in the same order
};

// The selected version of the subject.
struct Selected {
  std::optional<std::string> version = {};
  std::string ref = {};
  std::string commit = {};
  std::string digest = {};
  std::vector<std::string> hashes = {};
  std::string first_seen = {};  // RFC 3339; empty: unknown
  std::string claimed = {};     // RFC 3339; empty: unknown
  std::vector<std::string> signers = {};
  std::string answered_by = {};  // an external backend; empty: the built-in one
  std::string reason = {};       // the end of a sentence
};

struct LockExplainResult {
  std::string subject;
  std::string source;
  Selected selected;
  std::vector<ExplainedStep> chain = {};
  Diagnostics diagnostics = {};
};

constexpr TypeName name_of(const Rejection*) {
  return {"Rejection", "A version that a step leaves out."};
}
template <typename Form>
void fields(Form& form, In<Form, Rejection> rejection) {
  form.member("version", rejection.version, "the version");
  form.member("why", rejection.why, "for people");
}

constexpr TypeName name_of(const ExplainedStep*) {
  return {"ExplainedStep", "A constraint, or another reason, that decides over the version."};
}
template <typename Form>
void fields(Form& form, In<Form, ExplainedStep> step) {
  form.member("constraint", step.constraint, "the requested constraint");
  form.optional("subject", step.subject, "the module or provider that requires it, if it is not the subject itself");
  form.optional("location", step.location, "its location");
  form.member("kept", step.kept, "the versions that this step and all earlier steps allow");
  form.member("rejected", step.rejected, "the versions that it excludes");
}

template <typename Form>
void fields(Form& form, In<Form, Selected> selected) {
  form.optional("version", selected.version, "the version");
  form.optional("ref", selected.ref, "the branch or tag that the call names");
  form.optional("commit", selected.commit, "the commit of a git source");
  form.optional("digest", selected.digest, "the digest of an OCI source");
  form.member("hashes", selected.hashes, "of the package");
  form.optional("firstSeen", selected.first_seen, "when the cache first saw the source give it (RFC 3339)");
  form.optional("claimed", selected.claimed,
                "the date of the commit or manifest, which its publisher chose (RFC 3339)");
  form.optional("signers", selected.signers,
                "who signed the tag or commit, for each signature that the settings demand");
  form.optional("answeredBy", selected.answered_by, "the external backend that answers for the source, for people");
  form.member("reason", selected.reason, "why, for people");
}

template <typename Form>
void fields(Form& form, In<Form, LockExplainResult> result) {
  form.member("subject", result.subject, "in full");
  form.member("source", result.source, "of the module, or the address of the provider");
  form.member("selected", result.selected, "what is selected");
  form.member("chain", result.chain,
              "constraints of the subject's own call first, then of calls that share its version, "
              "then the minimum release age, then the locked or installed version");
  form.member("diagnostics", result.diagnostics, "for example a source that cannot be queried");
}

}  // namespace modlock::messages
