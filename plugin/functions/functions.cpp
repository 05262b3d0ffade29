#include "plugin/functions/functions.h"

#include <algorithm>
#include <array>

#include "plugin/functions/function_tables.h"

namespace modlock::eval {
namespace {

constexpr std::string_view kAnotherEachTime = "its value is another at each run";
constexpr std::string_view kNetworks = "network addresses are not computed where modules are located";
constexpr std::string_view kDates = "dates are not computed where modules are located";
constexpr std::string_view kCompression = "compressed data is not handled where modules are located";
constexpr std::string_view kCharacterSets = "other character sets than UTF-8 are not handled where modules are located";

struct NotEvaluated {
  std::string_view name;
  std::string_view why;
};

constexpr std::array kNotEvaluated = {
    NotEvaluated{"base64gunzip", kCompression},
    NotEvaluated{"base64gzip", kCompression},
    NotEvaluated{"bcrypt", kAnotherEachTime},
    NotEvaluated{"cidrcontains", kNetworks},
    NotEvaluated{"cidrhost", kNetworks},
    NotEvaluated{"cidrnetmask", kNetworks},
    NotEvaluated{"cidrsubnet", kNetworks},
    NotEvaluated{"cidrsubnets", kNetworks},
    NotEvaluated{"formatdate", kDates},
    NotEvaluated{"plantimestamp", "it is known only while planning"},
    NotEvaluated{"rsadecrypt", "nothing is decrypted where modules are located"},
    NotEvaluated{"textdecodebase64", kCharacterSets},
    NotEvaluated{"textencodebase64", kCharacterSets},
    NotEvaluated{"timeadd", kDates},
    NotEvaluated{"timecmp", kDates},
    NotEvaluated{"timestamp", kAnotherEachTime},
    NotEvaluated{"uuid", kAnotherEachTime},
    NotEvaluated{"yamlencode", "YAML is not written where modules are located"},
};

// Implemented by evaluate().
constexpr std::array<std::string_view, 9> kSpecial = {"can",          "convert",        "ephemeralasnull",
                                                      "issensitive",  "nonsensitive",   "sensitive",
                                                      "templatefile", "templatestring", "try"};

// Sorted by name.
const std::vector<const Function*>& all_functions() {
  static const std::vector<const Function*> functions = [] {
    std::vector<const Function*> all;
    for (const auto family : {string_functions(), format_functions(), regex_functions(), lookup_functions(),
                              sequence_functions(), set_functions(), numeric_functions(), conversion_functions(),
                              encoding_functions(), hash_functions(), file_functions()}) {
      for (const Function& function : family) {
        all.push_back(&function);
      }
    }
    std::sort(all.begin(), all.end(),
              [](const Function* left, const Function* right) { return left->name < right->name; });
    return all;
  }();
  return functions;
}

}  // namespace

const Function* find_function(std::string_view name) {
  const auto& functions = all_functions();
  const auto found =
      std::lower_bound(functions.begin(), functions.end(), name,
                       [](const Function* function, std::string_view wanted) { return function->name < wanted; });
  return found != functions.end() && (*found)->name == name ? *found : nullptr;
}

std::optional<std::string_view> why_not_evaluated(std::string_view name) {
  for (const NotEvaluated& function : kNotEvaluated) {
    if (function.name == name) {
      return function.why;
    }
  }
  return std::nullopt;
}

std::span<const std::string_view> function_names() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> all(kSpecial.begin(), kSpecial.end());
    for (const NotEvaluated& function : kNotEvaluated) {
      all.push_back(function.name);
    }
    for (const Function* function : all_functions()) {
      all.push_back(function->name);
    }
    std::sort(all.begin(), all.end());
    return all;
  }();
  return names;
}

}  // namespace modlock::eval
