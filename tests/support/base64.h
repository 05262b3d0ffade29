#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "backends/base/digest.h"

namespace modlock::test {

inline std::string base64_of(std::string_view bytes) {
  return base64(bytes);
}

}  // namespace modlock::test
