// Signatures of tags and commits, made by real git, ssh-keygen and gpg.

#include "backends/git/signature.h"

#include <fmt/format.h>
#include <boost/test/unit_test.hpp>

#include "backends/base/process.h"
#include "tests/backends/git/git_fixture.h"
#include "tests/support/needs.h"
#include "tests/support/signing_keys.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

using Format = SignatureDemand::Format;

struct Signed : GitFixture {
  Signed() {
    commit = repository.commit({{"main.tf", "# 1\n"}});
    release = keys.ssh_key("release");
    stranger = keys.ssh_key("stranger");
  }

  // The signer, or the error.
  std::string verify(const std::string& ref, const SignatureDemand& demand, const std::string& id = {}) {
    const auto signer = backend->git()->verify_signature(
        source(repository.url()), {.id = id.empty() ? commit : id, .ref = ref, .locked = true}, demand, context);
    return signer ? *signer : outcome(signer);
  }
  std::string invalid(const std::string& object, const std::string& why) const {
    return fmt::format("SIGNATURE_INVALID: the {} of \"git::{}\" has no valid signature: {}", object, repository.url(),
                       why);
  }
  static SignatureDemand demand(std::string text, Format format = Format::ssh, bool of_commit = false) {
    return {.format = format, .keys = std::move(text), .keys_name = "signers", .of_commit = of_commit};
  }
  // A tag object with other bytes than were signed.
  void forge(const std::string& tag, const std::string& from, const std::string& old_text,
             const std::string& new_text) {
    std::string object = repository.git({"cat-file", "tag", from}) + "\n";
    object.replace(object.find(old_text), old_text.size(), new_text);
    repository.git(
        {"update-ref", "refs/tags/" + tag, repository.git({"hash-object", "-t", "tag", "-w", "--stdin"}, object)});
  }
  std::string ssh_signer() const { return "release@example.com (ED25519 key " + keys.ssh_fingerprint("release") + ")"; }

  GitRepository repository{directory / "remote.git"};
  SigningKeys keys{directory / "keys"};
  std::string commit;
  std::string release;  // lines of allowed-signers files
  std::string stranger;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(signature, Signed, *needs("gpg, ssh-keygen"))

BOOST_AUTO_TEST_CASE(ssh_signatures_of_tags) {
  keys.sign_tag(repository, "v1.0.0", "main", "release");
  keys.sign_tag(repository, "v1.1.0", "main", "stranger");
  repository.tag("v1.2.0");
  repository.annotated_tag("v1.3.0");
  repository.git({"update-ref", "refs/tags/v1.4.0", "refs/tags/v1.0.0"});
  keys.sign_tag(repository, "v1.6.0", "v1.0.0", "release");
  const std::string other = repository.commit({{"main.tf", "# 2\n"}});
  forge("v1.5.0", "v1.0.0", "tag v1.0.0", "tag v1.5.0");
  forge("v1.7.0", "v1.0.0", commit, other);
  struct Row {
    const char* name;
    std::string ref;
    SignatureDemand demand;
    std::string outcome;
  };
  for (const Row& row : {
           Row{"good", "refs/tags/v1.0.0", demand(release), ssh_signer()},
           Row{"short name", "v1.0.0", demand(stranger + release), ssh_signer()},
           Row{"wrong key", "v1.1.0", demand(release), invalid("tag \"v1.1.0\"", "its key is not in signers")},
           Row{"no keys", "v1.0.0", demand(""), invalid("tag \"v1.0.0\"", "its key is not in signers")},
           Row{"lightweight", "v1.2.0", demand(release),
               invalid("tag \"v1.2.0\"", "it is a lightweight tag, which has none")},
           Row{"not signed", "v1.3.0", demand(release), invalid("tag \"v1.3.0\"", "it is not signed")},
           Row{"old tag under a new name", "v1.4.0", demand(release),
               invalid("tag \"v1.4.0\"", "the signed tag has the name \"v1.0.0\"")},
           Row{"changed name", "v1.5.0", demand(release), invalid("tag \"v1.5.0\"", "it does not match the content")},
           Row{"tag of a tag", "v1.6.0", demand(release),
               invalid("tag \"v1.6.0\"", "it does not point directly to the commit")},
           Row{"another target", "v1.7.0", demand(release),
               invalid("tag \"v1.7.0\"", "it points to commit " + other + ", not to " + commit)},
           Row{"another namespace", "v1.0.0", demand(keys.allowed("release", "namespaces=\"file\" ")),
               invalid("tag \"v1.0.0\"", "its key may not sign git objects")},
           Row{"valid when signed, expired now", "v1.0.0",
               demand(keys.allowed("release", "valid-before=\"20240101\" ")),
               invalid("tag \"v1.0.0\"", "its key is not valid now")},
           Row{"expired when signed", "v1.0.0", demand(keys.allowed("release", "valid-before=\"20200101\" ")),
               invalid("tag \"v1.0.0\"", "its key was not valid when it was signed")},
           Row{"the other format", "v1.0.0", demand(release, Format::openpgp),
               invalid("tag \"v1.0.0\"", "it has no OpenPGP signature")},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(verify(row.ref, row.demand) == row.outcome);
    }
  }
  BOOST_TEST(verify("v1.7.0", demand(release), other) ==
             invalid("tag \"v1.7.0\"", "the signed tag has the name \"v1.0.0\""));
  forge("v1.8.0", "v1.0.0", commit + "\ntype commit\ntag v1.0.0", other + "\ntype commit\ntag v1.8.0");
  BOOST_TEST(verify("v1.8.0", demand(release), other) == invalid("tag \"v1.8.0\"", "it does not match the content"));
}

BOOST_AUTO_TEST_CASE(openpgp_signatures_of_tags) {
  const std::string good = keys.openpgp_key("pgp");
  const std::string expired = keys.openpgp_key("late", "20200101T000000");
  const std::string revoked = keys.openpgp_key("gone");
  keys.sign_tag(repository, "v1.0.0", "main", good);
  keys.sign_tag(repository, "v1.1.0", "main", expired);
  keys.sign_tag(repository, "v1.2.0", "main", revoked);
  keys.revoke(revoked);
  keys.sign_tag(repository, "v1.3.0", "main", "release");
  forge("v1.4.0", "v1.0.0", "tag v1.0.0", "tag v1.4.0");
  const ScopedEnvironment home("GNUPGHOME", keys.gpg_home().string());  // has all keys, and must not count
  struct Row {
    const char* name;
    std::string ref;
    std::string keys;
    std::string outcome;
  };
  for (const Row& row : {
           Row{"good", "v1.0.0", keys.exported(good), "pgp <pgp@example.com> (OpenPGP key " + good + ")"},
           Row{"wrong key", "v1.0.0", keys.exported(expired), invalid("tag \"v1.0.0\"", "its key is not in signers")},
           Row{"expired", "v1.1.0", keys.exported(expired),
               invalid("tag \"v1.1.0\"", "its key or the signature has expired")},
           Row{"revoked", "v1.2.0", keys.exported(revoked), invalid("tag \"v1.2.0\"", "its key is revoked")},
           Row{"the other format", "v1.3.0", keys.exported(good),
               invalid("tag \"v1.3.0\"", "it has no OpenPGP signature")},
           Row{"changed name", "v1.4.0", keys.exported(good),
               invalid("tag \"v1.4.0\"", "it does not match the content")},
           Row{"no keys", "v1.0.0", "keys\n", invalid("tag \"v1.0.0\"", "gpg cannot read the keys in signers")},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(verify(row.ref, demand(row.keys, Format::openpgp)) == row.outcome);
    }
  }
  const auto unreadable = backend->git()->verify_signature(source(repository.url()), {.id = commit, .ref = "v1.0.0"},
                                                           demand("keys\n", Format::openpgp), context);
  BOOST_TEST(unreadable.error().hint == "export the keys into it again: gpg --export KEY");
}

BOOST_AUTO_TEST_CASE(signatures_of_commits) {
  const std::string by_ssh = keys.sign_commit(repository, "main", "release");
  const std::string pgp = keys.openpgp_key("pgp");
  const std::string by_pgp = keys.sign_commit(repository, "main", pgp);
  repository.branch("main", by_ssh);
  repository.tag("v1.0.0", by_ssh);
  repository.branch("pgp", by_pgp);
  repository.branch("plain", commit);
  std::string forged = repository.git({"cat-file", "commit", by_ssh}) + "\n";
  forged.replace(forged.rfind("signed"), 6, "forged");
  const std::string forged_id = repository.git({"hash-object", "-t", "commit", "-w", "--stdin"}, forged);
  repository.branch("forged", forged_id);
  struct Row {
    const char* name;
    std::string ref;
    std::string id;
    SignatureDemand demand;
    std::string outcome;
  };
  for (const Row& row : {
           Row{"tag", "v1.0.0", by_ssh, demand(release, Format::ssh, true), ssh_signer()},
           Row{"branch", "main", by_ssh, demand(release), ssh_signer()},
           Row{"HEAD", "", by_ssh, demand(release), ssh_signer()},
           Row{"commit", by_ssh, by_ssh, demand(release), ssh_signer()},
           Row{"OpenPGP", "pgp", by_pgp, demand(keys.exported(pgp), Format::openpgp),
               "pgp <pgp@example.com> (OpenPGP key " + pgp + ")"},
           Row{"wrong key", "main", by_ssh, demand(stranger), invalid("commit " + by_ssh, "its key is not in signers")},
           Row{"expired now", "main", by_ssh, demand(keys.allowed("release", "valid-before=\"20240101\" ")),
               invalid("commit " + by_ssh, "its key is not valid now")},
           Row{"not signed", "plain", commit, demand(release), invalid("commit " + commit, "it is not signed")},
           Row{"changed", "forged", forged_id, demand(release),
               invalid("commit " + forged_id, "it does not match the content")},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(verify(row.ref, row.demand, row.id) == row.outcome);
    }
  }
}

BOOST_AUTO_TEST_CASE(no_program_of_a_configuration_is_started) {
  keys.sign_tag(repository, "v1.0.0", "main", "stranger");
  const fs::path mark = directory / "started";
  const fs::path program = directory / "program";
  write_text(program, "#!/bin/sh\ntouch " + mark.string() +
                          "\necho 'Good \"git\" signature for x@example.com with ED25519 key SHA256:x'\n");
  fs::permissions(program, fs::perms::owner_all);
  write_text(directory / "home/.gitconfig", fmt::format("[gpg]\nprogram = {0}\nformat = ssh\n[gpg \"ssh\"]\nprogram = "
                                                        "{0}\nallowedSignersFile = /dev/null\n",
                                                        program.string()));
  const ScopedEnvironment count("GIT_CONFIG_COUNT", "1");
  const ScopedEnvironment key("GIT_CONFIG_KEY_0", "gpg.ssh.program");
  const ScopedEnvironment value("GIT_CONFIG_VALUE_0", program.string());
  BOOST_TEST(verify("v1.0.0", demand(release)) == invalid("tag \"v1.0.0\"", "its key is not in signers"));
  BOOST_TEST(!fs::exists(mark));
}

BOOST_AUTO_TEST_CASE(a_missing_program_is_an_error) {
  keys.sign_tag(repository, "v1.0.0", "main", "release");
  const std::string pgp = keys.openpgp_key("pgp");
  keys.sign_tag(repository, "v1.1.0", "main", pgp);
  const std::string exported = keys.exported(pgp);
  fs::create_directory(directory / "bin");
  fs::create_symlink(*find_program("git"), directory / "bin/git");
  const std::string end =
      fmt::format(" is not installed, and is needed to verify a signature of \"git::{}\"", repository.url());
  const ScopedEnvironment path("PATH", (directory / "bin").string());
  BOOST_TEST(verify("v1.0.0", demand(release)) == "TOOL_MISSING: ssh-keygen" + end);
  BOOST_TEST(verify("v1.1.0", demand(exported, Format::openpgp)) == "TOOL_MISSING: gpg" + end);
  fs::remove(directory / "bin/git");
  BOOST_TEST(verify("v1.0.0", demand(release)).starts_with("TOOL_MISSING: "));
}

BOOST_AUTO_TEST_CASE(without_a_directory_for_temporary_files_nothing_is_verified) {
  keys.sign_tag(repository, "v1.0.0", "main", "release");
  const ScopedEnvironment missing("TMPDIR", (directory / "missing").string());
  BOOST_TEST(verify("v1.0.0", demand(release)) ==
             "IO_ERROR: there is no directory for temporary files: No such file or directory");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
