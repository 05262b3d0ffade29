#pragma once

#include <random>
#include <string>

#include "plugin/lock/lock_file.h"

namespace modlock::test {

inline const std::string kProviders =
    "\n"
    "provider \"registry.opentofu.org/hashicorp/null\" {\n"
    "  version     = \"3.2.1\"\n"
    "  constraints = \"~> 3.0\"\n"
    "  hashes = [\n"
    "    \"h1:2y06Ykj0FRneZfGCTxI9wRTori8iB7ZL5kQ6YyEnh84=\",\n"
    "  ]\n"
    "}\n"
    "\n"
    "provider \"registry.opentofu.org/hashicorp/random\" {\n"
    "  version = \"3.6.0\"\n"
    "}\n";

inline const std::string kHeader{kOpenTofuLockHeader};

inline ModuleLock nested_module() {
  return {.key = "vpc.nested",
          .version = "1.2.5",
          .source = "git::https://github.com/example/terraform-module.git",
          .constraints = "~> 1.2",
          .hashes = {"git:8f2c0d0b6c1f3b6f1a6f6a0b9e5d4c3b2a190807", "h1:ijkl9012..."}};
}

inline const std::string kNestedBlock =
    "module \"vpc.nested\" {\n"
    "  version = \"1.2.5\"\n"
    "  source  = \"git::https://github.com/example/terraform-module.git\"\n"
    "\n"
    "  constraints = \"~> 1.2\"\n"
    "\n"
    "  hashes = [\n"
    "    \"git:8f2c0d0b6c1f3b6f1a6f6a0b9e5d4c3b2a190807\",\n"
    "    \"h1:ijkl9012...\",\n"
    "  ]\n"
    "}\n";

inline ModuleLocks locks(std::initializer_list<ModuleLock> modules) {
  ModuleLocks result;
  for (const ModuleLock& module : modules) {
    result.emplace(module.key, module);
  }
  return result;
}

// Texts with everything that has to be escaped, in NFC.
inline std::string random_text(std::mt19937& random) {
  static const std::string kPieces[] = {
      "a",   "Z9",           "-",  "_",  "/",    "//", "?ref=",           "${",       "%{",
      "$${", "\"",           "\\", "\n", "\r",   "\t", "\xC3\xA9",        "\xC2\xA0", "$",
      "%",   "\xE2\x80\xA8", " ",  "}",  "\x01", "#",  "\xF0\x9F\x98\x80"};
  std::string text;
  for (std::size_t i = 1 + random() % 8; i > 0; --i) {
    text += kPieces[random() % std::size(kPieces)];
  }
  return text;
}

inline ModuleLocks random_locks(std::mt19937& random) {
  ModuleLocks modules;
  for (std::size_t i = random() % 7; i > 0; --i) {
    ModuleLock module;
    module.key = random() % 4 == 0 ? random_text(random) : "m" + std::to_string(random() % 9) + ".x";
    module.source = random_text(random);
    if (random() % 2 == 0) {
      module.version = std::to_string(random() % 20) + ".2.0-rc1+b" + std::to_string(random() % 5);
    }
    if (random() % 2 == 0) {
      module.constraints = random_text(random);
    }
    if (random() % 4 != 0) {
      module.hashes = {"git:" + std::to_string(random()), "h1:" + random_text(random)};
    }
    modules.emplace(module.key, module);
  }
  return modules;
}

}  // namespace modlock::test
