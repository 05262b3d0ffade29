#include "backends/package/unpack_zip_file.h"

#include <string>

namespace modlock::unpack {
namespace {

constexpr std::size_t kPiece = std::size_t{128} << 10U;

tl::unexpected<Error> damaged_archive(std::string_view display, std::string_view reason) {
  return fail(with_note(bad_archive(display, "it is damaged").value(), std::string(reason)));
}

}  // namespace

Result<ZipFile> ZipFile::open(const std::filesystem::path& archive, std::string_view display) {
  int reason = 0;
  zip_t* const zip = libzip::open(archive.c_str(), ZIP_RDONLY, &reason);
  if (zip != nullptr) {
    return ZipFile(zip, display);
  }
  zip_error_t error;
  libzip::error_init_with_code(&error, reason);
  const std::string text = libzip::error_strerror(&error);
  libzip::error_fini(&error);
  return damaged_archive(display, text);
}

tl::unexpected<Error> ZipFile::damaged(std::string_view reason) const {
  return damaged_archive(display_, reason);
}

void ZipFile::unpack(FileLine::Turn turn, PendingFile file, FileLine& line, const Context& context) {
  FileDigests digests;
  auto copied = copy(turn, file, line, context);
  if (copied) {
    copied = file.file.end(file.mode, digests);
  }
  line.finish(turn, std::move(copied), std::move(digests));
}

Result<void> ZipFile::copy(FileLine::Turn turn, PendingFile& file, FileLine& line, const Context& context) {
  const std::unique_ptr<zip_file_t, Free<libzip::fclose>> opened(libzip::fopen_index(zip_.get(), file.entry, 0U));
  if (opened == nullptr) {
    return damaged(libzip::strerror(zip_.get()));
  }
  piece_.resize(kPiece);
  for (;;) {
    const zip_int64_t got = libzip::fread(opened.get(), piece_.data(), piece_.size());
    if (got < 0) {
      return damaged(libzip::file_strerror(opened.get()));
    }
    if (got == 0) {
      return {};
    }
    const std::string_view bytes(piece_.data(), static_cast<std::size_t>(got));
    if (auto ok = line.grow(turn, file.name, bytes.size()); !ok) {
      return ok;
    }
    if (auto ok = file.file.write(bytes); !ok) {
      return ok;
    }
    if (auto ok = context.check(); !ok) {
      return ok;
    }
  }
}

}  // namespace modlock::unpack
