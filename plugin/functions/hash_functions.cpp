#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "backends/base/ascii.h"
#include "backends/base/digest.h"
#include "plugin/functions/function_tables.h"

namespace modlock::eval {
namespace {

enum class Encoding { hexadecimal, base64 };

template <Hash algorithm, Encoding encoding>
Value hashed(std::string_view bytes) {
  const std::vector<std::uint8_t> digest = hash_of(algorithm, bytes);
  if constexpr (encoding == Encoding::hexadecimal) {
    return Value::string(hex(digest));
  }
  return Value::string(base64(digest));
}

template <Hash algorithm, Encoding encoding>
FunctionResult hash_text(const Call& call) {
  return hashed<algorithm, encoding>(call.arguments[0].as_string());
}

template <Hash algorithm, Encoding encoding>
FunctionResult hash_file(const Call& call) {
  MODLOCK_TRY(const auto bytes, read_file(call));
  return hashed<algorithm, encoding>(bytes);
}

// The 32 digits of a UUID in any notation that OpenTofu reads.
tl::expected<std::string, std::string> uuid_digits(std::string_view text) {
  const std::size_t given = text.size();
  const bool is_prefixed = given == 45;
  if (is_prefixed) {
    if (!ascii::equals_ignoring_case(text.substr(0, 9), "urn:uuid:")) {
      return tl::unexpected("invalid urn prefix: \"" + std::string(text.substr(0, 9)) + "\"");
    }
    text.remove_prefix(9);
  } else if (given == 38) {
    text = text.substr(1, 36);
  } else if (given != 36 && given != 32) {
    return tl::unexpected(fmt::format("invalid UUID length: {}", given));
  }
  std::string digits(text);
  if (given != 32) {
    for (const std::size_t dash : {std::size_t{23}, std::size_t{18}, std::size_t{13}, std::size_t{8}}) {
      if (digits[dash] != '-') {
        return tl::unexpected(std::string("invalid UUID format"));
      }
      digits.erase(dash, 1);
    }
  }
  if (!std::ranges::all_of(digits, ascii::is_hex)) {
    return tl::unexpected(std::string("invalid UUID format"));
  }
  return digits;
}

tl::expected<std::string, std::string> namespace_digits(std::string_view name) {
  struct Known {
    std::string_view name;
    std::string_view digits;
  };
  // RFC 4122 appendix C
  static constexpr std::array kKnown = {
      Known{"dns", "6ba7b8109dad11d180b400c04fd430c8"}, Known{"url", "6ba7b8119dad11d180b400c04fd430c8"},
      Known{"oid", "6ba7b8129dad11d180b400c04fd430c8"}, Known{"x500", "6ba7b8149dad11d180b400c04fd430c8"}};
  for (const Known& known : kKnown) {
    if (known.name == name) {
      return std::string(known.digits);
    }
  }
  return uuid_digits(name);
}

FunctionResult uuidv5(const Call& call) {
  const std::string& name = call.arguments[0].as_string();
  const auto digits = namespace_digits(name);
  if (!digits) {
    return refuse(call.may_show_arguments
                      ? fmt::format("uuidv5() doesn't support namespace {} ({})", name, digits.error())
                      : "uuidv5() doesn't support namespace (sensitive value)");
  }
  std::string bytes;
  for (std::size_t i = 0; i < digits->size(); i += 2) {
    bytes += static_cast<char>(std::stoi(digits->substr(i, 2), nullptr, 16));
  }
  std::vector<std::uint8_t> hash = hash_of(Hash::sha1, bytes + call.arguments[1].as_string());
  hash[6] = static_cast<std::uint8_t>((hash[6] & 0x0FU) | 0x50U);
  hash[8] = static_cast<std::uint8_t>((hash[8] & 0x3FU) | 0x80U);
  std::string uuid = hex(std::span(hash).first(16));
  for (const std::size_t dash : {std::size_t{20}, std::size_t{16}, std::size_t{12}, std::size_t{8}}) {
    uuid.insert(dash, 1, '-');
  }
  return Value::string(std::move(uuid));
}

}  // namespace

std::vector<Function> hash_functions() {
  using enum Encoding;
  const Parameter text = string_parameter("str");
  const Parameter path = string_parameter("path");
  return {
      {"base64sha256", {text}, hash_text<Hash::sha256, base64>},
      {"base64sha512", {text}, hash_text<Hash::sha512, base64>},
      {"filebase64sha256", {path}, hash_file<Hash::sha256, base64>},
      {"filebase64sha512", {path}, hash_file<Hash::sha512, base64>},
      {"filemd5", {path}, hash_file<Hash::md5, hexadecimal>},
      {"filesha1", {path}, hash_file<Hash::sha1, hexadecimal>},
      {"filesha256", {path}, hash_file<Hash::sha256, hexadecimal>},
      {"filesha512", {path}, hash_file<Hash::sha512, hexadecimal>},
      {"md5", {text}, hash_text<Hash::md5, hexadecimal>},
      {"sha1", {text}, hash_text<Hash::sha1, hexadecimal>},
      {"sha256", {text}, hash_text<Hash::sha256, hexadecimal>},
      {"sha512", {text}, hash_text<Hash::sha512, hexadecimal>},
      {"uuidv5", {string_parameter("namespace"), string_parameter("name")}, uuidv5},
  };
}

}  // namespace modlock::eval
