#include "backends/git/signature.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "backends/address/git_reference.h"
#include "backends/address/source_text.h"
#include "backends/base/files.h"
#include "backends/base/private_file.h"
#include "backends/git/commit_fetch.h"
#include "backends/git/fetch.h"
#include "backends/git/git_command.h"

namespace modlock::git {
namespace {

namespace fs = std::filesystem;

// A tag object or a commit.
struct SignedObject {
  std::string kind;  // "tag", "commit"
  std::string id;
  std::string name;      // for messages: `tag "v1.0.0"`
  std::string tag = {};  // "v1.0.0"
};

// The signed bytes of an object and their signature.
struct SignedText {
  std::string payload;
  std::string signature;  // empty: the object is not signed
};

SignedText split_tag(std::string_view object) {
  // git takes the last one, too.
  const std::size_t end = std::min(object.rfind("\n-----BEGIN "), object.size() - 1) + 1;
  return {std::string(object.substr(0, end)), std::string(object.substr(end))};
}

// The signature of a commit is a header, whose further lines start with a space.
SignedText split_commit(std::string_view object) {
  constexpr std::string_view kHeader = "gpgsig ";
  SignedText text;
  bool is_signature = false;
  while (!object.empty() && object.front() != '\n') {
    const std::string_view line = object.substr(0, object.find('\n') + 1);
    is_signature = line.starts_with(kHeader) || (is_signature && line.starts_with(' '));
    if (is_signature) {
      text.signature += line.substr(line.starts_with(' ') ? 1 : kHeader.size());
    } else {
      text.payload += line;
    }
    object.remove_prefix(line.empty() ? object.size() : line.size());
  }
  text.payload += object;
  return text;
}

// Returns the text between two marks; empty if there is none.
std::string_view between(std::string_view text, std::string_view begin, std::string_view end) {
  const std::size_t from = text.find(begin);
  if (from == std::string_view::npos) {
    return {};
  }
  text.remove_prefix(from + begin.size());
  return text.substr(0, text.find(end));
}

class Verification {
 public:
  Verification(const Remote& remote, const Repository& repository, const SignatureDemand& demand,
               const Context& context)
      : remote_(remote), repository_(repository), demand_(demand), context_(context) {}

  Result<std::string> run(const FetchRequest& request) {
    MODLOCK_TRY(const auto object, find_object(request));
    MODLOCK_TRY(const auto text, read(object, request));
    const bool is_ssh = demand_.format == SignatureDemand::Format::ssh;
    if (text.signature.empty()) {
      return invalid(object, "it is not signed");
    }
    const std::string_view format = is_ssh ? "SSH" : "PGP";
    if (!text.signature.starts_with(fmt::format("-----BEGIN {} SIGNATURE-----", format))) {
      return invalid(object, fmt::format("it has no {} signature", is_ssh ? "SSH" : "OpenPGP"));
    }
    // gpg needs a short path, so the directory of the keys is not in the repository.
    MODLOCK_TRY(const auto keys, PrivateFile::create("keys", demand_.keys));
    return is_ssh ? verify_ssh(object, text, keys.path()) : verify_openpgp(object, keys.path());
  }

 private:
  tl::unexpected<Error> invalid(const SignedObject& object, std::string_view why) const {
    return fail(Code::signature_invalid,
                fmt::format("the {} of \"{}\" has no valid signature: {}", object.name, remote_.address().display, why),
                fmt::format("ask its author for a signature by a key in {}; do not use the release until then",
                            demand_.keys_name));
  }

  // Finds what must be signed, and fetches the tag object if it is missing.
  Result<SignedObject> find_object(const FetchRequest& request) const {
    const SignedObject commit{"commit", request.id, fmt::format("commit {}", request.id)};
    const bool is_head = is_default_branch(request.ref);
    if (demand_.of_commit || is_head || is_full_commit(request.ref)) {
      return commit;
    }
    WantedReferences wanted;
    add_possible_names(wanted, request.ref, remote_.address().prefers_branches);
    MODLOCK_TRY(const auto references, remote_.known_or_listed(wanted, "list the branches and tags of"));
    const auto pin =
        find_reference(references, request.ref, remote_.address().display, remote_.address().prefers_branches);
    if (!pin && pin.error().code == Code::not_found && is_revision(request.ref)) {
      return commit;
    }
    MODLOCK_TRY(pin);
    if (!pin->ref.starts_with(kGitTags)) {
      return commit;
    }
    const std::string name = pin->ref.substr(kGitTags.size());
    const auto tag = std::ranges::find(references, pin->ref, &Reference::name);
    SignedObject object{"tag", tag->id, fmt::format("tag \"{}\"", quotable(name)), name};
    if (tag->peeled.empty()) {
      return invalid(object, "it is a lightweight tag, which has none");
    }
    if (!is_same_commit(tag->commit(), request.id)) {
      return invalid(object, fmt::format("it points to commit {}, not to {}", tag->commit(), request.id));
    }
    if (!repository_.objects().has_object(tag->id)) {
      MODLOCK_TRY(fetch_tag(*tag));
    }
    return object;
  }

  Result<void> fetch_tag(const Reference& tag) const {
    const auto fetched = remote_.fetch_objects(repository_, {tag.id});
    Result<void> done;
    if (fetched && !*fetched) {
      done = fail(fetched->error());
    } else if (!fetched || !**fetched) {
      if (auto by_git = fetch_shallow(remote_, repository_, {tag.name}); !by_git) {
        done = fail(std::move(by_git.error().error));
      }
    }
    repository_.clear_incoming();
    return done;
  }

  Result<SignedText> read(const SignedObject& object, const FetchRequest& request) const {
    if (object.kind == "commit") {
      for (const auto& arrived : fetch_commits(remote_, repository_, {&request, 1}, context_)) {
        MODLOCK_TRY(arrived);
      }
    }
    MODLOCK_TRY(const auto read, run_local(local_command(repository_.path(), {"cat-file", object.kind, object.id}),
                                           "read a signature of", remote_.address().display, context_));
    if (object.kind == "commit") {
      return split_commit(read.output);
    }
    const std::string target = fmt::format("object {}\ntype commit\n", request.id);
    if (!read.output.starts_with(target)) {
      return invalid(object, "it does not point directly to the commit");
    }
    if (!read.output.starts_with(fmt::format("{}tag {}\n", target, object.tag))) {
      const std::string_view name = between(read.output, "\ntag ", "\n");
      return invalid(object, fmt::format("the signed tag has the name \"{}\"", quotable(name)));
    }
    return split_tag(read.output);
  }

  Result<std::string> find_tool(std::string_view name) const {
    const auto program = find_program(name);
    return program ? Result<std::string>(program->string())
                   : fail(Code::tool_missing,
                          fmt::format("{} is not installed, and is needed to verify a signature of \"{}\"", name,
                                      remote_.address().display),
                          fmt::format("install {}", name == "gpg" ? "gnupg" : "openssh-client"));
  }

  // Only the program of the wanted format can start.
  Result<Finished> verify_by_git(const SignedObject& object, const std::vector<std::string>& settings,
                                 const fs::path& home) const {
    std::vector<std::string> arguments;
    for (const std::string_view program : {"gpg.program", "gpg.x509.program", "gpg.ssh.program"}) {
      arguments.insert(arguments.end(), {"-c", fmt::format("{}=/dev/null", program)});
    }
    for (const std::string& setting : settings) {
      arguments.insert(arguments.end(), {"-c", setting});
    }
    arguments.insert(arguments.end(), {"verify-" + object.kind, "--raw", object.id});
    Command command = local_command(repository_.path(), std::move(arguments));
    command.set_environment["GNUPGHOME"] = home.string();
    return run_command(command, context_);
  }

  Result<std::string> verify_ssh(const SignedObject& object, const SignedText& text, const fs::path& keys) const {
    MODLOCK_TRY(const auto program, find_tool("ssh-keygen"));
    const fs::path home = keys.parent_path();
    MODLOCK_TRY(
        const auto verified,
        verify_by_git(object, {"gpg.ssh.program=" + program, "gpg.ssh.allowedSignersFile=" + keys.string()}, home));
    const std::string_view said = verified.error_output;
    // `Good "git" signature for release@example.com with ED25519 key SHA256:…`
    const std::string_view good = between(said, "Good \"git\" signature for ", "\n");
    const std::size_t with = good.rfind(" with ");
    if (verified.exit_code != 0 || with == std::string_view::npos) {
      const auto has = [said](std::string_view words) { return said.find(words) != std::string_view::npos; };
      return invalid(object, has("key has expired") || has("not yet valid") ? "its key was not valid when it was signed"
                             : has("signature namespace")                   ? "its key may not sign git objects"
                             : has("No principal") ? fmt::format("its key is not in {}", demand_.keys_name)
                                                   : std::string("it does not match the content"));
    }
    const std::string principal(good.substr(0, with));
    // git compares the dates of a key with the date that the signer wrote. A key that is not valid now proves nothing,
    // because its owner could have written any date.
    MODLOCK_TRY(write_file_atomically(home / "signature", text.signature));
    MODLOCK_TRY(const auto now, run_command({.argv = {program, "-Y", "verify", "-n", "git", "-f", keys.string(), "-I",
                                                      principal, "-s", (home / "signature").string()},
                                             .input = text.payload},
                                            context_));
    if (now.exit_code != 0) {
      return invalid(object, "its key is not valid now");
    }
    return fmt::format("{} ({})", escape_controls(principal), escape_controls(good.substr(with + 6)));
  }

  Result<std::string> verify_openpgp(const SignedObject& object, const fs::path& keys) const {
    MODLOCK_TRY(const auto program, find_tool("gpg"));
    const fs::path home = keys.parent_path();
    MODLOCK_TRY(const auto imported, run_command({.argv = {program, "--homedir", home.string(), "--batch", "--quiet",
                                                           "--no-autostart", "--import", keys.string()}},
                                                 context_));
    if (imported.exit_code != 0) {
      auto failure = invalid(object, fmt::format("gpg cannot read the keys in {}", demand_.keys_name));
      failure.value().hint = "export the keys into it again: gpg --export KEY";
      return failure;
    }
    MODLOCK_TRY(const auto verified, verify_by_git(object, {"gpg.program=" + program}, home));
    const std::string_view said = verified.error_output;
    const auto has = [&](std::string_view status) {
      return said.find(fmt::format("[GNUPG:] {} ", status)) != std::string_view::npos;
    };
    if (verified.exit_code != 0 || !has("GOODSIG") || !has("VALIDSIG")) {
      return invalid(object, has("REVKEYSIG")                    ? "its key is revoked"
                             : has("EXPKEYSIG") || has("EXPSIG") ? "its key or the signature has expired"
                             : has("NO_PUBKEY") || has("ERRSIG")
                                 ? fmt::format("its key is not in {}", demand_.keys_name)
                                 : std::string("it does not match the content"));
    }
    // `GOODSIG <key> <user>`, `VALIDSIG <fingerprint> …`
    const std::string_view good = between(said, "[GNUPG:] GOODSIG ", "\n");
    return fmt::format("{} (OpenPGP key {})", escape_controls(good.substr(good.find(' ') + 1)),
                       between(said, "[GNUPG:] VALIDSIG ", " "));
  }

  const Remote& remote_;
  const Repository& repository_;
  const SignatureDemand& demand_;
  const Context& context_;
};

}  // namespace

Result<std::string> verify_signature(const Remote& remote, const Repository& repository, const FetchRequest& request,
                                     const SignatureDemand& demand, const Context& context) {
  return Verification(remote, repository, demand, context).run(request);
}

}  // namespace modlock::git
