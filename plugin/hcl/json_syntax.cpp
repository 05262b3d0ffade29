#include "plugin/hcl/json_syntax.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "plugin/hcl/characters.h"
#include "plugin/hcl/json_reader.h"
#include "plugin/hcl/native_parser.h"

namespace modlock::hcl {
namespace {

// Turns the text of JSON into bodies by a schema: the part of json_syntax.h about blocks, labels and attributes. Each
// function reads the value that is next in the text.
class JsonBodyReader {
 public:
  JsonBodyReader(std::shared_ptr<Text> text, const std::string& path, const ParseOptions& options, Position start = {});

  // Returns the content of a whole file, which was checked.
  ParsedFile read_root(const BodySchema& schema);

  Block read_block_again(const BlockPlace& place);

 private:
  struct Header {
    const BlockSchema& schema;
    std::vector<Label> labels;
  };

  void add(Error error);
  void report(const Range& range, std::string message, std::string hint);
  // Reports the kind of the next value, and skips it.
  void report_kind(std::string_view expected, std::string hint);
  std::string_view kind();
  bool holds_others() { return json_.peek() == '{' || json_.peek() == '['; }
  // Calls `visit(name)` for each member of an object, or of all objects in an array. Other items of the array are
  // reported.
  template <typename Visit>
  void each_member(const std::string& hint, Visit visit);
  void read_body(const BodySchema& schema, const std::string& hint, Body& body);
  void read_attribute(const Expression& name, bool open, AttributeNames& names, Body& body);
  void read_labels(Header& header, std::vector<Block>& blocks);
  void read_content(const Header& header, std::vector<Block>& blocks);
  void read_block(const Range& header_range, const Header& header, std::vector<Block>& blocks);

  ParsedFile file_;
  JsonReader json_;
  const std::string& path_;
  const ParseOptions& options_;
};

constexpr std::string_view kComment = "//";
constexpr BodySchema kOnlyAttributes;

constexpr std::string_view kBody = "an object or an array of objects";

// `"resource": {"LABEL": {"LABEL": {…}}}`
std::string example_of(const BlockSchema& schema) {
  std::string out = fmt::format("write \"{}\": ", schema.type);
  for (std::size_t i = 0; i < schema.labels; ++i) out += "{\"LABEL\": ";
  out += "{…}";
  return out + std::string(schema.labels, '}');
}

const BlockSchema* find_block(const BodySchema& schema, std::string_view type) {
  const auto found = std::ranges::find(schema.blocks, type, &BlockSchema::type);
  return found == schema.blocks.end() ? nullptr : &*found;
}

JsonBodyReader::JsonBodyReader(std::shared_ptr<Text> text, const std::string& path, const ParseOptions& options,
                               Position start)
    : file_{.body = {}, .diagnostics = {}, .text = std::move(text)},
      json_(file_.text->content, start),
      path_(path),
      options_(options) {}

void JsonBodyReader::add(Error error) {
  Diagnostics& diagnostics = file_.diagnostics;
  if (diagnostics.size() > kMaxErrors) return;
  if (diagnostics.size() == kMaxErrors) {
    error = {.code = Code::limit_exceeded,
             .message = fmt::format("there are more than {} errors; the rest is not listed", kMaxErrors),
             .location = error.location};
  }
  diagnostics.push_back({Severity::error, std::move(error)});
}

void JsonBodyReader::report(const Range& range, std::string message, std::string hint) {
  add({.code = options_.error_code,
       .message = std::move(message),
       .location = Location{path_, range},
       .hint = std::move(hint)});
}

void JsonBodyReader::report_kind(std::string_view expected, std::string hint) {
  report(json_.next_range(), fmt::format("expected {}, found {}", expected, kind()), std::move(hint));
  json_.skip();
}

std::string_view JsonBodyReader::kind() {
  using Kind = std::pair<char, std::string_view>;
  constexpr Kind kKinds[] = {{'{', "an object"}, {'[', "an array"}, {'"', "a string"},
                             {'n', "null"},      {'t', "a bool"},   {'f', "a bool"}};
  const auto* found = std::ranges::find(kKinds, json_.peek(), &Kind::first);
  return found == std::end(kKinds) ? "a number" : found->second;
}

ParsedFile JsonBodyReader::read_root(const BodySchema& schema) {
  if (holds_others()) {
    read_body(schema, "", file_.body);
  } else {
    report_kind(kBody, "a file without content holds {}");
  }
  return std::move(file_);
}

Block JsonBodyReader::read_block_again(const BlockPlace& place) {
  Block block;
  block.header_range = {place.header, advance(place.header, "[")};
  block.range.start = place.start;
  json_.peek() == 'n' ? void(json_.skip()) : read_body({.open = true}, "", block.body);
  block.range.end = json_.here();
  return block;
}

template <typename Visit>
void JsonBodyReader::each_member(const std::string& hint, Visit visit) {
  if (json_.peek() == '{') {
    for (bool more = json_.open(); more; more = json_.another()) visit(json_.read_name());
    return;
  }
  for (bool more = json_.open(); more; more = json_.another()) {
    json_.peek() == '{' ? each_member(hint, visit) : report_kind("an object in this array", hint);
  }
}

void JsonBodyReader::read_body(const BodySchema& schema, const std::string& hint, Body& body) {
  AttributeNames names;
  each_member(hint, [&](const Expression& name) {
    const std::string& text = std::get<JsonString>(name.node).text;
    if (text == kComment) {
      json_.skip();
    } else if (const BlockSchema* block = find_block(schema, text)) {
      Header header{*block, {}};
      read_labels(header, body.blocks);
    } else {
      read_attribute(name, schema.open, names, body);
    }
  });
}

void JsonBodyReader::read_attribute(const Expression& name, bool open, AttributeNames& names, Body& body) {
  const std::string& text = std::get<JsonString>(name.node).text;
  const bool may_be_block = open && holds_others();
  const Range value = json_.skip();
  if (const Attribute* first = names.find(text, body)) {
    if (may_be_block) return;
    add({.code = options_.error_code,
         .message = fmt::format("the argument {} is set a second time", quoted_for_message(text)),
         .location = Location{path_, name.range},
         .related = {{"it was first set here", {path_, first->name_range}}},
         .hint = "keep one of them"});
    return;
  }
  if (!may_keep(kAttributeMemory, file_, options_, {path_, name.range})) return;
  const std::string_view kept = file_.text->keep(text, name.range.start.byte + 1);
  body.attributes.push_back({kept, name.range, {*file_.text, value}});
}

void JsonBodyReader::read_labels(Header& header, std::vector<Block>& blocks) {
  const BlockSchema& schema = header.schema;
  if (header.labels.size() == schema.labels) return read_content(header, blocks);
  const std::string hint = example_of(schema);
  const std::string expected = fmt::format("an object whose names are labels of block \"{}\"", schema.type);
  if (!holds_others()) return report_kind(expected, hint);
  const std::size_t errors = file_.diagnostics.size();
  const Range opening = json_.next_range();
  const std::string_view found = kind();
  bool is_empty = true;
  each_member(hint, [&](const Expression& name) {
    is_empty = false;
    header.labels.push_back({std::get<JsonString>(name.node).text, name.range});
    read_labels(header, blocks);
    header.labels.pop_back();
  });
  if (is_empty && file_.diagnostics.size() == errors) {
    report(opening, fmt::format("expected {}, found {} without any", expected, found), hint);
  }
}

void JsonBodyReader::read_content(const Header& header, std::vector<Block>& blocks) {
  const char first = json_.peek();
  const Range opening = json_.next_range();
  if (first == 'n') {
    json_.skip();
  } else if (first == '[') {
    for (bool more = json_.open(); more; more = json_.another()) read_block(opening, header, blocks);
  } else {
    read_block(opening, header, blocks);
  }
}

void JsonBodyReader::read_block(const Range& header_range, const Header& header, std::vector<Block>& blocks) {
  const BodySchema& schema = header.schema.body == nullptr ? kOnlyAttributes : *header.schema.body;
  const bool empty = json_.peek() == 'n';
  const std::string hint = example_of(header.schema);
  if (!empty && !holds_others()) {
    return report_kind(fmt::format("{} as the content of block \"{}\"", kBody, header.schema.type), hint);
  }
  Block block{std::string(header.schema.type), header.labels, header_range, {json_.next_range().start, {}}, {}};
  if (!may_keep(memory_of(block), file_, options_, {path_, header_range})) return void(json_.skip());
  if (empty) {
    json_.skip();
  } else {
    read_body(schema, hint, block.body);
  }
  block.range.end = json_.here();
  blocks.push_back(std::move(block));
  keep_last_block(file_, blocks, &blocks == &file_.body.blocks ? 1 : 2, options_);
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
  if (auto checked = check_json(text, path, options.error_code); !checked) {
    return failed(std::move(checked).error());
  }
  auto kept = std::make_shared<Text>();
  kept->content = text;
  kept->json = true;
  if (!options.allowance) (options.allowance = std::make_shared<Allowance>())->add_text(text.size());
  return JsonBodyReader(kept, path, options).read_root(schema);
}

Block read_block(const ParsedFile& file, const BlockPlace& place) {
  const std::string no_path;
  return file.text->json ? JsonBodyReader(file.text, no_path, {}, place.start).read_block_again(place)
                         : NativeParser(file.text->content, place.start, no_path, Code::config_parse)
                               .parse_checked_block(file.text);
}

}  // namespace modlock::hcl
