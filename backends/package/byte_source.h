#pragma once

#include <string_view>

#include "protocol/base/result.h"

namespace modlock::unpack {

// A stream of bytes, piece by piece.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // The next piece, which lives until the next call; empty at the end. After an error nothing more is asked.
  virtual Result<std::string_view> next() = 0;
};

}  // namespace modlock::unpack
