#include "backends/providers/openpgp.h"

#include <rnp/rnp.h>
#include <rnp/rnp_err.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <mutex>
#include <optional>
#include <type_traits>

#include "backends/base/deleter.h"

namespace modlock {
namespace {

template <typename Handle, auto destroy>
using Owned = std::unique_ptr<std::remove_pointer_t<Handle>, Deleter<destroy>>;

using Ring = Owned<rnp_ffi_t, rnp_ffi_destroy>;
using Input = Owned<rnp_input_t, rnp_input_destroy>;
using Key = Owned<rnp_key_handle_t, rnp_key_handle_destroy>;
using Verification = Owned<rnp_op_verify_t, rnp_op_verify_destroy>;
using SignatureHandle = Owned<rnp_signature_handle_t, rnp_signature_handle_destroy>;

using Kind = SignatureVerdict::Kind;

// Guards `stderr`: the library prints its reasons there, unless QuietStderr replaces it.
std::mutex quiet_mutex;

// Redirects the C stream `stderr` to /dev/null during its life. In the GNU C library `stderr` is an assignable
// variable. The descriptor does not change, so child processes are not affected.
class QuietStderr {
 public:
  QuietStderr() : before_(stderr) {
    // Opened once. Null if the device is missing: then the library's output goes to stderr.
    static std::FILE* const nowhere = std::fopen("/dev/null", "we");
    if (nowhere != nullptr) {
      stderr = nowhere;
    }
  }
  ~QuietStderr() { stderr = before_; }
  QuietStderr(const QuietStderr&) = delete;
  QuietStderr& operator=(const QuietStderr&) = delete;

 private:
  std::FILE* before_;
};

Input input_of(std::string_view bytes) {
  rnp_input_t input = nullptr;
  rnp_input_from_memory(&input, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size(), false);
  return Input(input);
}

// Returns what `get` says of a handle, and frees the library's text; empty after a failure.
template <typename Handle>
std::string text_of(Handle handle, rnp_result_t (*get)(Handle, char**)) {
  char* text = nullptr;
  const rnp_result_t result = get(handle, &text);
  const std::unique_ptr<char, Deleter<rnp_buffer_destroy>> owned(text);
  return result == RNP_SUCCESS && text != nullptr ? std::string(text) : std::string();
}

Key find_key(const Ring& ring, const char* by, const std::string& value) {
  rnp_key_handle_t key = nullptr;
  rnp_locate_key(ring.get(), by, value.c_str(), &key);
  return Key(key);
}

// Returns the primary key of a subkey, else null.
Key primary_of(const Ring& ring, const Key& key) {
  bool is_sub = false;
  if (rnp_key_is_sub(key.get(), &is_sub) != RNP_SUCCESS || !is_sub) {
    return nullptr;
  }
  return find_key(ring, "fingerprint", text_of(key.get(), rnp_key_get_primary_fprint));
}

bool is_revoked(const Key& key) {
  bool revoked = false;
  return rnp_key_is_revoked(key.get(), &revoked) != RNP_SUCCESS || revoked;
}

bool is_expired(const Key& key) {
  std::uint32_t created = 0;
  std::uint32_t lifetime = 0;
  rnp_key_get_creation(key.get(), &created);
  rnp_key_get_expiration(key.get(), &lifetime);
  const auto now =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch());
  return lifetime != 0 && now.count() > std::int64_t{created} + lifetime;
}

// The first signature whose maker is in the ring, and the library's verdict on it.
struct Found {
  std::string key_id;  // of the signing key, possibly a subkey
  rnp_result_t status = RNP_ERROR_KEY_NOT_FOUND;
  std::uint32_t created = 0;
};

std::optional<Found> find_signature(const Verification& verification) {
  std::size_t count = 0;
  rnp_op_verify_get_signature_count(verification.get(), &count);
  for (std::size_t i = 0; i < count; ++i) {
    rnp_op_verify_signature_t made = nullptr;
    rnp_signature_handle_t handle = nullptr;
    if (rnp_op_verify_get_signature_at(verification.get(), i, &made) != RNP_SUCCESS ||
        rnp_op_verify_signature_get_status(made) == RNP_ERROR_KEY_NOT_FOUND ||
        rnp_op_verify_signature_get_handle(made, &handle) != RNP_SUCCESS) {
      continue;
    }
    const SignatureHandle owned(handle);
    Found found{text_of(handle, rnp_signature_get_keyid), rnp_op_verify_signature_get_status(made)};
    rnp_signature_get_creation(handle, &found.created);
    return found;
  }
  return std::nullopt;
}

SignatureVerdict bad(std::string key_id, std::string reason) {
  return {.kind = Kind::bad, .key_id = std::move(key_id), .reason = std::move(reason)};
}

// The library rejects a signature that was made after the key expired, without verifying it. Authors renew their keys,
// and registries continue to publish the old ones: the clients treat such a signature as one by an expired key.
bool is_signed_late(const Key& key, std::string_view document, std::string_view signature) {
  std::uint8_t* bytes = nullptr;
  std::size_t size = 0;
  if (rnp_get_public_key_data(key.get(), &bytes, &size) != RNP_SUCCESS) {
    return false;
  }
  const std::unique_ptr<std::uint8_t, Deleter<rnp_buffer_destroy>> owned(bytes);
  return is_rsa_signed({reinterpret_cast<const char*>(bytes), size}, document, signature);
}

SignatureVerdict check_signature(const Ring& ring, const Found& found, std::string_view document,
                                 std::string_view signature) {
  const Key key = find_key(ring, "keyid", found.key_id);
  bool may_sign = false;
  if (!key || rnp_key_allows_usage(key.get(), "sign", &may_sign) != RNP_SUCCESS || !may_sign) {
    return {.kind = Kind::unknown_issuer};
  }
  const Key primary = primary_of(ring, key);
  const Key& owner = primary ? primary : key;
  SignatureVerdict verdict{.kind = Kind::good, .key_id = text_of(owner.get(), rnp_key_get_keyid)};
  verdict.made += std::chrono::seconds(found.created);
  const bool has_expired = is_expired(owner) || is_expired(key);
  const bool is_proven = found.status == RNP_SUCCESS || found.status == RNP_ERROR_SIGNATURE_EXPIRED ||
                         (has_expired && is_signed_late(key, document, signature));
  if (!is_proven) {
    return bad(std::move(verdict.key_id), "the signature is not of this key over these bytes");
  }
  if (is_revoked(owner) || is_revoked(key)) {
    return bad(std::move(verdict.key_id), "the key is revoked");
  }
  if (has_expired) {
    verdict.kind = Kind::key_expired;
  } else if (found.status == RNP_ERROR_SIGNATURE_EXPIRED) {
    verdict.kind = Kind::signature_expired;
  }
  return verdict;
}

// The first byte of every OpenPGP packet has its highest bit set; armor starts with a dash.
bool is_packet(std::string_view bytes) {
  return (static_cast<unsigned char>(bytes.front()) & 0x80U) != 0;
}

// Returns the first armored key of a text, as the clients read it: they ignore text before and after it.
std::string first_key(std::string_view text) {
  constexpr std::string_view kBegin = "-----BEGIN PGP PUBLIC KEY BLOCK-----";
  constexpr std::string_view kEnd = "-----END PGP PUBLIC KEY BLOCK-----";
  const std::size_t begin = text.find(kBegin);
  if (begin == std::string_view::npos) {
    return {};
  }
  const std::size_t end = text.find(kEnd, begin);
  return end == std::string_view::npos ? std::string(text.substr(begin))
                                       : std::string(text.substr(begin, end + kEnd.size() - begin)) + "\n";
}

}  // namespace

Result<SignatureVerdict> check_detached_signature(std::string_view armored_key, std::string_view document,
                                                  std::string_view signature) {
  const std::lock_guard lock(quiet_mutex);
  const QuietStderr quiet;
  rnp_ffi_t ffi = nullptr;
  if (rnp_ffi_create(&ffi, "GPG", "GPG") != RNP_SUCCESS) {
    return fail(Code::internal, "librnp cannot create a key ring");
  }
  const Ring ring(ffi);
  const std::string first = first_key(armored_key);
  const Input key = input_of(first);
  if (first.empty() || !key || rnp_import_keys(ffi, key.get(), RNP_LOAD_SAVE_PUBLIC_KEYS, nullptr) != RNP_SUCCESS) {
    return fail(Code::bad_response, "no public key can be read from it");
  }
  if (signature.empty()) {
    return SignatureVerdict{};
  }
  const Input signed_bytes = input_of(document);
  const Input made = input_of(signature);
  rnp_op_verify_t operation = nullptr;
  if (!is_packet(signature) || !signed_bytes || !made ||
      rnp_op_verify_detached_create(&operation, ffi, signed_bytes.get(), made.get()) != RNP_SUCCESS) {
    return bad({}, "it is not an OpenPGP signature");
  }
  const Verification verification(operation);
  const rnp_result_t outcome = rnp_op_verify_execute(operation);
  const auto found = find_signature(verification);
  if (found) {
    return check_signature(ring, *found, document, signature);
  }
  std::size_t count = 0;
  rnp_op_verify_get_signature_count(operation, &count);
  return count == 0 && outcome != RNP_SUCCESS ? bad({}, "it is not an OpenPGP signature") : SignatureVerdict{};
}

}  // namespace modlock
