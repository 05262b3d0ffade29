// Two texts, divided by the byte FF: every form of the change from one to the other gives the same text.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "backends/base/digest.h"
#include "plugin/lock/edit.h"

namespace {

using namespace modlock;

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t at = text.find('\xFF');
  if (at == std::string_view::npos) return 0;
  const std::string_view before = text.substr(0, at);
  const std::string_view after = text.substr(at + 1);
  const std::vector<RangeEdit> edits = diff_edits(before, after);
  std::size_t end = 0;
  for (const RangeEdit& edit : edits) {
    require(edit.start >= end && edit.end >= edit.start && edit.end <= before.size());
    require(before.substr(edit.start, edit.end - edit.start) == edit.old_text);
    require(edit.range.start.byte == edit.start && edit.range.end.byte == edit.end);
    require(edit.old_text != edit.new_text);
    end = edit.end;
  }
  require(apply_edits(before, edits) == after);
  const auto document = make_document_edit("a", before, after);
  require(document.has_value() == (before != after));
  if (document) {
    require(document->base_sha256 == sha256_hex(before) && document->result_sha256 == sha256_hex(after));
    require(document->new_text == after && apply_edits(before, *document->edits) == after);
  }
  require(unified_diff("a", before, after).empty() == (before == after));
  return 0;
}
