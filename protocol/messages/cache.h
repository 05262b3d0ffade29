#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "protocol/messages/fields.h"

namespace modlock::messages {

struct CacheSizes {
  std::uint64_t packages = 0;  // count
  std::uint64_t package_bytes = 0;
  std::uint64_t repositories = 0;  // count
  std::uint64_t repository_bytes = 0;
  std::uint64_t records = 0;  // files of Store::record_directories()
  std::uint64_t record_bytes = 0;
  std::uint64_t unfinished_bytes = 0;  // of work that is not finished
};

struct CacheInfoResult {
  std::string directory;
  CacheSizes sizes;
};

struct CachePruneParams {
  std::optional<std::uint64_t> max_bytes;
  std::optional<std::string> max_age;  // a duration: "720h"
};

struct CachePruneResult {
  std::string directory;
  CacheSizes sizes;  // remaining
  CacheSizes removed;
  std::uint64_t leftovers = 0;
};

constexpr TypeName name_of(const CacheSizes*) {
  return {"CacheSizes", "How much the cache holds."};
}
template <typename Form>
void fields(Form& form, In<Form, CacheSizes> sizes) {
  form.member("packages", sizes.packages, "packages");
  form.member("packageBytes", sizes.package_bytes, "their bytes");
  form.member("repositories", sizes.repositories, "copies of git repositories");
  form.member("repositoryBytes", sizes.repository_bytes, "their bytes");
  form.member("records", sizes.records,
              "other small files: responses of registries, digests of installed packages and of "
              "provider archives, client versions");
  form.member("recordBytes", sizes.record_bytes, "their bytes");
  form.member("unfinishedBytes", sizes.unfinished_bytes, "bytes of unfinished work");
}
template <typename Form>
void fields(Form& form, In<Form, CacheInfoResult> result) {
  form.member("directory", result.directory, "the directory of the cache");
  form.member("sizes", result.sizes, "how much it holds");
}
template <typename Form>
void fields(Form& form, In<Form, CachePruneParams> params) {
  form.optional("maxBytes", params.max_bytes,
                "remove the least recently used files (of records: written) until the cache has this size");
  form.optional("maxAge", params.max_age, "remove files that were not used for this long, `30d`");
}
template <typename Form>
void fields(Form& form, In<Form, CachePruneResult> result) {
  form.member("directory", result.directory, "the directory of the cache");
  form.member("sizes", result.sizes, "the remaining files");
  form.group("removed", "what was removed", [&](auto& removed) {
    removed.include(result.removed);
    removed.member("leftovers", result.leftovers, "unfinished work, and records without a target");
  });
}

}  // namespace modlock::messages
