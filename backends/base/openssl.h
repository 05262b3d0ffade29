#pragma once

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include "backends/base/lazy_library.h"
#include "backends/base/library_names.h"

// What we call of OpenSSL, under its names in lower case. It is not linked with: its tables take longer to load than
// most of what needs no hash.
namespace modlock::openssl {

inline constexpr LazyLibrary kLibcrypto(kLibcryptoName);
inline constexpr LazyLibrary kLibssl(kLibsslName);

inline constinit const LazyFunction<decltype(::BIO_free)> bio_free(kLibcrypto, "BIO_free");
inline constinit const LazyFunction<decltype(::BIO_new_mem_buf)> bio_new_mem_buf(kLibcrypto, "BIO_new_mem_buf");
inline constinit const LazyFunction<decltype(::BN_bin2bn)> bn_bin2bn(kLibcrypto, "BN_bin2bn");
inline constinit const LazyFunction<decltype(::BN_free)> bn_free(kLibcrypto, "BN_free");
inline constinit const LazyFunction<decltype(::CRYPTO_get_ex_new_index)> crypto_get_ex_new_index(
    kLibcrypto, "CRYPTO_get_ex_new_index");
inline constinit const LazyFunction<decltype(::EVP_DigestFinal_ex)> evp_digestfinal_ex(kLibcrypto,
                                                                                       "EVP_DigestFinal_ex");
inline constinit const LazyFunction<decltype(::EVP_DigestInit_ex)> evp_digestinit_ex(kLibcrypto, "EVP_DigestInit_ex");
inline constinit const LazyFunction<decltype(::EVP_DigestUpdate)> evp_digestupdate(kLibcrypto, "EVP_DigestUpdate");
inline constinit const LazyFunction<decltype(::EVP_DigestVerifyFinal)> evp_digestverifyfinal(kLibcrypto,
                                                                                             "EVP_DigestVerifyFinal");
inline constinit const LazyFunction<decltype(::EVP_DigestVerifyInit)> evp_digestverifyinit(kLibcrypto,
                                                                                           "EVP_DigestVerifyInit");
inline constinit const LazyFunction<decltype(::EVP_DigestVerifyUpdate)> evp_digestverifyupdate(
    kLibcrypto, "EVP_DigestVerifyUpdate");
inline constinit const LazyFunction<decltype(::EVP_MD_CTX_free)> evp_md_ctx_free(kLibcrypto, "EVP_MD_CTX_free");
inline constinit const LazyFunction<decltype(::EVP_MD_CTX_new)> evp_md_ctx_new(kLibcrypto, "EVP_MD_CTX_new");
inline constinit const LazyFunction<decltype(::EVP_MD_fetch)> evp_md_fetch(kLibcrypto, "EVP_MD_fetch");
inline constinit const LazyFunction<decltype(::EVP_PKEY_CTX_free)> evp_pkey_ctx_free(kLibcrypto, "EVP_PKEY_CTX_free");
inline constinit const LazyFunction<decltype(::EVP_PKEY_CTX_new_from_name)> evp_pkey_ctx_new_from_name(
    kLibcrypto, "EVP_PKEY_CTX_new_from_name");
inline constinit const LazyFunction<decltype(::EVP_PKEY_free)> evp_pkey_free(kLibcrypto, "EVP_PKEY_free");
inline constinit const LazyFunction<decltype(::EVP_PKEY_fromdata)> evp_pkey_fromdata(kLibcrypto, "EVP_PKEY_fromdata");
inline constinit const LazyFunction<decltype(::EVP_PKEY_fromdata_init)> evp_pkey_fromdata_init(
    kLibcrypto, "EVP_PKEY_fromdata_init");
inline constinit const LazyFunction<decltype(::EVP_PKEY_get_size)> evp_pkey_get_size(kLibcrypto, "EVP_PKEY_get_size");
inline constinit const LazyFunction<decltype(::EVP_sha256)> evp_sha256(kLibcrypto, "EVP_sha256");
inline constinit const LazyFunction<decltype(::EVP_sha384)> evp_sha384(kLibcrypto, "EVP_sha384");
inline constinit const LazyFunction<decltype(::EVP_sha512)> evp_sha512(kLibcrypto, "EVP_sha512");
inline constinit const LazyFunction<decltype(::OSSL_PARAM_BLD_free)> ossl_param_bld_free(kLibcrypto,
                                                                                         "OSSL_PARAM_BLD_free");
inline constinit const LazyFunction<decltype(::OSSL_PARAM_BLD_new)> ossl_param_bld_new(kLibcrypto,
                                                                                       "OSSL_PARAM_BLD_new");
inline constinit const LazyFunction<decltype(::OSSL_PARAM_BLD_push_BN)> ossl_param_bld_push_bn(
    kLibcrypto, "OSSL_PARAM_BLD_push_BN");
inline constinit const LazyFunction<decltype(::OSSL_PARAM_BLD_to_param)> ossl_param_bld_to_param(
    kLibcrypto, "OSSL_PARAM_BLD_to_param");
inline constinit const LazyFunction<decltype(::OSSL_PARAM_free)> ossl_param_free(kLibcrypto, "OSSL_PARAM_free");
inline constinit const LazyFunction<decltype(::PEM_read_bio_X509)> pem_read_bio_x509(kLibcrypto, "PEM_read_bio_X509");
inline constinit const LazyFunction<decltype(::X509_STORE_CTX_get0_store)> x509_store_ctx_get0_store(
    kLibcrypto, "X509_STORE_CTX_get0_store");
inline constinit const LazyFunction<decltype(::X509_STORE_CTX_get1_issuer)> x509_store_ctx_get1_issuer(
    kLibcrypto, "X509_STORE_CTX_get1_issuer");
inline constinit const LazyFunction<decltype(::X509_STORE_add_cert)> x509_store_add_cert(kLibcrypto,
                                                                                         "X509_STORE_add_cert");
inline constinit const LazyFunction<decltype(::X509_STORE_free)> x509_store_free(kLibcrypto, "X509_STORE_free");
inline constinit const LazyFunction<decltype(::X509_STORE_get_ex_data)> x509_store_get_ex_data(
    kLibcrypto, "X509_STORE_get_ex_data");
inline constinit const LazyFunction<decltype(::X509_STORE_new)> x509_store_new(kLibcrypto, "X509_STORE_new");
inline constinit const LazyFunction<decltype(::X509_STORE_set_ex_data)> x509_store_set_ex_data(
    kLibcrypto, "X509_STORE_set_ex_data");
inline constinit const LazyFunction<decltype(::X509_STORE_set_flags)> x509_store_set_flags(kLibcrypto,
                                                                                           "X509_STORE_set_flags");
inline constinit const LazyFunction<decltype(::X509_STORE_set_get_issuer)> x509_store_set_get_issuer(
    kLibcrypto, "X509_STORE_set_get_issuer");
inline constinit const LazyFunction<decltype(::X509_free)> x509_free(kLibcrypto, "X509_free");
inline constinit const LazyFunction<decltype(::SSL_CTX_set1_cert_store)> ssl_ctx_set1_cert_store(
    kLibssl, "SSL_CTX_set1_cert_store");

}  // namespace modlock::openssl
