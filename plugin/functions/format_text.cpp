#include "plugin/functions/format_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "plugin/functions/function_tables.h"
#include "plugin/functions/go_quote.h"
#include "plugin/hcl/characters.h"
#include "plugin/value/limits.h"

namespace modlock::eval {
namespace {

bool is_digit(char character) {
  return character >= '0' && character <= '9';
}

bool is_letter(char character) {
  return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z');
}

// Reads the verbs of a format text.
class VerbReader {
 public:
  VerbReader(std::string_view format, std::size_t at) : format_(format), at_(at) {}

  // The verb that starts at the "%", where `next` is the argument it takes unless it says another.
  tl::expected<FormatVerb, FunctionError> read(std::size_t next) {
    FormatVerb verb{.offset = at_, .argument = next};
    ++at_;
    read_flags(verb);
    if (at_ < format_.size() && format_[at_] >= '1' && format_[at_] <= '9') {
      verb.width = read_number();
    }
    if (accept('.')) {
      verb.precision = read_number();
    }
    if (accept('[')) {
      if (at_ >= format_.size() || format_[at_] < '1' || format_[at_] > '9') {
        return unexpected();
      }
      verb.argument = static_cast<std::size_t>(read_number());
      if (!accept(']')) {
        return unexpected();
      }
    }
    if (at_ >= format_.size() || !is_letter(format_[at_])) {
      return unexpected();
    }
    verb.mode = format_[at_++];
    verb.raw = format_.substr(verb.offset, at_ - verb.offset);
    return verb;
  }

  std::size_t at() const { return at_; }

 private:
  bool accept(char wanted) {
    const bool is_there = at_ < format_.size() && format_[at_] == wanted;
    at_ += is_there ? 1 : 0;
    return is_there;
  }

  void read_flags(FormatVerb& verb) {
    for (; at_ < format_.size(); ++at_) {
      switch (format_[at_]) {
        case '0':
          verb.zero = true;
          break;
        case '#':
          verb.sharp = true;
          break;
        case '-':
          verb.minus = true;
          break;
        case '+':
          verb.plus = true;
          break;
        case ' ':
          verb.space = true;
          break;
        default:
          return;
      }
    }
  }

  // Stays at a number that is too large in any case.
  std::int64_t read_number() {
    std::int64_t number = 0;
    for (; at_ < format_.size() && is_digit(format_[at_]); ++at_) {
      number = std::min<std::int64_t>(number * 10 + (format_[at_] - '0'), std::int64_t{kMaxTextBytes} + 1);
    }
    return number;
  }

  tl::unexpected<FunctionError> unexpected() const {
    if (at_ >= format_.size()) {
      return refuse(fmt::format("invalid format string starting at offset {}", at_));
    }
    const std::size_t size = hcl::decode_utf8(format_, at_).value_or(hcl::CodePoint{}).size;
    return refuse(fmt::format("unrecognized format character '{}' at offset {}", format_.substr(at_, size), at_));
  }

  std::string_view format_;
  std::size_t at_;
};

}  // namespace

FormatResult format_text(std::string_view format, std::span<const Value> arguments, TextBuilder& out) {
  std::size_t next = 1;
  std::size_t highest = 0;
  for (std::size_t at = 0; at < format.size() && !out.is_full();) {
    const std::size_t percent = std::min(format.find('%', at), format.size());
    out.append(format.substr(at, percent - at));
    at = percent;
    if (format.substr(at).starts_with("%%")) {
      out.append("%");
      at += 2;
    } else if (at < format.size()) {
      VerbReader reader(format, at);
      const auto verb = reader.read(next);
      if (!verb) {
        return tl::unexpected(verb.error());
      }
      if (verb->argument > arguments.size()) {
        return refuse(fmt::format("not enough arguments for {} at {}: need index {} but have {} total",
                                  go_quoted(verb->raw), verb->offset, verb->argument, arguments.size()));
      }
      if (auto done = format_argument(*verb, arguments[verb->argument - 1], out); !done) {
        return done;
      }
      highest = std::max(highest, verb->argument);
      next = verb->argument + 1;
      at = reader.at();
    }
  }
  if (highest < arguments.size() && !out.is_full()) {
    return refuse_argument(highest + 1,
                           highest == 0 ? "too many arguments; no verbs in format string"
                                        : fmt::format("too many arguments; only {} used by format string", highest));
  }
  return {};
}

}  // namespace modlock::eval
