#pragma once

#include <array>

#include "plugin/hcl/json_syntax.h"

namespace modlock::hcl::test {

// Some of the blocks of a module's file.
inline const BodySchema& json_schema() {
  static constexpr BodySchema kOpenBody{.open = true};
  static constexpr std::array kTerraform = {
      BlockSchema{"backend", 1},
      BlockSchema{"cloud"},
      BlockSchema{"required_providers"},
  };
  static constexpr BodySchema kTerraformBody{kTerraform, true};
  static constexpr std::array kBlocks = {
      BlockSchema{"locals"},
      BlockSchema{"module", 1},
      BlockSchema{"resource", 2, &kOpenBody},
      BlockSchema{"terraform", 0, &kTerraformBody},
  };
  static constexpr BodySchema kRoot{kBlocks, true};
  return kRoot;
}

}  // namespace modlock::hcl::test
