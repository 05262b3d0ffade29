#include "plugin/functions/functions.h"

#include <algorithm>
#include <array>
#include <iterator>

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
const std::vector<Function>& all_functions() {
  static const std::vector<Function> functions = [] {
    std::vector<Function> all;
    for (const auto family :
         {string_functions, format_functions, regex_functions, lookup_functions, sequence_functions, set_functions,
          numeric_functions, conversion_functions, encoding_functions, hash_functions, file_functions}) {
      std::ranges::move(family(), std::back_inserter(all));
    }
    std::ranges::sort(all, {}, &Function::name);
    return all;
  }();
  return functions;
}

}  // namespace

const Function* find_function(std::string_view name) {
  const auto found = std::ranges::lower_bound(all_functions(), name, {}, &Function::name);
  return found != all_functions().end() && found->name == name ? &*found : nullptr;
}

std::optional<std::string_view> why_not_evaluated(std::string_view name) {
  const auto* const found = std::ranges::find(kNotEvaluated, name, &NotEvaluated::name);
  return found == kNotEvaluated.end() ? std::nullopt : std::optional(found->why);
}

std::span<const std::string_view> function_names() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> all(kSpecial.begin(), kSpecial.end());
    std::ranges::transform(kNotEvaluated, std::back_inserter(all), &NotEvaluated::name);
    std::ranges::transform(all_functions(), std::back_inserter(all), &Function::name);
    std::ranges::sort(all);
    return all;
  }();
  return names;
}

}  // namespace modlock::eval
