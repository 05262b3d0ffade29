#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backends/package/unpack.h"
#include "backends/package/zip_directory.h"
#include "protocol/base/result.h"

namespace modlock {

// Where the entries of a provider package go when a client unpacks it (go-getter's ZipDecompressor into an empty
// directory: names are cleaned, the last of several entries of one name stays, links become files).
struct ZipLayout {
  std::vector<std::string> paths;     // of each entry; empty for a directory
  bool is_plain = true;               // each entry is a file that bears its own path and no other entry's
  std::vector<std::string> programs;  // files beside each other at the top named "terraform-provider-…", sorted
};

// Errors: ARCHIVE_UNSAFE naming the entry (".." between slashes of any kind, a NUL or a line end in a name, no name, a
// name longer than 255 bytes, a file below a file, a file and a directory of one name, more entries or names than
// allowed).
Result<ZipLayout> zip_layout(const std::vector<ZipEntry>& entries, const UnpackLimits& limits,
                             std::string_view display);

// Whether one of the programs is that of a provider of this type: "terraform-provider-<type>", then nothing, "_…" or
// ".…". Errors: BAD_RESPONSE in OpenTofu's words (`provider binary not found: …`).
Result<void> expect_provider_program(const std::vector<std::string>& programs, std::string_view type,
                                     std::string_view display);

}  // namespace modlock
