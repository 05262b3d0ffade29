#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/messages/error_json.h"

namespace modlock::messages {

// One replacement. Offsets are 0-based bytes in the base text, `end` exclusive.
struct RangeEdit {
  std::size_t start = 0;
  std::size_t end = 0;
  std::string old_text;
  std::string new_text;
  Range range;  // of start..end in the base
};

enum class EditOperation { modify, create, remove };
constexpr std::array<std::string_view, 3> names_of(const EditOperation*) {
  return {"modify", "create", "delete"};
}

// A change to one document. A host applies it only if the base is still the same.
struct EditedDocument {
  std::string path;  // relative to the root
  EditOperation operation = EditOperation::modify;
  bool is_configuration = false;                // a file that people write, not a lock file
  std::optional<std::string> base_sha256 = {};  // 64 hex digits; absent: there is no base
  std::optional<std::string> new_text = {};     // the full text; empty for remove
  // Sorted, not overlapping; applying them to the base gives new_text.
  std::optional<std::vector<RangeEdit>> edits = {};
  std::string result_sha256 = {};  // of new_text
  std::string before = {};         // the text of the base; is not sent
};

struct WorkspaceEdit {
  std::vector<EditedDocument> documents;
};

constexpr TypeName name_of(const RangeEdit*) {
  return {"RangeEdit", "Whole lines of the base and what takes their place."};
}
template <typename Form>
void fields(Form& form, In<Form, RangeEdit> edit) {
  form.member("start", edit.start, "byte offset in the base, from 0");
  form.member("end", edit.end, "byte offset of the following text");
  form.member("oldText", edit.old_text, "the present text");
  form.member("newText", edit.new_text, "what shall stand there");
  form.member("range", edit.range, "start and end as points in the base");
}

// The content of a file by its digest.
struct Content {
  std::string sha256;
};
constexpr TypeName name_of(const Content*) {
  return {"Content", "The content of a file by its digest."};
}
template <typename Form>
void fields(Form& form, In<Form, Content> content) {
  form.member("sha256", content.sha256, "SHA-256 of its bytes, in hexadecimal digits");
}

constexpr TypeName name_of(const EditedDocument*) {
  return {"EditedDocument", "A change to one file, to be applied only where what the host has is still the base."};
}
template <typename Form>
void fields(Form& form, In<Form, EditedDocument> document) {
  form.member("path", document.path, "relative to the root");
  form.member("op", document.operation, "what happens to the file; `delete` removes it, without new text or ranges");
  form.nullable("base", document.base_sha256 ? std::optional(Content{*document.base_sha256}) : std::nullopt,
                "what the edits apply to; null for a file that is not there yet");
  form.optional("newText", document.new_text, "the complete new text, if the calling program uses the form `fullText`");
  form.optional("edits", document.edits,
                "the same as ranges of the base, sorted and not overlapping, for the form `ranges`");
  form.member("result", Content{document.result_sha256}, "the content in both forms");
}

constexpr TypeName name_of(const WorkspaceEdit*) {
  return {"WorkspaceEdit", "Changes to files, which the host makes. A plan that changes nothing has no documents."};
}
template <typename Form>
void fields(Form& form, In<Form, WorkspaceEdit> edit) {
  form.member("documents", edit.documents, "a change for each file");
}

}  // namespace modlock::messages
