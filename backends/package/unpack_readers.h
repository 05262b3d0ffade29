#pragma once

#include "backends/base/context.h"
#include "backends/base/files.h"
#include "backends/package/streamed_file.h"
#include "backends/package/unpack_rules.h"
#include "backends/package/unpack_tree.h"
#include "protocol/base/result.h"

namespace modlock::unpack {

// Feeds every entry of an archive through the rules to the writer; the digests of the files. Of a tar the entries are
// written while it arrives. Errors: those of unpack_archive() and StreamedFile::wait_for().
Result<FileDigests> read_zip(const StreamedFile& archive, Rules& rules, TreeWriter& writer, const Context& context);
Result<FileDigests> read_tar(const StreamedFile& archive, ArchiveFormat format, Rules& rules, TreeWriter& writer,
                             const Context& context);

}  // namespace modlock::unpack
