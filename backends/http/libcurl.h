#pragma once

#include <curl/curl.h>

#include "backends/base/lazy_library.h"
#include "backends/base/library_names.h"

// What we call of libcurl, under its names without the prefix. It is not linked with: it brings some thirty libraries.
namespace modlock::curl {

inline constexpr LazyLibrary kLibrary(kLibcurlName);

inline constinit const LazyFunction<decltype(::curl_easy_cleanup)> easy_cleanup(kLibrary, "curl_easy_cleanup");
inline constinit const LazyFunction<decltype(::curl_easy_getinfo)> easy_getinfo(kLibrary, "curl_easy_getinfo");
inline constinit const LazyFunction<decltype(::curl_easy_init)> easy_init(kLibrary, "curl_easy_init");
inline constinit const LazyFunction<decltype(::curl_easy_reset)> easy_reset(kLibrary, "curl_easy_reset");
inline constinit const LazyFunction<decltype(::curl_easy_setopt)> easy_setopt(kLibrary, "curl_easy_setopt");
inline constinit const LazyFunction<decltype(::curl_easy_strerror)> easy_strerror(kLibrary, "curl_easy_strerror");
inline constinit const LazyFunction<decltype(::curl_global_init)> global_init(kLibrary, "curl_global_init");
inline constinit const LazyFunction<decltype(::curl_multi_add_handle)> multi_add_handle(kLibrary,
                                                                                        "curl_multi_add_handle");
inline constinit const LazyFunction<decltype(::curl_multi_cleanup)> multi_cleanup(kLibrary, "curl_multi_cleanup");
inline constinit const LazyFunction<decltype(::curl_multi_info_read)> multi_info_read(kLibrary, "curl_multi_info_read");
inline constinit const LazyFunction<decltype(::curl_multi_init)> multi_init(kLibrary, "curl_multi_init");
inline constinit const LazyFunction<decltype(::curl_multi_perform)> multi_perform(kLibrary, "curl_multi_perform");
inline constinit const LazyFunction<decltype(::curl_multi_poll)> multi_poll(kLibrary, "curl_multi_poll");
inline constinit const LazyFunction<decltype(::curl_multi_remove_handle)> multi_remove_handle(
    kLibrary, "curl_multi_remove_handle");
inline constinit const LazyFunction<decltype(::curl_multi_setopt)> multi_setopt(kLibrary, "curl_multi_setopt");
inline constinit const LazyFunction<decltype(::curl_multi_wakeup)> multi_wakeup(kLibrary, "curl_multi_wakeup");
inline constinit const LazyFunction<decltype(::curl_share_cleanup)> share_cleanup(kLibrary, "curl_share_cleanup");
inline constinit const LazyFunction<decltype(::curl_share_init)> share_init(kLibrary, "curl_share_init");
inline constinit const LazyFunction<decltype(::curl_share_setopt)> share_setopt(kLibrary, "curl_share_setopt");
inline constinit const LazyFunction<decltype(::curl_slist_append)> slist_append(kLibrary, "curl_slist_append");
inline constinit const LazyFunction<decltype(::curl_slist_free_all)> slist_free_all(kLibrary, "curl_slist_free_all");

}  // namespace modlock::curl
