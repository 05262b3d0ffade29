#include "protocol/messages/write_text.h"

#include <algorithm>

namespace modlock {

void WriteText::begin(std::string_view name) {
  std::string& text = sink_.text;
  if (sink_.members.size() > first_) {
    text += ',';
  }
  sink_.members.push_back({name, text.size()});
  text.append(1, '"').append(name).append("\":");
}

// Members are told in the order that suits people.
void WriteText::put_last_in_order() {
  std::string& text = sink_.text;
  const auto begin = sink_.members.begin() + static_cast<std::ptrdiff_t>(first_);
  const auto end = sink_.members.end();
  const auto last = std::prev(end);
  if (last == begin || std::prev(last)->name < last->name) {
    return;
  }
  const auto place = std::upper_bound(begin, last, *last, [](const auto& a, const auto& b) { return a.name < b.name; });
  const std::size_t start = place->start;
  const std::string moved = text.substr(last->start) + ',';
  text.resize(last->start - 1);  // a comma stands before it
  text.insert(start, moved);
  std::rotate(place, last, end);
  place->start = start;
  std::for_each(std::next(place), end, [&](Member& behind) { behind.start += moved.size(); });
}

}  // namespace modlock
