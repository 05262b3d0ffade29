#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "protocol/base/result.h"

namespace modlock {

inline constexpr std::string_view kOpenTofuRegistry = "registry.opentofu.org";
inline constexpr std::string_view kTerraformRegistry = "registry.terraform.io";

// How OpenTofu would install a module source address (internal/addrs and internal/getmodules of OpenTofu).
enum class SourceKind {
  local,      // ./x, ../x
  registry,   // [host/]namespace/name/system
  git,        // git::…, github.com/…, git@host:…, git://
  oci,        // oci://
  archive,    // http(s)://
  directory,  // an absolute path or file://: linked, never locked
  hg,
  s3,
  gcs,
  unsupported,  // a getter that OpenTofu does not know: accepted when parsed, rejected when installed
};

// Where the files of a package are.
enum class SourceLocation {
  calling_package,  // next to the caller's files
  directory,        // a directory on this machine: linked, never locked
  remote,
  repository,  // of version control, remote too
};

// Where the versions of a package come from.
enum class SourceVersions {
  none,      // the address has exactly one content
  external,  // only an external backend can list them
  tags,      // a listing of tags; the address can name a tag or an id instead
  registry,  // a listing of versions; only a version names a package
};

// The kind of id that identifies the content of a package.
enum class ContentId {
  backend,   // an id that only the backend can interpret
  commit,    // has ancestors; a reference points to it
  digest,    // of a manifest
  checksum,  // of the downloaded file, known only after the download
};

// Facts about a kind of source. Rules that depend on the kind use these facts.
struct SourceTraits {
  SourceKind kind;
  std::string_view name;                    // in results and messages: "git"
  std::array<std::string_view, 2> getters;  // of its addresses: "https", "http"; empty: none
  SourceLocation location;
  SourceVersions versions;
  ContentId content_id;
  std::string_view origin;       // the hash of a lock entry that names its content, for messages: "git or zh"
  std::string_view credentials;  // CredentialSearch::use; empty: it needs none
  // The query arguments that name a tag and an immutable id; empty: there are none.
  std::string_view tag_argument = {};
  std::string_view id_argument = {};
  std::string_view default_reference = {};  // used if the address names no reference; empty: none
  std::string_view own_argument = {};       // another argument that selects content; empty: none
  bool has_numbered_content = false;        // a number as the fragment selects content
};
const SourceTraits& traits_of(SourceKind kind);
// Returns the kind with this getter: `unsupported` if there is none.
SourceKind kind_of_getter(std::string_view getter);
// Returns the name in traits_of().
std::string_view to_string(SourceKind kind);

// Return whether a query argument names a reference ("ref", "rev", "tag"), or a version in any way ("digest" too), in
// some kind of source.
bool names_reference(std::string_view argument);
bool names_version(std::string_view argument);
// Returns whether a query argument ("name=value") of an address of any kind is one that contains no secret: a version,
// a depth, an archive or a checksum.
bool is_public_argument(std::string_view argument);

// The printable, canonical identity of a module source. It contains no secrets.
struct Source {
  SourceKind kind = SourceKind::local;
  std::string getter = {};  // "git", "oci", "https", …; empty for local and registry
  std::string scheme = {};  // of the URL after the getter: "https", "ssh", "file", …; empty for local and registry
  std::string user = {};    // ssh only, percent-encoded as in a URL
  std::string host = {};    // lower case, Unicode, with ":port" if given; registry: always explicit
  std::string path = {};    // local: "./x"; registry: "namespace/name/system"; directory: the path in the file system;
                            // else the URL path with its leading slash, percent-encoded
  std::string subdir = {};  // inside the package, cleaned, never absolute; empty: its root
  // Decoded, in order, and only ref, rev, tag, digest, archive, checksum (the address of a checksum file without its
  // secrets), and the arguments in traits().
  std::vector<std::pair<std::string, std::string>> query = {};
  std::string fragment = {};  // SourceTraits::has_numbered_content: the number

  // Returns the `source` in the lock file (lock-file contract): "git::https://host/p.git//sub?ref=v1",
  // "registry.opentofu.org/modules/ns/name/sys//sub", "oci://host/repo?tag=1". User-info is removed except ssh's user.
  std::string identity() const;
  // Returns identity() of the package: without subdir, and for git without ref. Sources with the same package identity
  // share one repository.
  std::string package_identity() const;
  // Returns the kind for results and messages: its name, or for an external backend that of the getter.
  std::string_view kind_name() const { return kind == SourceKind::unsupported ? getter : to_string(kind); }
  // Returns the value of a query argument, or empty.
  std::string query_value(std::string_view name) const;
  // Returns the query argument for a reference: that of the kind, or the one of the address for an external backend
  // ("tag", "rev" or "ref"); empty: there is none.
  std::string_view reference_argument() const;
  // Returns the reference that the address names, as written. Empty: the default of the source.
  std::string named_reference() const { return query_value(reference_argument()); }
  // Returns the immutable id that the address itself names: a commit in lower case (at least 7 digits, so it may be
  // abbreviated) or a digest; empty: it names a branch, a tag, or nothing.
  std::string named_id() const;

  // Returns the tag that the address names, in any spelling of the reference (tag_in_reference()). Empty: none. A
  // branch can have the name too.
  std::string named_tag() const;

  // Returns whether package_identity() identifies one package. Other addresses have query arguments that it omits and
  // that may select other content.
  bool identifies_package() const { return has_tags() || is_registry(); }

  const SourceTraits& traits() const { return traits_of(kind); }
  bool is_local() const { return traits().location == SourceLocation::calling_package; }
  bool is_directory() const { return traits().location == SourceLocation::directory; }
  bool is_remote() const { return traits().location >= SourceLocation::remote; }
  bool is_registry() const { return traits().versions == SourceVersions::registry; }
  bool is_external() const { return traits().versions == SourceVersions::external; }
  bool has_tags() const { return traits().versions == SourceVersions::tags; }
  bool has_commits() const { return traits().content_id == ContentId::commit; }

  bool operator==(const Source&) const = default;
};

// A text that may contain a secret. It has no printer on purpose: logs, errors and caches accept only Source.
class SecretText {
 public:
  SecretText() = default;
  explicit SecretText(std::string text) : text_(std::move(text)) {}
  // Returns the text itself. Used for the environment of child processes, modules.json and comparisons; never for a
  // message.
  const std::string& reveal() const { return text_; }
  bool empty() const { return text_.empty(); }
  bool operator==(const SecretText&) const = default;

 private:
  std::string text_;
};

struct SourceAddress {
  Source source;
  SecretText normalised;   // exactly as OpenTofu's String() prints it; it writes and compares this in modules.json
  SecretText package_url;  // the URL for the getter, without getter prefix and subdir; for git also without ref,
                           // depth, sshkey, archive and checksum, and with its host in ASCII. Empty for local and
                           // registry
  bool is_users = false;   // whether the user names it (in a command, or in a call of the own configuration). Then git
                           // may query the user's askpass program
};

// Returns `normalised` for results and people. If that could contain a secret (user-info, query arguments other than
// those for a version, a depth or an archive), returns the identity.
std::string printable_form(const SourceAddress& address);

// Parses a module source as OpenTofu's ParseModuleSource does: local, then registry, then remote (go-getter's
// detectors). The text is the evaluated value of the `source` argument; `default_registry` is the host of addresses
// without one. Errors: SOURCE_INVALID with OpenTofu's reason (and its `./` hint if a path was probably meant), also for
// control characters and line endings, even escaped ones, and for addresses that OpenTofu accepts here but cannot fetch
// (no host, bad port); SOURCE_DENIED for git transport helpers (`git::ext::…`, any scheme except https, http, ssh, git,
// file), and for hosts, users, paths or refs that start with `-`; SOURCE_UNSUPPORTED for BitBucket shorthands, which
// need a request that a parser must not send (the hint shows the full URL to write), and for a git or archive URL with
// a fragment, which would be ignored.
Result<SourceAddress> parse_source(std::string_view text, std::string_view default_registry = kOpenTofuRegistry);

// Reads the `source` of a lock entry: the text of identity(), and also the registry form without "modules/". Errors:
// SOURCE_INVALID.
Result<Source> parse_identity(std::string_view text);

}  // namespace modlock
