#include "plugin/update/text_change.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cstdint>
#include <optional>

#include "backends/address/go_url.h"
#include "backends/base/collections.h"
#include "plugin/constraint/module_constraint.h"
#include "plugin/constraint/provider_constraint.h"
#include "plugin/hcl/parser.h"

namespace modlock {
namespace {

// What one reading step consumes in the file, and how many bytes of text it produces.
struct Step {
  std::size_t written = 0;  // 0: the two do not match
  std::size_t text = 0;
};

std::uint32_t code_point(std::string_view digits) {
  std::uint32_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  return value;
}

std::size_t utf8_size(std::uint32_t code) {
  return code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
}

Step escape(std::string_view written) {
  const char kind = written.size() > 1 ? written[1] : '\0';
  if (kind == 'U') {
    return {10, utf8_size(code_point(written.substr(2, 8)))};
  }
  if (kind != 'u') {
    return {2, 1};
  }
  const std::uint32_t code = code_point(written.substr(2, 4));
  const bool is_half = code >= 0xD800 && code < 0xDC00;  // of a pair, in JSON
  return is_half ? Step{12, 4} : Step{6, utf8_size(code)};
}

bool starts_template(std::string_view text) {
  return text.starts_with("${") || text.starts_with("%{");
}

Step next(std::string_view written, std::string_view text, Quoting quoting) {
  if (written.front() == '\\' && quoting != Quoting::heredoc) {
    return escape(written);
  }
  if ((written.starts_with("$${") || written.starts_with("%%{")) && starts_template(text) &&
      quoting != Quoting::json_literal) {
    return {3, 2};
  }
  if (written.front() == text.front()) {
    return {1, 1};
  }
  return {written.front() == '\r' && quoting == Quoting::heredoc ? std::size_t{1} : 0, 0};
}

std::size_t leading_blanks(std::string_view text) {
  return std::min(text.find_first_not_of(" \t"), text.size());
}

std::string escaped(char c, Quoting quoting) {
  constexpr std::string_view kEscaped = "\"\\\n\r\t";
  constexpr std::string_view kLetters = "\"\\nrt";
  if (const std::size_t at = kEscaped.find(c); at != std::string_view::npos) {
    return {'\\', kLetters[at]};
  }
  if (static_cast<unsigned char>(c) < 0x20 && quoting != Quoting::quoted) {
    return fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
  }
  return std::string(1, c);
}

using hcl::Expression;

// References form a chain from one expression to the next; longer chains were rejected before.
constexpr std::size_t kMaxDepth = 300;

class Tracer {
 public:
  std::vector<TextPiece> take() { return std::move(pieces_); }

  // `literal`: strings of JSON are not templates there.
  void trace(const Expression& expression, const ConfigText& file, const EditedModule& module, bool literal) {
    if (++depth_ > kMaxDepth) {
      refuse("it refers to itself");
      return;
    }
    if (const auto* inner = std::get_if<hcl::Parentheses>(&expression.node)) {
      trace(*inner->inner, file, module, literal);
    } else if (const auto* text = std::get_if<hcl::Template>(&expression.node)) {
      trace_parts(*text, file, module);
    } else if (const auto* string = std::get_if<hcl::JsonString>(&expression.node)) {
      trace_json(expression, *string, file, module, literal);
    } else if (const auto* reference = std::get_if<hcl::GetAttribute>(&expression.node)) {
      trace_reference(*reference, expression.range, file, module);
    } else {
      refuse(fmt::format("it is computed in {}", place(file, expression.range, module)));
    }
    --depth_;
  }

  void trace(const Argument& argument, const EditedModule& module, bool literal = false) {
    trace(argument.attribute->value, *argument.file, module, literal);
  }

 private:
  static std::string path_of(const ConfigText& file, const EditedModule& module) {
    return join_relative(module.directory, file.path);
  }
  static std::string place(const ConfigText& file, const Range& range, const EditedModule& module) {
    return fmt::format("{}:{}", path_of(file, module), range.start.line);
  }

  void refuse(std::string why) { pieces_.push_back({.refusal = std::move(why)}); }

  void add(std::string_view text, const Range& range, Quoting quoting, const ConfigText& file,
           const EditedModule& module) {
    TextPiece piece{.text = std::string(text), .path = path_of(file, module), .quoting = quoting};
    piece.refusal = module.refusal;
    if (piece.refusal.empty()) {
      piece.places = places_of(text, range, quoting, file.text);
      if (piece.places.empty()) {
        piece.refusal = fmt::format("strip markers change it in {}", place(file, range, module));
      }
    }
    pieces_.push_back(std::move(piece));
  }

  void trace_parts(const hcl::Template& text, const ConfigText& file, const EditedModule& module) {
    const Quoting quoting = file.json ? Quoting::json : text.heredoc ? Quoting::heredoc : Quoting::quoted;
    for (const hcl::TemplatePart& part : text.parts) {
      if (const auto* literal = std::get_if<std::string>(&part.what)) {
        add(*literal, part.range, quoting, file, module);
      } else if (const auto* inner = std::get_if<hcl::ExpressionPtr>(&part.what)) {
        trace(**inner, file, module, false);
      } else {
        refuse(fmt::format("it is computed in {}", place(file, part.range, module)));
      }
    }
  }

  void trace_json(const Expression& expression, const hcl::JsonString& string, const ConfigText& file,
                  const EditedModule& module, bool literal) {
    if (literal) {
      Range inside = expression.range;  // without the quotes
      ++inside.start.byte;
      --inside.end.byte;
      add(string.text, inside, Quoting::json_literal, file, module);
      return;
    }
    // Ranges of the result are those of the file; no stored result points into it.
    if (const auto made = hcl::template_of(expression, file.path)) {
      trace(*made, file, module, false);
    } else {
      refuse(fmt::format("it cannot be read in {}", place(file, expression.range, module)));
    }
  }

  void trace_reference(const hcl::GetAttribute& reference, const Range& range, const ConfigText& file,
                       const EditedModule& module) {
    const auto* object = std::get_if<hcl::Variable>(&reference.operand->node);
    if (object != nullptr && object->name == "local") {
      if (const auto found = module.parsed->locals.find(reference.name); found.attribute != nullptr) {
        trace(found, module);
        return;
      }
    }
    if (object != nullptr && object->name == "var") {
      if (const auto found = module.parsed->variables.find(reference.name)) {
        trace_variable(*found, module);
        return;
      }
    }
    refuse(fmt::format("it is computed in {}", place(file, reference.name_range(range), module)));
  }

  void trace_variable(const VariableDeclaration& variable, const EditedModule& module) {
    if (module.call != nullptr) {
      if (const Argument given = module.call->find(variable.name); given.attribute != nullptr) {
        trace(given, *module.caller);
        return;
      }
    } else if (const VariableValues::VariableInput* given = module.values->find(variable.name)) {
      refuse(fmt::format("var.{} is set by {}", variable.name, given->origin));
      return;
    }
    if (variable.default_argument.attribute == nullptr) {
      refuse(fmt::format("var.{} has no value", variable.name));
      return;
    }
    trace(variable.default_argument, module, true);
  }

  std::vector<TextPiece> pieces_;
  std::size_t depth_ = 0;
};

// The piece that contains bytes [start, end) of the value, and where it begins in the value; null if no piece contains
// them all. Unknown pieces are skipped from the other side.
struct Found {
  const TextPiece* piece = nullptr;
  std::size_t begin = 0;
};

bool is_known(const TextPiece& piece) {
  return !piece.path.empty();
}

Found find_piece(const std::vector<TextPiece>& pieces, std::size_t size, std::size_t start, std::size_t end) {
  const auto unknown = std::ranges::find_if_not(pieces, is_known);
  std::size_t begin = 0;
  for (auto piece = pieces.begin(); piece != unknown; ++piece) {
    if (begin <= start && end <= begin + piece->text.size()) {
      return {&*piece, begin};
    }
    begin += piece->text.size();
  }
  std::size_t behind = size;
  for (auto piece = pieces.rbegin(); piece != pieces.rend() && is_known(*piece); ++piece) {
    begin = behind - std::min(behind, piece->text.size());
    if (begin <= start && end <= behind) {
      return {&*piece, begin};
    }
    behind = begin;
  }
  return {unknown == pieces.end() ? nullptr : &*unknown, 0};
}

tl::unexpected<Error> not_editable(std::string why) {
  const bool is_foreign = why.starts_with("it is in the package of ");
  return fail(Code::config_non_static,
              fmt::format("the text cannot be changed where it is written: {}", std::move(why)),
              is_foreign ? "update the module that contains it: only its authors can change this call"
                         : "change it by hand, or write it as a literal");
}

using Item = ModuleConstraint::Item;

// Returns the first `count` numbers of a version, with zeros for missing ones.
std::vector<std::int64_t> first_numbers(const Version& version, std::size_t count) {
  std::vector<std::int64_t> numbers = version.numbers();
  numbers.resize(count);
  return numbers;
}

std::string spell(const std::vector<std::int64_t>& numbers) {
  return fmt::format("{}", fmt::join(numbers, "."));
}

// Returns a bound above the version, one step up at the last nonzero number of the old bound.
std::string bound_above(const Version& bound, const Version& version) {
  std::size_t last = bound.given_numbers();
  while (last > 1 && bound.numbers()[last - 1] == 0) {
    --last;
  }
  std::vector<std::int64_t> numbers = first_numbers(version, last);
  ++numbers.back();
  numbers.resize(bound.given_numbers());
  return spell(numbers);
}

// Returns the new version of the item; nullopt if the item must not change for it.
std::optional<std::string> new_bound(const Item& item, const Version& version) {
  switch (item.comparator) {
    case Comparator::equal:
    case Comparator::less_equal:
      return version.to_string();
    case Comparator::pessimistic:
      return version.prerelease().empty() ? spell(first_numbers(version, item.version.given_numbers()))
                                          : version.to_string();
    case Comparator::less:
      return bound_above(item.version, version);
    default:
      return std::nullopt;
  }
}

tl::unexpected<Error> kept_out(std::string_view constraint, const Version& version) {
  return fail(Code::constraint_conflict,
              fmt::format("the constraint \"{}\" excludes {}", constraint, version.to_string()),
              "specify a constraint in place of the version");
}

// Takes an item as written in the text, including spaces.
Result<std::string> let_in_item(std::string_view written, const Version& version, ConstraintDialect dialect) {
  MODLOCK_TRY(auto parsed, ModuleConstraint::parse(written));
  const Item& item = parsed.items().front();
  if (item.comparator != Comparator::equal && lets_in(written, version, dialect)) {
    return std::string(written);
  }
  std::optional<std::string> bound = new_bound(item, version);
  if (!bound) {
    return kept_out(parsed.text(), version);
  }
  const std::string& spelling = item.version.original();
  if (spelling.starts_with("v")) {
    bound->insert(0, "v");
  }
  std::string result(written);
  return result.replace(result.rfind(spelling), spelling.size(), *bound);
}

}  // namespace

std::vector<std::size_t> places_of(std::string_view text, const Range& range, Quoting quoting, std::string_view file) {
  std::string_view written = file.substr(0, range.end.byte);
  std::size_t at = range.start.byte;
  std::vector<std::size_t> places;
  places.reserve(text.size() + 1);
  while (places.size() < text.size()) {
    if (quoting == Quoting::heredoc && (places.empty() || text[places.size() - 1] == '\n') && at < written.size()) {
      const std::size_t kept = leading_blanks(text.substr(places.size()));
      at += leading_blanks(written.substr(at)) - std::min(kept, leading_blanks(written.substr(at)));
    }
    const Step step = at < written.size() ? next(written.substr(at), text.substr(places.size()), quoting) : Step{};
    if (step.written == 0 || places.size() + step.text > text.size()) {
      return {};
    }
    places.insert(places.end(), step.text, at);
    at += step.written;
  }
  places.push_back(at);
  return places;
}

std::string spell(std::string_view text, Quoting quoting) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool doubles = quoting != Quoting::json_literal && starts_template(text.substr(i));
    result += doubles                       ? std::string(2, text[i])
              : quoting == Quoting::heredoc ? std::string(1, text[i])
                                            : escaped(text[i], quoting);
  }
  return result;
}

std::vector<TextPiece> trace_text(const Argument& argument, const EditedModule& module) {
  Tracer tracer;
  tracer.trace(argument, module);
  return tracer.take();
}

Result<FileSplice> splice_value(const std::vector<TextPiece>& pieces, std::string_view value, std::size_t start,
                                std::size_t end, std::string_view text) {
  const Found found = find_piece(pieces, value.size(), start, end);
  if (found.piece == nullptr) {
    return not_editable("it comes from several places");
  }
  const TextPiece& piece = *found.piece;
  if (piece.places.empty()) {
    return not_editable(piece.refusal);
  }
  if (value.substr(found.begin, piece.text.size()) != piece.text) {
    return not_editable("it is computed");
  }
  return FileSplice{.path = piece.path,
                    .start = piece.places[start - found.begin],
                    .end = piece.places[end - found.begin],
                    .text = spell(text, piece.quoting)};
}

std::string Splice::apply(std::string_view before) const {
  return std::string(before.substr(0, start)) + text + std::string(before.substr(end));
}

Splice set_query_argument(std::string_view source, std::initializer_list<std::string_view> replaced,
                          std::string_view name, std::string_view value) {
  const std::string encoded = percent_encoded(value, "/:@");
  const std::string argument = fmt::format("{}={}", name, encoded);
  const std::size_t question = source.find('?');
  if (question == std::string_view::npos) {
    return {source.size(), source.size(), "?" + argument};
  }
  std::size_t start = question + 1;
  while (start <= source.size()) {
    const std::size_t end = std::min(source.find('&', start), source.size());
    const std::string_view written = source.substr(start, end - start);
    const std::string_view written_name = written.substr(0, written.find('='));
    if (contains(replaced, written_name)) {
      // If the name stays, only the value changes: it may be written somewhere else.
      const bool keeps_name = written_name == name && written_name.size() < written.size();
      return keeps_name ? Splice{start + name.size() + 1, end, encoded} : Splice{start, end, argument};
    }
    start = end + 1;
  }
  const bool is_first = question + 1 == source.size();
  return {source.size(), source.size(), (is_first ? "" : "&") + argument};
}

bool lets_in(std::string_view constraint, const Version& version, ConstraintDialect dialect) {
  if (dialect == ConstraintDialect::module) {
    const auto parsed = ModuleConstraint::parse(constraint);
    return parsed && parsed->allows(version);
  }
  const auto parsed = ProviderConstraint::parse(constraint);
  const auto offered = ProviderVersion::parse(version.to_string());
  return parsed && offered && parsed->allows(*offered);
}

Result<std::string> let_in(std::string_view text, const Version& version, ConstraintDialect dialect) {
  std::string result;
  for (std::string_view rest = text;;) {
    const std::size_t comma = rest.find(',');
    MODLOCK_TRY(const auto item, let_in_item(rest.substr(0, comma), version, dialect));
    result += item;
    if (comma == std::string_view::npos) {
      break;
    }
    result += ',';
    rest.remove_prefix(comma + 1);
  }
  if (dialect == ConstraintDialect::provider && !lets_in(result, version, dialect)) {
    return kept_out(text, version);
  }
  return result;
}

}  // namespace modlock
