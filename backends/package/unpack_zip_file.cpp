#include "backends/package/unpack_zip_file.h"

#include <algorithm>

namespace modlock::unpack {
namespace {

constexpr std::size_t kPiece = std::size_t{128} << 10U;
// What is unpacked in memory, by each thread.
constexpr zip_uint64_t kSmall = zip_uint64_t{4} << 20U;

tl::unexpected<Error> damaged_archive(std::string_view display, std::string_view reason) {
  return fail(with_note(bad_archive(display, "it is damaged").value(), std::string(reason)));
}

}  // namespace

Result<ZipFile> ZipFile::open(const std::filesystem::path& archive, std::string_view display) {
  int reason = 0;
  zip_t* const zip = zip_open(archive.c_str(), ZIP_RDONLY, &reason);
  if (zip != nullptr) {
    return ZipFile(zip, display);
  }
  zip_error_t error;
  zip_error_init_with_code(&error, reason);
  const std::string text = zip_error_strerror(&error);
  zip_error_fini(&error);
  return damaged_archive(display, text);
}

tl::unexpected<Error> ZipFile::damaged(std::string_view reason) const {
  return damaged_archive(display_, reason);
}

void ZipFile::unpack(UnpackQueue::FileIndex turn, PendingFile file, UnpackQueue& line, const Context& context) {
  FileDigests digests;
  auto copied = copy(turn, file, line, context);
  if (copied) {
    copied = file.file.end(file.mode, digests);
  }
  line.finish(turn, std::move(copied), std::move(digests));
}

std::optional<std::string_view> ZipFile::whole(zip_uint64_t entry) {
  zip_stat_t stat;
  constexpr zip_uint64_t kNeeded = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_CRC | ZIP_STAT_COMP_METHOD;
  if (zip_stat_index(zip_.get(), entry, 0U, &stat) != 0 || (stat.valid & kNeeded) != kNeeded ||
      stat.comp_method != ZIP_CM_DEFLATE || std::max(stat.size, stat.comp_size) > kSmall) {
    return std::nullopt;
  }
  const std::unique_ptr<zip_file_t, Deleter<zip_fclose>> opened(zip_fopen_index(zip_.get(), entry, ZIP_FL_COMPRESSED));
  char* const packed = packed_.reserve(std::max<std::size_t>(stat.comp_size, 1));
  if (opened == nullptr || packed == nullptr ||
      zip_fread(opened.get(), packed, stat.comp_size) != static_cast<zip_int64_t>(stat.comp_size)) {
    return std::nullopt;
  }
  return inflater_.inflate({packed, stat.comp_size}, stat.size, stat.crc);
}

Result<void> ZipFile::copy_piece(std::string_view bytes, UnpackQueue::FileIndex turn, PendingFile& file,
                                 UnpackQueue& line, const Context& context) {
  if (auto ok = line.grow(turn, file.name, bytes.size()); !ok) {
    return ok;
  }
  if (auto ok = file.file.write(bytes); !ok) {
    return ok;
  }
  return context.check();
}

Result<void> ZipFile::copy(UnpackQueue::FileIndex turn, PendingFile& file, UnpackQueue& line, const Context& context) {
  if (const auto bytes = whole(file.entry)) {
    for (std::size_t at = 0; at < bytes->size(); at += kPiece) {
      if (auto ok = copy_piece(bytes->substr(at, kPiece), turn, file, line, context); !ok) {
        return ok;
      }
    }
    return {};
  }
  const std::unique_ptr<zip_file_t, Deleter<zip_fclose>> opened(zip_fopen_index(zip_.get(), file.entry, 0U));
  if (opened == nullptr) {
    return damaged(zip_strerror(zip_.get()));
  }
  piece_.resize(kPiece);
  for (;;) {
    const zip_int64_t got = zip_fread(opened.get(), piece_.data(), piece_.size());
    if (got < 0) {
      return damaged(zip_file_strerror(opened.get()));
    }
    if (got == 0) {
      return {};
    }
    const std::string_view bytes(piece_.data(), static_cast<std::size_t>(got));
    if (auto ok = copy_piece(bytes, turn, file, line, context); !ok) {
      return ok;
    }
  }
}

}  // namespace modlock::unpack
