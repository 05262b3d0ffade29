#include "backends/base/lazy_library.h"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <string>

using namespace modlock;

namespace {

constexpr LazyLibrary kMath("libm.so.6");
constinit const LazyFunction<decltype(::fmax)> greater(kMath, "fmax");

struct Ended {
  int status = 0;
  std::string said;
};

// A process that looks for the function, or where it is null only loads, and what it left behind.
Ended look_for(const char* file, const char* function) {
  std::array<int, 2> said{};
  BOOST_REQUIRE(::pipe(said.data()) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(said[1], STDERR_FILENO);
    function != nullptr ? static_cast<void>(LazyLibrary(file).find(function)) : LazyLibrary(file).load();
    ::_exit(0);
  }
  ::close(said[1]);
  Ended ended;
  std::array<char, 1024> piece{};
  for (ssize_t got = 0; (got = ::read(said[0], piece.data(), piece.size())) > 0;) {
    ended.said.append(piece.data(), static_cast<std::size_t>(got));
  }
  ::close(said[0]);
  ::waitpid(child, &ended.status, 0);
  return ended;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_function_is_found_when_it_is_called) {
  BOOST_TEST(greater(2.0, 3.0) == 3.0);
  BOOST_TEST(greater(2.0, 1.0) == 2.0);
}

BOOST_AUTO_TEST_CASE(what_is_not_installed_ends_the_program_as_the_dynamic_loader_does) {
  struct Row {
    const char* name;
    const char* file;
    const char* function;
    const char* said;
  };
  const Row rows[] = {
      {"no library", "libnobody-has-this.so.1", "run",
       "tofu-modlock: error while loading shared libraries: libnobody-has-this.so.1: cannot open shared object file"},
      {"no library to load", "libnobody-has-this.so.1", nullptr,
       "tofu-modlock: error while loading shared libraries: libnobody-has-this.so.1: cannot open shared object file"},
      {"no function", "libm.so.6", "nobody_has_this", "undefined symbol: nobody_has_this"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const Ended ended = look_for(row.file, row.function);
      BOOST_TEST(WIFEXITED(ended.status));
      BOOST_TEST(WEXITSTATUS(ended.status) == 127);
      BOOST_TEST(ended.said.find(row.said) != std::string::npos, ended.said);
    }
  }
}
