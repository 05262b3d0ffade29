#include "plugin/update/text_origin.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "plugin/hcl/parser.h"

namespace modlock {
namespace {

using hcl::Expression;

// References lead from one expression to the next; a chain longer than that has been refused before.
constexpr std::size_t kMaxDepth = 300;

class Tracer {
 public:
  std::vector<TextPiece> take() { return std::move(pieces_); }

  // `literal`: strings of JSON are no templates there.
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
    // Ranges of what is made of it are those of the file; nothing that is kept points into it.
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
      const auto found = module.parsed->locals.find(reference.name);
      if (found != module.parsed->locals.end()) {
        trace(found->second, module);
        return;
      }
    }
    if (object != nullptr && object->name == "var") {
      const auto found = module.parsed->variables.find(reference.name);
      if (found != module.parsed->variables.end()) {
        trace_variable(found->second, module);
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
      refuse(fmt::format("var.{} is given by {}", variable.name, given->origin));
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

// The piece that holds bytes [start, end) of the value, and where it begins in it; null where none holds them all. What
// is not known is passed over from the other side.
struct Found {
  const TextPiece* piece = nullptr;
  std::size_t begin = 0;
};

bool is_known(const TextPiece& piece) {
  return !piece.path.empty();
}

Found find_piece(const std::vector<TextPiece>& pieces, std::size_t size, std::size_t start, std::size_t end) {
  const auto unknown = std::find_if_not(pieces.begin(), pieces.end(), is_known);
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
  return fail(Code::config_non_static,
              fmt::format("the text cannot be changed where it is written: {}", std::move(why)),
              "change it by hand, or write it as a literal");
}

}  // namespace

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

}  // namespace modlock
