#include "plugin/hcl/template_items.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "plugin/hcl/characters.h"

namespace modlock::hcl {
namespace {

using Kind = TemplateItem::Kind;

bool ends_line(const TemplateItem& item) {
  return item.kind == Kind::literal && !item.text.empty() && item.text.back() == '\n';
}

bool is_empty_literal(const TemplateItem& item) {
  return item.kind == Kind::literal && item.text.empty();
}

// How many blank characters the line that starts with this item is indented by; nothing for a blank line.
std::optional<std::size_t> indentation(const TemplateItem& item) {
  if (item.kind != Kind::literal) return 0;
  const std::string_view text = item.text;
  const std::string_view blanks = text.substr(0, text.size() - trim_left(text).size());
  if (blanks.size() == text.size() && ends_line(item)) return std::nullopt;
  std::size_t count = 0;
  for (std::size_t at = 0; at < blanks.size(); at = grapheme_end(blanks, at)) ++count;
  return count;
}

}  // namespace

void strip_literals(std::vector<TemplateItem>& items) {
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (items[i].strip_left && i > 0 && items[i - 1].kind == Kind::literal) {
      items[i - 1].text = std::string(trim_right(items[i - 1].text));
    }
    if (items[i].strip_right && i + 1 < items.size() && items[i + 1].kind == Kind::literal) {
      items[i + 1].text = std::string(trim_left(items[i + 1].text));
    }
  }
}

void remove_indentation(std::vector<TemplateItem>& items) {
  std::size_t common = std::numeric_limits<std::size_t>::max();
  std::vector<TemplateItem*> lines;
  bool line_start = true;
  for (TemplateItem& item : items) {
    if (line_start) {
      if (const auto count = indentation(item)) {
        common = std::min(common, *count);
        if (item.kind == Kind::literal) lines.push_back(&item);
      }
    }
    line_start = ends_line(item);
  }
  for (TemplateItem* line : lines) {
    std::size_t end = 0;
    for (std::size_t i = 0; i < common && end < line->text.size(); ++i) end = grapheme_end(line->text, end);
    line->text.erase(0, end);
  }
}

void join_literals(std::vector<TemplateItem>& items) {
  const auto is_literal = [](const TemplateItem& item) { return item.kind == Kind::literal; };
  const bool is_joined =
      std::none_of(items.begin(), items.end(), [](const auto& item) { return is_empty_literal(item); }) &&
      std::adjacent_find(items.begin(), items.end(), [&](const auto& left, const auto& right) {
        return is_literal(left) && is_literal(right);
      }) == items.end();
  if (is_joined) return;
  std::vector<TemplateItem> joined;
  for (TemplateItem& item : items) {
    if (is_empty_literal(item)) continue;
    if (item.kind == Kind::literal && !joined.empty() && joined.back().kind == Kind::literal) {
      joined.back().text += item.text;
      joined.back().range.end = item.range.end;
    } else {
      joined.push_back(std::move(item));
    }
  }
  items = std::move(joined);
}

}  // namespace modlock::hcl
