#include "backends/base/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "backends/base/descriptor.h"

namespace modlock {
namespace {

// If there are more, the others are not measured.
constexpr std::size_t kMostProcesses = 1000;

std::string text_of(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 4096> piece;
  const ssize_t got = file.valid() ? ::read(file.get(), piece.data(), piece.size()) : -1;
  return got > 0 ? std::string(piece.data(), static_cast<std::size_t>(got)) : std::string();
}

std::vector<std::uint64_t> numbers_of(std::string_view text) {
  std::vector<std::uint64_t> numbers;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find_first_of(" \n"));
    std::uint64_t number = 0;
    std::from_chars(word.data(), word.data() + word.size(), number);
    numbers.push_back(number);
    text.remove_prefix(std::min(word.size() + 1, text.size()));
  }
  return numbers;
}

// Parses "rchar: 1\nwchar: 2\n…"; 0 if access is denied.
std::uint64_t transferred_by(const std::string& process) {
  const auto words = numbers_of(text_of(process + "/io"));
  constexpr std::size_t kRead = 1;
  constexpr std::size_t kWritten = 3;
  return words.size() > kWritten ? words[kRead] + words[kWritten] : 0;
}

std::chrono::milliseconds cpu_of(const std::string& process) {
  const std::string stat = text_of(process + "/stat");
  // A program's name may contain any characters.
  const std::size_t name_end = stat.rfind(") ");
  const auto words =
      name_end == std::string::npos ? std::vector<std::uint64_t>() : numbers_of(stat.substr(name_end + 2));
  constexpr std::size_t kUser = 11;
  constexpr std::size_t kSystem = 12;
  const auto ticks = static_cast<std::uint64_t>(std::max(::sysconf(_SC_CLK_TCK), 1L));
  return std::chrono::milliseconds(words.size() > kSystem ? (words[kUser] + words[kSystem]) * 1000 / ticks : 0);
}

std::uint64_t memory_of(const std::string& process) {
  const auto pages = numbers_of(text_of(process + "/statm"));
  constexpr std::size_t kResident = 1;
  constexpr std::size_t kShared = 2;
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return pages.size() > kShared && pages[kResident] > pages[kShared] ? (pages[kResident] - pages[kShared]) * page : 0;
}

void add_children(const std::string& process, std::vector<int>& pids) {
  std::error_code error;
  for (std::filesystem::directory_iterator at(process + "/task", error), end; !error && at != end;
       at.increment(error)) {
    const auto children = numbers_of(text_of(at->path().string() + "/children"));
    for (const std::uint64_t child : children) {
      pids.push_back(static_cast<int>(child));
    }
  }
}

}  // namespace

std::vector<int> process_tree(int pid) {
  std::vector<int> pids = {pid};
  for (std::size_t i = 0; i < pids.size() && pids.size() < kMostProcesses; ++i) {
    add_children(fmt::format("/proc/{}", pids[i]), pids);
  }
  return pids;
}

ProcessUsage process_usage(int pid) {
  ProcessUsage usage;
  for (const int member : process_tree(pid)) {
    const std::string process = fmt::format("/proc/{}", member);
    usage.memory += memory_of(process);
    usage.transferred += transferred_by(process);
    usage.cpu += cpu_of(process);
  }
  return usage;
}

std::optional<std::uint64_t> file_size_limit() {
  rlimit now{};
  const bool is_limited = ::getrlimit(RLIMIT_FSIZE, &now) == 0 && now.rlim_cur != RLIM_INFINITY;
  return is_limited ? std::optional<std::uint64_t>(now.rlim_cur) : std::nullopt;
}

}  // namespace modlock
