#include "backends/package/unpack_library.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <system_error>

#include "backends/address/source_text.h"
#include "backends/package/unpack_rules.h"

namespace modlock::unpack {
namespace {

// ARCHIVE_ERRNO_FILE_FORMAT of libarchive, which has no public name.
constexpr int kWrongFormat = static_cast<int>(std::errc::illegal_byte_sequence);

}  // namespace

LibraryReader::LibraryReader(std::unique_ptr<ByteSource> source)
    : source_(std::move(source)), archive_(archive_read_new()) {}

LibraryReader::Opened LibraryReader::open() {
  if (archive_read_open(archive_.get(), this, nullptr, &LibraryReader::read, nullptr) == ARCHIVE_OK) {
    return Opened::yes;
  }
  return !source_failure_ && archive_errno(archive_.get()) == kWrongFormat ? Opened::other_format : Opened::no;
}

la_ssize_t LibraryReader::read(archive* opened, void* self, const void** piece) {
  LibraryReader& reader = *static_cast<LibraryReader*>(self);
  auto next = reader.source_->next();
  if (!next) {
    reader.source_failure_ = std::move(next.error());
    archive_set_error(opened, -1, "%s", "unreadable");
    return ARCHIVE_FATAL;
  }
  *piece = next->data();
  return static_cast<la_ssize_t>(next->size());
}

tl::unexpected<Error> LibraryReader::failure(std::string_view display) {
  if (source_failure_) {
    return fail(*source_failure_);
  }
  const char* text = archive_error_string(archive_.get());
  const int reason = archive_errno(archive_.get());
  // libarchive gives numbers of the system for damage too, EINVAL above all.
  constexpr std::array kOfTheSystem = {std::errc::io_error, std::errc::not_enough_memory, std::errc::permission_denied,
                                       std::errc::no_such_file_or_directory, std::errc::too_many_files_open};
  const bool is_system = std::find(kOfTheSystem.begin(), kOfTheSystem.end(), std::errc(reason)) != kOfTheSystem.end();
  Error error = is_system ? Error{.code = Code::io_error, .message = fmt::format("\"{}\" cannot be read", display)}
                          : bad_archive(display, "it is damaged or truncated").value();
  return fail(with_note(std::move(error), escape_controls(text == nullptr ? "no reason given" : text)));
}

}  // namespace modlock::unpack
