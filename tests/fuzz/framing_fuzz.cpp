// Bytes that arrive in pieces become the lines that a split at LF gives.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "protocol/rpc/line_reader.h"

namespace {

using namespace modlock;

constexpr std::size_t kLimit = 48;

void require(bool holds) {
  if (!holds) std::abort();
}

// What the lines are, read off the whole text; "\n" stands for one that is too long.
std::vector<std::string> expected(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.size() > kLimit) {
      lines.emplace_back("\n");
    } else if (line.find_first_not_of(" \t") != std::string_view::npos) {
      lines.emplace_back(line);
    }
  }
  return lines;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::size_t step = 1 + data[0] % 64;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  int ends[2];
  require(::pipe2(ends, O_NONBLOCK) == 0);
  LineReader reader(ends[0], kLimit);
  std::vector<std::string> lines;
  const auto take = [&] {
    for (auto frame = reader.next(); frame && frame->kind != Frame::Kind::end; frame = reader.next()) {
      lines.push_back(frame->kind == Frame::Kind::too_large ? "\n" : frame->text);
    }
  };
  for (std::size_t at = 0; at < text.size(); at += step) {
    const std::string_view piece = text.substr(at, step);
    require(::write(ends[1], piece.data(), piece.size()) == static_cast<ssize_t>(piece.size()));
    reader.fill();
    take();
  }
  ::close(ends[1]);
  reader.fill();
  take();
  require(reader.read().kind == Frame::Kind::end);
  ::close(ends[0]);
  require(lines == expected(text));
  return 0;
}
