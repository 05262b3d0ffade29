#pragma once

#include <array>

#include "plugin/hcl/json_syntax.h"

namespace modlock::hcl::test {

// Some of the blocks of a module's file.
inline const BodySchema& json_schema() {
  static constexpr BodySchema kOneObject{.one_object = true};
  static constexpr std::array kTerraform = {
      BlockSchema{"backend", 1},
      BlockSchema{"cloud"},
      BlockSchema{"required_providers", 0, &kOneObject},
  };
  static constexpr BodySchema kTerraformBody{kTerraform};
  static constexpr std::array kBlocks = {
      BlockSchema{"locals", 0, &kOneObject},
      BlockSchema{"module", 1},
      BlockSchema{"resource", 2},
      BlockSchema{"terraform", 0, &kTerraformBody},
  };
  static constexpr BodySchema kRoot{kBlocks};
  return kRoot;
}

}  // namespace modlock::hcl::test
