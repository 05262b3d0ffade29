#include "tests/support/release_faults.h"

#include <fmt/format.h>

#include "backends/base/digest.h"
#include "tests/support/zip_builder.h"

namespace modlock::test {
namespace {

using Signing = PublishedProvider::Signing;

const std::string kRelease = "registry.opentofu.org/acme/bad 1.1.0";
const std::string kPackage = kRelease + " for linux_amd64";

PublishedArchive good_archive() {
  return make_provider_archive("acme/bad", "1.1.0", "linux_amd64");
}

std::string not_signed(const std::string& reason) {
  return kRelease + ": the provider is not signed with a valid signing key; please contact the provider author (" +
         reason + ")";
}

PublishedProvider signed_by(Signing signing) {
  return {.name = "acme/bad", .version = "1.1.0", .signing = signing};
}

// A release whose archives are these bytes, signed as they are.
PublishedProvider packed_as(const std::string& bytes) {
  return {.name = "acme/bad", .version = "1.1.0", .edit_archive = [bytes](PublishedArchive& archive) {
            archive.replace(bytes);
          }};
}

PublishedProvider served(const std::function<void(std::string&)>& edit) {
  return {.name = "acme/bad", .version = "1.1.0", .edit_served_archive = edit};
}

PublishedProvider summed(const std::function<void(std::string&)>& edit) {
  return {.name = "acme/bad", .version = "1.1.0", .edit_checksums = edit};
}

PublishedProvider listed(const std::function<void(Json::Value&, const std::string&)>& edit) {
  return {.name = "acme/bad", .version = "1.1.0", .lists_packages = true, .edit_download = edit};
}

std::vector<ReleaseFault> signature_faults() {
  const std::string unknown = not_signed("authentication signature from unknown issuer");
  const std::string invalid = "error checking signature: openpgp: invalid signature: ";
  return {
      {"a bad signature", signed_by(Signing::bad_signature), Code::signature_invalid,
       not_signed(invalid + "the signature is not of this key over these bytes")},
      {"the wrong key", signed_by(Signing::unknown_key), Code::signature_invalid, unknown},
      {.name = "no key",
       .release = signed_by(Signing::unsigned_release),
       .code = Code::signature_invalid,
       .message = unknown,
       .enforces_signatures = true},
      {.name = "an expired key",
       .release = signed_by(Signing::expired_key),
       .code = Code::signature_invalid,
       .message = unknown,
       .enforces_expiration = true},
      {"no signature", signed_by(Signing::malformed), Code::signature_invalid,
       not_signed(invalid + "it is not an OpenPGP signature")},
  };
}

std::vector<ReleaseFault> checksum_faults() {
  const std::string zh = good_archive().zh.substr(3);
  const std::string other(64, 'a');
  return {
      {"checksums without this archive", summed([](std::string& sums) { sums = "no checksums\n"; }), Code::bad_response,
       kPackage + ": checksum list has no SHA-256 hash for \"terraform-provider-bad_1.1.0_linux_amd64.zip\""},
      {"a checksum that is none", summed([](std::string& sums) { sums.replace(0, 64, "abc"); }), Code::bad_response,
       kPackage + ": checksum list has invalid SHA256 hash \"abc\""},
      {"another checksum", summed([other](std::string& sums) { sums.replace(0, 64, other); }), Code::hash_mismatch,
       kPackage + ": checksum list has unexpected SHA-256 hash " + other + " (expected " + zh + ")"},
      {"a blank line inside the checksums", summed([](std::string& sums) { sums.insert(sums.find('\n'), "\n"); }),
       Code::bad_response, kRelease + ": checksum list has a blank line"},
      {"a blank line behind the checksums", summed([](std::string& sums) { sums += "\n"; }), Code::bad_response,
       kRelease + ": checksum list has a blank line"},
  };
}

std::vector<ReleaseFault> answer_faults() {
  const PublishedArchive archive = good_archive();
  const std::string other(64, 'a');
  return {
      {"the wrong shasum",
       {.name = "acme/bad",
        .version = "1.1.0",
        .edit_download = [other](Json::Value& body, const std::string&) { body["shasum"] = other; }},
       Code::hash_mismatch,
       kPackage + ": checksum list has unexpected SHA-256 hash " + archive.zh.substr(3) + " (expected " + other + ")"},
      {"another package_size",
       listed([](Json::Value& body, const std::string& platform) { body["packages"][platform]["package_size"] = 7; }),
       Code::hash_mismatch,
       fmt::format("{}: registry response indicates a package of size 7, but received a package of size {}", kPackage,
                   archive.bytes.size())},
      {"a platform that is not listed", listed([](Json::Value& body, const std::string& platform) {
         body["packages"]["plan9_386"] = body["packages"][platform];
         body["packages"].removeMember(platform);
       }),
       Code::bad_response, kPackage + ": registry response missing package with platform \"linux_amd64\""},
      {"a platform that is missing",
       {.name = "acme/bad", .version = "1.1.0", .platforms = {"plan9_386"}},
       Code::not_found,
       "provider " + kRelease + " is not available for linux_amd64"},
      {"protocols of another age",
       {.name = "acme/bad", .version = "1.1.0", .protocols = {"4.0"}},
       Code::no_matching_version,
       "provider " + kRelease + " is not supported by this version of OpenTofu"},
  };
}

std::vector<ReleaseFault> archive_faults() {
  const PublishedArchive archive = good_archive();
  const ZipMember program{.name = "terraform-provider-bad_v1.1.0", .content = "program"};
  const std::string unsafe = "the entry \"a\" of \"" + kPackage + "\" ";
  const std::string no_program = "\"" + kPackage +
                                 "\": provider binary not found: could not find executable file starting with "
                                 "terraform-provider-bad";
  const auto mismatch = [&](const std::string& bytes) {
    return "\"" + kPackage + "\": archive has incorrect checksum zh:" + sha256_hex(bytes) + " (expected " + archive.zh +
           ")";
  };
  std::string changed = archive.bytes;
  changed[40] ^= 1;
  return {
      {"an archive that lies about sizes",
       packed_as(build_zip({program, {.name = "a", .content = "content", .listed_size = 6}})), Code::archive_unsafe,
       unsafe + "has a different size in the central directory"},
      {"a truncated archive",
       packed_as(build_zip({program, {.name = "a", .content = noisy_bytes(1000)}}).substr(0, 500)), Code::bad_response,
       "\"" + kPackage + "\" cannot be unpacked: it is not a zip file"},
      {"an archive that was truncated later", served([](std::string& bytes) { bytes.resize(50); }), Code::hash_mismatch,
       mismatch(archive.bytes.substr(0, 50))},
      {"an archive that was changed later", served([](std::string& bytes) { bytes[40] ^= 1; }), Code::hash_mismatch,
       mismatch(changed)},
      {"a bomb", packed_as(build_zip({program, {.name = "a", .content = dull_bytes(20'000'000)}})),
       Code::archive_unsafe, unsafe + "unpacks to over 200 times the size of the archive"},
      {"a page", packed_as("<html>not found</html>"), Code::bad_response,
       "\"" + kPackage + "\" cannot be unpacked: it is not a zip file"},
      {"an archive without a program", packed_as(build_zip({{.name = "README", .content = "x"}})), Code::bad_response,
       no_program},
      {"an archive with the program of another provider",
       packed_as(make_provider_archive("acme/other", "1.1.0", "linux_amd64").bytes), Code::bad_response, no_program},
  };
}

}  // namespace

std::vector<ReleaseFault> release_faults() {
  std::vector<ReleaseFault> all;
  for (const auto& part : {signature_faults(), checksum_faults(), answer_faults(), archive_faults()}) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

}  // namespace modlock::test
