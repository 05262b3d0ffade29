#pragma once

#include <rnp/rnp.h>
#include <rnp/rnp_err.h>

#include "backends/base/lazy_library.h"
#include "backends/base/library_names.h"

// What we call of librnp, under its names without the prefix. It is not linked with: it brings Botan, and few runs look
// at a signature.
namespace modlock::rnp {

inline constexpr LazyLibrary kLibrary(kLibrnpName);

inline constinit const LazyFunction<decltype(::rnp_buffer_destroy)> buffer_destroy(kLibrary, "rnp_buffer_destroy");
inline constinit const LazyFunction<decltype(::rnp_ffi_create)> ffi_create(kLibrary, "rnp_ffi_create");
inline constinit const LazyFunction<decltype(::rnp_ffi_destroy)> ffi_destroy(kLibrary, "rnp_ffi_destroy");
inline constinit const LazyFunction<decltype(::rnp_get_public_key_data)> get_public_key_data(kLibrary,
                                                                                             "rnp_get_public_key_data");
inline constinit const LazyFunction<decltype(::rnp_import_keys)> import_keys(kLibrary, "rnp_import_keys");
inline constinit const LazyFunction<decltype(::rnp_input_destroy)> input_destroy(kLibrary, "rnp_input_destroy");
inline constinit const LazyFunction<decltype(::rnp_input_from_memory)> input_from_memory(kLibrary,
                                                                                         "rnp_input_from_memory");
inline constinit const LazyFunction<decltype(::rnp_key_allows_usage)> key_allows_usage(kLibrary,
                                                                                       "rnp_key_allows_usage");
inline constinit const LazyFunction<decltype(::rnp_key_get_creation)> key_get_creation(kLibrary,
                                                                                       "rnp_key_get_creation");
inline constinit const LazyFunction<decltype(::rnp_key_get_expiration)> key_get_expiration(kLibrary,
                                                                                           "rnp_key_get_expiration");
inline constinit const LazyFunction<decltype(::rnp_key_get_keyid)> key_get_keyid(kLibrary, "rnp_key_get_keyid");
inline constinit const LazyFunction<decltype(::rnp_key_get_primary_fprint)> key_get_primary_fprint(
    kLibrary, "rnp_key_get_primary_fprint");
inline constinit const LazyFunction<decltype(::rnp_key_handle_destroy)> key_handle_destroy(kLibrary,
                                                                                           "rnp_key_handle_destroy");
inline constinit const LazyFunction<decltype(::rnp_key_is_revoked)> key_is_revoked(kLibrary, "rnp_key_is_revoked");
inline constinit const LazyFunction<decltype(::rnp_key_is_sub)> key_is_sub(kLibrary, "rnp_key_is_sub");
inline constinit const LazyFunction<decltype(::rnp_locate_key)> locate_key(kLibrary, "rnp_locate_key");
inline constinit const LazyFunction<decltype(::rnp_op_verify_destroy)> op_verify_destroy(kLibrary,
                                                                                         "rnp_op_verify_destroy");
inline constinit const LazyFunction<decltype(::rnp_op_verify_detached_create)> op_verify_detached_create(
    kLibrary, "rnp_op_verify_detached_create");
inline constinit const LazyFunction<decltype(::rnp_op_verify_execute)> op_verify_execute(kLibrary,
                                                                                         "rnp_op_verify_execute");
inline constinit const LazyFunction<decltype(::rnp_op_verify_get_signature_at)> op_verify_get_signature_at(
    kLibrary, "rnp_op_verify_get_signature_at");
inline constinit const LazyFunction<decltype(::rnp_op_verify_get_signature_count)> op_verify_get_signature_count(
    kLibrary, "rnp_op_verify_get_signature_count");
inline constinit const LazyFunction<decltype(::rnp_op_verify_signature_get_handle)> op_verify_signature_get_handle(
    kLibrary, "rnp_op_verify_signature_get_handle");
inline constinit const LazyFunction<decltype(::rnp_op_verify_signature_get_status)> op_verify_signature_get_status(
    kLibrary, "rnp_op_verify_signature_get_status");
inline constinit const LazyFunction<decltype(::rnp_signature_get_keyid)> signature_get_keyid(kLibrary,
                                                                                             "rnp_signature_get_keyid");
inline constinit const LazyFunction<decltype(::rnp_signature_handle_destroy)> signature_handle_destroy(
    kLibrary, "rnp_signature_handle_destroy");

}  // namespace modlock::rnp
