#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace modlock::fidelity {

// Numbers by chance that are the same everywhere for the same seed, which distributions of the standard library are not
// (splitmix64).
class Chance {
 public:
  explicit Chance(std::uint64_t seed) : state_(seed) {}

  // Below `end`, which is not zero.
  std::size_t below(std::size_t end) { return static_cast<std::size_t>(next() % end); }
  bool percent(unsigned of_a_hundred) { return below(100) < of_a_hundred; }
  template <typename T>
  const T& pick(const std::vector<T>& from) {
    return from[below(from.size())];
  }
  template <typename T>
  void shuffle(std::vector<T>& items) {
    for (std::size_t left = items.size(); left > 1; --left) {
      std::swap(items[left - 1], items[below(left)]);
    }
  }

 private:
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15U;
    z = (z ^ z >> 30U) * 0xBF58476D1CE4E5B9U;
    z = (z ^ z >> 27U) * 0x94D049BB133111EBU;
    return z ^ z >> 31U;
  }

  std::uint64_t state_;
};

}  // namespace modlock::fidelity
