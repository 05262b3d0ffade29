#include "backends/package/unpack_xz.h"

#include <lzma.h>

#include <cerrno>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "backends/files/system_error.h"

namespace modlock::unpack {
namespace {

constexpr std::size_t kPiece = std::size_t{128} << 10U;
constexpr std::uint64_t kMostMemory = std::uint64_t{128} << 20U;

}  // namespace

struct XzFile::State {
  State(const std::filesystem::path& archive, std::string_view shown)
      : path(archive), display(shown), file(archive, std::ios::binary), packed(kPiece), unpacked(kPiece) {}
  ~State() { lzma_end(&stream); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  std::filesystem::path path;
  std::string display;
  std::ifstream file;
  std::vector<std::uint8_t> packed;
  std::vector<std::uint8_t> unpacked;
  lzma_stream stream = LZMA_STREAM_INIT;
  bool at_end = false;
};

XzFile::XzFile(std::unique_ptr<State> state) : state_(std::move(state)) {}
XzFile::~XzFile() = default;
XzFile::XzFile(XzFile&&) noexcept = default;

Result<XzFile> XzFile::open(const std::filesystem::path& archive, std::string_view display) {
  auto state = std::make_unique<State>(archive, display);
  if (!state->file) {
    return system_failure("read", archive, errno);
  }
  if (lzma_stream_decoder(&state->stream, kMostMemory, LZMA_CONCATENATED) != LZMA_OK) {
    return system_failure("read", archive, ENOMEM);
  }
  return XzFile(std::move(state));
}

Result<std::string_view> XzFile::next() {
  State& state = *state_;
  lzma_stream& stream = state.stream;
  stream.next_out = state.unpacked.data();
  stream.avail_out = state.unpacked.size();
  while (!state.at_end && stream.avail_out == state.unpacked.size()) {
    if (stream.avail_in == 0 && state.file) {
      state.file.read(reinterpret_cast<char*>(state.packed.data()), static_cast<std::streamsize>(state.packed.size()));
      stream.next_in = state.packed.data();
      stream.avail_in = static_cast<std::size_t>(state.file.gcount());
      if (state.file.bad()) {
        return system_failure("read", state.path, EIO);
      }
    }
    switch (lzma_code(&stream, state.file ? LZMA_RUN : LZMA_FINISH)) {
      case LZMA_OK:
        break;
      case LZMA_STREAM_END:
        state.at_end = true;
        break;
      case LZMA_FORMAT_ERROR:
        return bad_archive(state.display, "it is no tar compressed with xz");
      case LZMA_MEMLIMIT_ERROR:
        return unsafe_archive(state.display, "takes more than the 128 MiB of memory allowed to unpack");
      case LZMA_MEM_ERROR:
        return system_failure("read", state.path, ENOMEM);
      default:
        return bad_archive(state.display, "it is damaged or truncated");
    }
  }
  return std::string_view(reinterpret_cast<const char*>(state.unpacked.data()),
                          state.unpacked.size() - stream.avail_out);
}

}  // namespace modlock::unpack
