#pragma once

#include <zip.h>

#include "backends/base/lazy_library.h"
#include "backends/base/library_names.h"

// What we call of libzip, under its names without the prefix. It is not linked with: it brings OpenSSL.
namespace modlock::libzip {

inline constexpr LazyLibrary kLibrary(kLibzipName);

inline constinit const LazyFunction<decltype(::zip_discard)> discard(kLibrary, "zip_discard");
inline constinit const LazyFunction<decltype(::zip_error_fini)> error_fini(kLibrary, "zip_error_fini");
inline constinit const LazyFunction<decltype(::zip_error_init_with_code)> error_init_with_code(
    kLibrary, "zip_error_init_with_code");
inline constinit const LazyFunction<decltype(::zip_error_strerror)> error_strerror(kLibrary, "zip_error_strerror");
inline constinit const LazyFunction<decltype(::zip_fclose)> fclose(kLibrary, "zip_fclose");
inline constinit const LazyFunction<decltype(::zip_file_get_external_attributes)> file_get_external_attributes(
    kLibrary, "zip_file_get_external_attributes");
inline constinit const LazyFunction<decltype(::zip_file_strerror)> file_strerror(kLibrary, "zip_file_strerror");
inline constinit const LazyFunction<decltype(::zip_fopen_index)> fopen_index(kLibrary, "zip_fopen_index");
inline constinit const LazyFunction<decltype(::zip_fread)> fread(kLibrary, "zip_fread");
inline constinit const LazyFunction<decltype(::zip_get_name)> get_name(kLibrary, "zip_get_name");
inline constinit const LazyFunction<decltype(::zip_get_num_entries)> get_num_entries(kLibrary, "zip_get_num_entries");
inline constinit const LazyFunction<decltype(::zip_open)> open(kLibrary, "zip_open");
inline constinit const LazyFunction<decltype(::zip_stat_index)> stat_index(kLibrary, "zip_stat_index");
inline constinit const LazyFunction<decltype(::zip_strerror)> strerror(kLibrary, "zip_strerror");

}  // namespace modlock::libzip
