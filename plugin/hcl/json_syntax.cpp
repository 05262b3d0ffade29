#include "plugin/hcl/json_syntax.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

#include "plugin/hcl/characters.h"
#include "plugin/hcl/json_reader.h"

namespace modlock::hcl {
namespace {

// Turns JSON values into bodies by a schema: the part of json_syntax.h about blocks, labels and attributes.
class JsonBodyReader {
 public:
  // `text_size` limits the total size of the labels of blocks.
  JsonBodyReader(std::size_t text_size, const std::string& path, Code error_code);

  // Returns the content of a whole file; uses the value up.
  ParsedFile read_root(Expression value, const BodySchema& schema);

 private:
  struct Header {
    const BlockSchema& schema;
    std::vector<Label> labels;
  };

  void add(Error error);
  void report(const Range& range, std::string message, std::string hint);
  void report_kind(const Expression& value, std::string_view expected, std::string hint);
  // Returns the members of an object, or of all objects in an array. Other items of the array are reported.
  std::vector<ObjectItem*> members_of(Expression& value, const std::string& hint);
  void read_body(Expression& value, const BodySchema& schema, const std::string& hint, Body& body);
  void read_labels(Expression& value, Header& header, std::vector<Block>& blocks);
  void read_content(Expression& value, const Header& header, std::vector<Block>& blocks);
  void read_block(Expression& value, const Range& header_range, const Header& header, std::vector<Block>& blocks);
  bool labels_fit(const Header& header, const Range& where);

  std::size_t label_bytes_left_;
  bool labels_are_reported_ = false;
  const std::string& path_;
  Code error_code_;
  Diagnostics diagnostics_;
};

constexpr std::string_view kComment = "//";
constexpr BodySchema kOnlyAttributes;

// A label is written once for all blocks of an array, but each block has its own copy.
constexpr std::size_t kLabelBytesPerByte = 16;

std::string_view kind_of(const Expression& value) {
  if (std::holds_alternative<NullLiteral>(value.node)) return "null";
  if (std::holds_alternative<BoolLiteral>(value.node)) return "a bool";
  if (std::holds_alternative<NumberLiteral>(value.node)) return "a number";
  if (std::holds_alternative<JsonString>(value.node)) return "a string";
  return std::holds_alternative<Tuple>(value.node) ? "an array" : "an object";
}

bool holds_others(const Expression& value) {
  return std::holds_alternative<Object>(value.node) || std::holds_alternative<Tuple>(value.node);
}

// The opening bracket of an object or array.
Range start_of(const Expression& value) {
  if (!holds_others(value)) return value.range;
  Position behind = value.range.start;
  ++behind.byte;
  ++behind.column;
  return {value.range.start, behind};
}

constexpr std::string_view kBody = "an object or an array of objects";

const std::string& name_of(const ObjectItem& member) {
  return std::get<JsonString>(member.key.node).text;
}

// `"resource": {"LABEL": {"LABEL": {…}}}`
std::string example_of(const BlockSchema& schema) {
  std::string out = fmt::format("write \"{}\": ", schema.type);
  for (std::size_t i = 0; i < schema.labels; ++i) out += "{\"LABEL\": ";
  out += "{…}";
  return out + std::string(schema.labels, '}');
}

const BlockSchema* find_block(const BodySchema& schema, std::string_view type) {
  const auto found = std::find_if(schema.blocks.begin(), schema.blocks.end(),
                                  [&](const BlockSchema& block) { return block.type == type; });
  return found == schema.blocks.end() ? nullptr : &*found;
}

JsonBodyReader::JsonBodyReader(std::size_t text_size, const std::string& path, Code error_code)
    : label_bytes_left_(kLabelBytesPerByte * text_size), path_(path), error_code_(error_code) {}

void JsonBodyReader::add(Error error) {
  if (diagnostics_.size() > kMaxErrors) return;
  if (diagnostics_.size() == kMaxErrors) {
    error = {.code = Code::limit_exceeded,
             .message = fmt::format("there are more than {} errors; the rest is not listed", kMaxErrors),
             .location = error.location};
  }
  diagnostics_.push_back({Severity::error, std::move(error)});
}

void JsonBodyReader::report(const Range& range, std::string message, std::string hint) {
  add({.code = error_code_,
       .message = std::move(message),
       .location = Location{path_, range},
       .hint = std::move(hint)});
}

void JsonBodyReader::report_kind(const Expression& value, std::string_view expected, std::string hint) {
  report(start_of(value), fmt::format("expected {}, found {}", expected, kind_of(value)), std::move(hint));
}

ParsedFile JsonBodyReader::read_root(Expression value, const BodySchema& schema) {
  ParsedFile file;
  if (holds_others(value)) {
    read_body(value, schema, "", file.body);
  } else {
    report_kind(value, kBody, "a file without content holds {}");
  }
  file.diagnostics = std::move(diagnostics_);
  return file;
}

std::vector<ObjectItem*> JsonBodyReader::members_of(Expression& value, const std::string& hint) {
  std::vector<ObjectItem*> members;
  const auto add_members = [&](Object& object) {
    for (ObjectItem& item : object.items) members.push_back(&item);
  };
  if (auto* object = std::get_if<Object>(&value.node)) {
    add_members(*object);
    return members;
  }
  for (Expression& item : std::get<Tuple>(value.node).items) {
    if (auto* object = std::get_if<Object>(&item.node)) {
      add_members(*object);
    } else {
      report_kind(item, "an object in this array", hint);
    }
  }
  return members;
}

void JsonBodyReader::read_body(Expression& value, const BodySchema& schema, const std::string& hint, Body& body) {
  std::unordered_map<std::string_view, Range> names;
  for (ObjectItem* member : members_of(value, hint)) {
    const std::string& name = name_of(*member);
    if (name == kComment) continue;
    const Range& name_range = member->key.range;
    if (const BlockSchema* block = find_block(schema, name)) {
      Header header{*block, {}};
      read_labels(member->value, header, body.blocks);
      continue;
    }
    const auto [first, is_new] = names.try_emplace(name, name_range);
    if (is_new) {
      body.attributes.push_back({name, name_range, std::move(member->value)});
      continue;
    }
    if (schema.open && holds_others(member->value)) continue;
    add({.code = error_code_,
         .message = fmt::format("the argument {} is set a second time", quoted_for_message(name)),
         .location = Location{path_, name_range},
         .related = {{"it was first set here", {path_, first->second}}},
         .hint = "keep one of them"});
  }
}

void JsonBodyReader::read_labels(Expression& value, Header& header, std::vector<Block>& blocks) {
  const BlockSchema& schema = header.schema;
  if (header.labels.size() == schema.labels) return read_content(value, header, blocks);
  const std::string hint = example_of(schema);
  const std::string expected = fmt::format("an object whose names are labels of block \"{}\"", schema.type);
  if (!holds_others(value)) return report_kind(value, expected, hint);
  const std::size_t errors = diagnostics_.size();
  const auto members = members_of(value, hint);
  if (members.empty() && diagnostics_.size() == errors) {
    report(start_of(value), fmt::format("expected {}, found {} without any", expected, kind_of(value)), hint);
  }
  for (ObjectItem* member : members) {
    header.labels.push_back({name_of(*member), member->key.range});
    read_labels(member->value, header, blocks);
    header.labels.pop_back();
  }
}

void JsonBodyReader::read_content(Expression& value, const Header& header, std::vector<Block>& blocks) {
  if (std::holds_alternative<NullLiteral>(value.node)) return;
  const Range opening = start_of(value);
  if (auto* tuple = std::get_if<Tuple>(&value.node)) {
    for (Expression& item : tuple->items) read_block(item, opening, header, blocks);
  } else {
    read_block(value, opening, header, blocks);
  }
}

void JsonBodyReader::read_block(Expression& value, const Range& header_range, const Header& header,
                                std::vector<Block>& blocks) {
  const BodySchema& schema = header.schema.body == nullptr ? kOnlyAttributes : *header.schema.body;
  const bool empty = std::holds_alternative<NullLiteral>(value.node);
  if (!empty && !holds_others(value)) {
    const auto expected = fmt::format("{} as the content of block \"{}\"", kBody, header.schema.type);
    return report_kind(value, expected, example_of(header.schema));
  }
  if (!labels_fit(header, value.range)) return;
  Block block{std::string(header.schema.type), header.labels, header_range, value.range, {}};
  if (!empty) read_body(value, schema, example_of(header.schema), block.body);
  blocks.push_back(std::move(block));
}

bool JsonBodyReader::labels_fit(const Header& header, const Range& where) {
  std::size_t size = 0;
  for (const Label& label : header.labels) size += label.text.size();
  if (size <= label_bytes_left_) {
    label_bytes_left_ -= size;
    return true;
  }
  if (!std::exchange(labels_are_reported_, true)) {
    add({.code = Code::limit_exceeded,
         .message = fmt::format("the labels of block \"{}\" are too long for how often this array repeats them",
                                header.schema.type),
         .location = Location{path_, where},
         .hint = "give the blocks short labels"});
  }
  return false;
}

ParsedFile failed(Error error) {
  ParsedFile file;
  file.diagnostics.push_back({Severity::error, std::move(error)});
  return file;
}

}  // namespace

ParsedFile parse_json(std::string_view text, const std::string& path, const BodySchema& schema, ParseOptions options) {
  if (text.substr(0, kByteOrderMark.size()) == kByteOrderMark) {
    const Position behind{.line = 1, .column = 2, .byte = static_cast<std::uint32_t>(kByteOrderMark.size())};
    return failed({.code = options.error_code,
                   .message = "expected JSON, found a byte order mark, which JSON does not have",
                   .location = Location{path, Range{{}, behind}},
                   .hint = "save the file as UTF-8 without a byte order mark"});
  }
  if (auto error = text_error(text, {}, path, options.error_code)) return failed(std::move(*error));
  JsonReader reader(text, path, options.error_code);
  auto root = reader.read();
  if (!root) return failed(std::move(root).error());
  return JsonBodyReader(text.size(), path, options.error_code).read_root(std::move(*root), schema);
}

}  // namespace modlock::hcl
