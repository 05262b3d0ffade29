#pragma once

#include <archive.h>
#include <archive_entry.h>

#include "backends/base/lazy_library.h"
#include "backends/base/library_names.h"

// What we call of libarchive, under its names without the prefix. It is not linked with: it brings some ten libraries.
namespace modlock::libarchive {

inline constexpr LazyLibrary kLibrary(kLibarchiveName);

inline constinit const LazyFunction<decltype(::archive_entry_filetype)> entry_filetype(kLibrary,
                                                                                       "archive_entry_filetype");
inline constinit const LazyFunction<decltype(::archive_entry_free)> entry_free(kLibrary, "archive_entry_free");
inline constinit const LazyFunction<decltype(::archive_entry_hardlink)> entry_hardlink(kLibrary,
                                                                                       "archive_entry_hardlink");
inline constinit const LazyFunction<decltype(::archive_entry_new)> entry_new(kLibrary, "archive_entry_new");
inline constinit const LazyFunction<decltype(::archive_entry_pathname)> entry_pathname(kLibrary,
                                                                                       "archive_entry_pathname");
inline constinit const LazyFunction<decltype(::archive_entry_perm)> entry_perm(kLibrary, "archive_entry_perm");
inline constinit const LazyFunction<decltype(::archive_entry_set_filetype)> entry_set_filetype(
    kLibrary, "archive_entry_set_filetype");
inline constinit const LazyFunction<decltype(::archive_entry_set_pathname)> entry_set_pathname(
    kLibrary, "archive_entry_set_pathname");
inline constinit const LazyFunction<decltype(::archive_entry_set_perm)> entry_set_perm(kLibrary,
                                                                                       "archive_entry_set_perm");
inline constinit const LazyFunction<decltype(::archive_entry_set_size)> entry_set_size(kLibrary,
                                                                                       "archive_entry_set_size");
inline constinit const LazyFunction<decltype(::archive_entry_size)> entry_size(kLibrary, "archive_entry_size");
inline constinit const LazyFunction<decltype(::archive_errno)> error_number(kLibrary, "archive_errno");
inline constinit const LazyFunction<decltype(::archive_error_string)> error_string(kLibrary, "archive_error_string");
inline constinit const LazyFunction<decltype(::archive_filter_code)> filter_code(kLibrary, "archive_filter_code");
inline constinit const LazyFunction<decltype(::archive_filter_count)> filter_count(kLibrary, "archive_filter_count");
inline constinit const LazyFunction<decltype(::archive_read_data)> read_data(kLibrary, "archive_read_data");
inline constinit const LazyFunction<decltype(::archive_read_data_block)> read_data_block(kLibrary,
                                                                                         "archive_read_data_block");
inline constinit const LazyFunction<decltype(::archive_read_free)> read_free(kLibrary, "archive_read_free");
inline constinit const LazyFunction<decltype(::archive_read_new)> read_new(kLibrary, "archive_read_new");
inline constinit const LazyFunction<decltype(::archive_read_next_header)> read_next_header(kLibrary,
                                                                                           "archive_read_next_header");
inline constinit const LazyFunction<decltype(::archive_read_open)> read_open(kLibrary, "archive_read_open");
inline constinit const LazyFunction<decltype(::archive_read_support_filter_bzip2)> read_support_filter_bzip2(
    kLibrary, "archive_read_support_filter_bzip2");
inline constinit const LazyFunction<decltype(::archive_read_support_filter_gzip)> read_support_filter_gzip(
    kLibrary, "archive_read_support_filter_gzip");
inline constinit const LazyFunction<decltype(::archive_read_support_format_raw)> read_support_format_raw(
    kLibrary, "archive_read_support_format_raw");
inline constinit const LazyFunction<decltype(::archive_read_support_format_tar)> read_support_format_tar(
    kLibrary, "archive_read_support_format_tar");
inline constinit const LazyFunction<void(archive*, int, const char*, ...)> set_error(kLibrary, "archive_set_error");
inline constinit const LazyFunction<decltype(::archive_write_add_filter_gzip)> write_add_filter_gzip(
    kLibrary, "archive_write_add_filter_gzip");
inline constinit const LazyFunction<decltype(::archive_write_close)> write_close(kLibrary, "archive_write_close");
inline constinit const LazyFunction<decltype(::archive_write_data)> write_data(kLibrary, "archive_write_data");
inline constinit const LazyFunction<decltype(::archive_write_finish_entry)> write_finish_entry(
    kLibrary, "archive_write_finish_entry");
inline constinit const LazyFunction<decltype(::archive_write_free)> write_free(kLibrary, "archive_write_free");
inline constinit const LazyFunction<decltype(::archive_write_header)> write_header(kLibrary, "archive_write_header");
inline constinit const LazyFunction<decltype(::archive_write_new)> write_new(kLibrary, "archive_write_new");
inline constinit const LazyFunction<decltype(::archive_write_open)> write_open(kLibrary, "archive_write_open");
inline constinit const LazyFunction<decltype(::archive_write_set_filter_option)> write_set_filter_option(
    kLibrary, "archive_write_set_filter_option");
inline constinit const LazyFunction<decltype(::archive_write_set_format_gnutar)> write_set_format_gnutar(
    kLibrary, "archive_write_set_format_gnutar");

}  // namespace modlock::libarchive
