#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "plugin/hcl/parser.h"
#include "plugin/hcl/schema.h"

namespace modlock::hcl {

// Makes bodies out of JSON values by a schema: the part of json_syntax.h that is about blocks, labels and attributes.
class JsonBodyReader {
 public:
  // `text_size` bounds how much text the labels of blocks may take together.
  JsonBodyReader(std::size_t text_size, const std::string& path, Code error_code);

  // What the value of a whole file holds; the value is used up.
  ParsedFile read_root(Expression value, const BodySchema& schema);

 private:
  struct Header {
    const BlockSchema& schema;
    Range type_range;
    std::vector<Label> labels;
  };

  void add(Error error);
  void report(const Range& range, std::string message, std::string hint);
  void report_kind(const Expression& value, std::string_view expected, std::string hint);
  // The members of an object, or of all the objects in an array. What else is in the array is reported.
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

}  // namespace modlock::hcl
