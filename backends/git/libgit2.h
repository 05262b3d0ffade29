#pragma once

#include <git2.h>
#include <git2/sys/alloc.h>
#include <git2/sys/path.h>

#include "backends/base/lazy_library.h"
#include "backends/base/library_names.h"

// What we call of libgit2, under its names without the prefix. It is not linked with: it brings some ten libraries.
namespace modlock::libgit2 {

inline constexpr LazyLibrary kLibrary(kLibgit2Name);

inline constinit const LazyFunction<decltype(::git_blob_free)> blob_free(kLibrary, "git_blob_free");
inline constinit const LazyFunction<decltype(::git_blob_lookup)> blob_lookup(kLibrary, "git_blob_lookup");
inline constinit const LazyFunction<decltype(::git_blob_rawcontent)> blob_rawcontent(kLibrary, "git_blob_rawcontent");
inline constinit const LazyFunction<decltype(::git_blob_rawsize)> blob_rawsize(kLibrary, "git_blob_rawsize");
inline constinit const LazyFunction<decltype(::git_commit_free)> commit_free(kLibrary, "git_commit_free");
inline constinit const LazyFunction<decltype(::git_commit_lookup)> commit_lookup(kLibrary, "git_commit_lookup");
inline constinit const LazyFunction<decltype(::git_commit_parentcount)> commit_parentcount(kLibrary,
                                                                                           "git_commit_parentcount");
inline constinit const LazyFunction<decltype(::git_commit_time)> commit_time(kLibrary, "git_commit_time");
inline constinit const LazyFunction<decltype(::git_commit_tree)> commit_tree(kLibrary, "git_commit_tree");
inline constinit const LazyFunction<decltype(::git_commit_tree_id)> commit_tree_id(kLibrary, "git_commit_tree_id");
inline constinit const LazyFunction<decltype(::git_config_free)> config_free(kLibrary, "git_config_free");
inline constinit const LazyFunction<decltype(::git_config_iterator_free)> config_iterator_free(
    kLibrary, "git_config_iterator_free");
inline constinit const LazyFunction<decltype(::git_config_iterator_new)> config_iterator_new(kLibrary,
                                                                                             "git_config_iterator_new");
inline constinit const LazyFunction<decltype(::git_config_next)> config_next(kLibrary, "git_config_next");
inline constinit const LazyFunction<decltype(::git_config_open_ondisk)> config_open_ondisk(kLibrary,
                                                                                           "git_config_open_ondisk");
inline constinit const LazyFunction<decltype(::git_error_clear)> error_clear(kLibrary, "git_error_clear");
inline constinit const LazyFunction<decltype(::git_error_last)> error_last(kLibrary, "git_error_last");
inline constinit const LazyFunction<decltype(::git_error_set_oom)> error_set_oom(kLibrary, "git_error_set_oom");
inline constinit const LazyFunction<decltype(::git_indexer_append)> indexer_append(kLibrary, "git_indexer_append");
inline constinit const LazyFunction<decltype(::git_indexer_commit)> indexer_commit(kLibrary, "git_indexer_commit");
inline constinit const LazyFunction<decltype(::git_indexer_free)> indexer_free(kLibrary, "git_indexer_free");
inline constinit const LazyFunction<decltype(::git_indexer_name)> indexer_name(kLibrary, "git_indexer_name");
inline constinit const LazyFunction<decltype(::git_indexer_new)> indexer_new(kLibrary, "git_indexer_new");
inline constinit const LazyFunction<decltype(::git_libgit2_init)> libgit2_init(kLibrary, "git_libgit2_init");
inline constinit const LazyFunction<decltype(::git_libgit2_opts)> libgit2_opts(kLibrary, "git_libgit2_opts");
inline constinit const LazyFunction<decltype(::git_object_free)> object_free(kLibrary, "git_object_free");
inline constinit const LazyFunction<decltype(::git_object_id)> object_id(kLibrary, "git_object_id");
inline constinit const LazyFunction<decltype(::git_object_lookup)> object_lookup(kLibrary, "git_object_lookup");
inline constinit const LazyFunction<decltype(::git_object_peel)> object_peel(kLibrary, "git_object_peel");
inline constinit const LazyFunction<decltype(::git_object_type)> object_type(kLibrary, "git_object_type");
inline constinit const LazyFunction<decltype(::git_object_type2string)> object_type2string(kLibrary,
                                                                                           "git_object_type2string");
inline constinit const LazyFunction<decltype(::git_odb_exists)> odb_exists(kLibrary, "git_odb_exists");
inline constinit const LazyFunction<decltype(::git_odb_free)> odb_free(kLibrary, "git_odb_free");
inline constinit const LazyFunction<decltype(::git_odb_read_header)> odb_read_header(kLibrary, "git_odb_read_header");
inline constinit const LazyFunction<decltype(::git_oid_equal)> oid_equal(kLibrary, "git_oid_equal");
inline constinit const LazyFunction<decltype(::git_oid_fmt)> oid_fmt(kLibrary, "git_oid_fmt");
inline constinit const LazyFunction<decltype(::git_oid_fromstr)> oid_fromstr(kLibrary, "git_oid_fromstr");
inline constinit const LazyFunction<decltype(::git_path_is_gitfile)> path_is_gitfile(kLibrary, "git_path_is_gitfile");
inline constinit const LazyFunction<decltype(::git_reference_create)> reference_create(kLibrary,
                                                                                       "git_reference_create");
inline constinit const LazyFunction<decltype(::git_reference_free)> reference_free(kLibrary, "git_reference_free");
inline constinit const LazyFunction<decltype(::git_reference_list)> reference_list(kLibrary, "git_reference_list");
inline constinit const LazyFunction<decltype(::git_reference_name_to_id)> reference_name_to_id(
    kLibrary, "git_reference_name_to_id");
inline constinit const LazyFunction<decltype(::git_reference_remove)> reference_remove(kLibrary,
                                                                                       "git_reference_remove");
inline constinit const LazyFunction<decltype(::git_repository_free)> repository_free(kLibrary, "git_repository_free");
inline constinit const LazyFunction<decltype(::git_repository_odb)> repository_odb(kLibrary, "git_repository_odb");
inline constinit const LazyFunction<decltype(::git_repository_open_bare)> repository_open_bare(
    kLibrary, "git_repository_open_bare");
inline constinit const LazyFunction<decltype(::git_repository_path)> repository_path(kLibrary, "git_repository_path");
inline constinit const LazyFunction<decltype(::git_strarray_dispose)> strarray_dispose(kLibrary,
                                                                                       "git_strarray_dispose");
inline constinit const LazyFunction<decltype(::git_tree_entry_byindex)> tree_entry_byindex(kLibrary,
                                                                                           "git_tree_entry_byindex");
inline constinit const LazyFunction<decltype(::git_tree_entry_filemode)> tree_entry_filemode(kLibrary,
                                                                                             "git_tree_entry_filemode");
inline constinit const LazyFunction<decltype(::git_tree_entry_filemode_raw)> tree_entry_filemode_raw(
    kLibrary, "git_tree_entry_filemode_raw");
inline constinit const LazyFunction<decltype(::git_tree_entry_id)> tree_entry_id(kLibrary, "git_tree_entry_id");
inline constinit const LazyFunction<decltype(::git_tree_entry_name)> tree_entry_name(kLibrary, "git_tree_entry_name");
inline constinit const LazyFunction<decltype(::git_tree_entry_type)> tree_entry_type(kLibrary, "git_tree_entry_type");
inline constinit const LazyFunction<decltype(::git_tree_entrycount)> tree_entrycount(kLibrary, "git_tree_entrycount");
inline constinit const LazyFunction<decltype(::git_tree_free)> tree_free(kLibrary, "git_tree_free");
inline constinit const LazyFunction<decltype(::git_tree_lookup)> tree_lookup(kLibrary, "git_tree_lookup");
inline constinit const LazyFunction<decltype(::git_tree_walk)> tree_walk(kLibrary, "git_tree_walk");

}  // namespace modlock::libgit2
