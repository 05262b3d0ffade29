#pragma once

#include <optional>
#include <string>
#include <vector>

#include "protocol/messages/error_json.h"
#include "protocol/messages/root_params.h"

namespace modlock::messages {

struct CallOfRoot {
  RootParams root;
  std::string subject;
};
constexpr TypeName name_of(const CallOfRoot*) {
  return {"CallOfRoot", "A module call of a root module."};
}
template <typename Form>
void fields(Form& form, In<Form, CallOfRoot> call) {
  form.include(call.root);
  form.member("subject", call.subject, "`module.vpc.nested`");
}

struct VersionsListParams {
  std::optional<std::string> source;
  std::optional<std::string> constraint;
  bool include_prerelease = false;
  std::string tag_prefix;
  std::optional<CallOfRoot> call = {};
};
template <typename Form>
void fields(Form& form, In<Form, VersionsListParams> params) {
  form.optional("source", params.source, "a module source address, as a call has it");
  form.optional("constraint", params.constraint, "also report the version that it selects");
  form.optional("includePrerelease", params.include_prerelease, "list prereleases too");
  form.optional("tagPrefix", params.tag_prefix, "only tags with this prefix, `nested/`");
  form.optional(
      "call", params.call,
      "in place of source, constraint and tagPrefix: those of this call, and the settings of its root module");
  form.check([&](ObjectReader& in) {
    if (params.call && (params.source || params.constraint || !params.tag_prefix.empty())) {
      in.reject("call", "expected either a source or a call");
    } else if (!params.call && !params.source) {
      in.require("source", "a source or a call");
    }
  });
}

struct OfferedVersion {
  std::string version;
  std::string tag;
  std::string commit;
  std::string digest;
  std::optional<std::string> published = {};   // RFC 3339; not verified
  std::optional<std::string> deprecated = {};  // the registry's reason, which may be empty
};
struct SkippedTag {
  std::string tag;
  std::string reason;
};

struct VersionsListResult {
  std::string source;
  std::string kind;
  std::vector<OfferedVersion> versions;  // newest first
  std::optional<std::string> selected;
  std::vector<SkippedTag> skipped;
  std::string fetched_at;  // RFC 3339, UTC
  bool complete = true;
  Diagnostics diagnostics = {};  // omitted if empty
};

constexpr TypeName name_of(const OfferedVersion*) {
  return {"OfferedVersion", "A version that a source offers."};
}
template <typename Form>
void fields(Form& form, In<Form, OfferedVersion> version) {
  // Sorted by name, which is the fastest to write: there may be ten thousand versions.
  form.optional("commit", version.commit, "the commit of a git source");
  form.optional("deprecated", version.deprecated, "why its registry deprecates it, which may be empty");
  form.optional("digest", version.digest, "the digest of an OCI source");
  form.optional("published", version.published, "when its registry claims to have published it (RFC 3339, UTC)");
  form.optional("tag", version.tag, "the tag that has it");
  form.member("version", version.version, "the version");
}

constexpr TypeName name_of(const SkippedTag*) {
  return {"SkippedTag", "A tag that offers no version."};
}
template <typename Form>
void fields(Form& form, In<Form, SkippedTag> tag) {
  form.member("tag", tag.tag, "the tag");
  form.member("reason", tag.reason, "why, for people");
}

template <typename Form>
void fields(Form& form, In<Form, VersionsListResult> result) {
  form.member("source", result.source, "in canonical form");
  form.member("kind", result.kind, "how it is fetched");
  form.optional("selected", result.selected,
                "what the constraint selects; for a call, the version that an upgrade selects");
  form.member("skipped", result.skipped, "tags that offer no version");
  form.group("evidence", "what the answer rests on", [&](auto& evidence) {
    evidence.member("fetchedAt", result.fetched_at, "when (RFC 3339)");
    evidence.member("complete", result.complete, "whether the list is complete");
  });
  form.optional("diagnostics", result.diagnostics, "warnings, if any");
  form.member("versions", result.versions, "newest first");
}

}  // namespace modlock::messages
