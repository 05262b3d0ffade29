#include "protocol/base/system_reason.h"

#include <boost/test/unit_test.hpp>

#include <cerrno>
#include <new>
#include <stdexcept>
#include <system_error>

namespace modlock {

BOOST_AUTO_TEST_SUITE(system_reasons)

BOOST_AUTO_TEST_CASE(reasons_and_what_to_do) {
  struct Row {
    const char* name;
    int reason;
    const char* text;
    const char* advice;
  };
  for (const Row& row : {
           Row{"open files", EMFILE, "the limit of open files of this process is reached",
               "raise it (ulimit -n), then run it again"},
           Row{"open files of the machine", ENFILE, "the limit of open files of this machine is reached",
               "end other programs, or raise it (sysctl fs.file-max)"},
           Row{"memory", ENOMEM, "no memory is left for this process",
               "free some memory, or raise the limit (ulimit -v), then run it again"},
           Row{"size of a file", EFBIG, "the limit of the size of a file is reached",
               "raise it (ulimit -f), or choose a file system that takes larger files"},
           Row{"disk", ENOSPC, "No space left on device", "free some space there, then run it again"},
           Row{"permission", EACCES, "Permission denied", "give the user that runs this permission there"},
           Row{"another one", EIO, "Input/output error", ""},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(system_reason(row.reason) == row.text);
      BOOST_TEST(system_advice(row.reason) == row.advice);
    }
  }
}

BOOST_AUTO_TEST_CASE(exceptions) {
  const auto of_system = [](int reason) { return std::system_error(reason, std::generic_category()); };
  const Error memory = unexpected_error("lock/plan", std::bad_alloc());
  BOOST_TEST((memory.code == Code::io_error));
  BOOST_TEST(memory.message == "lock/plan ended early: no memory is left for this process");
  BOOST_TEST(memory.hint == "free some memory, or raise the limit (ulimit -v), then run it again");
  const Error threads = unexpected_error("lock/plan", of_system(EAGAIN));
  BOOST_TEST((threads.code == Code::io_error));
  BOOST_TEST(threads.message == "lock/plan ended early: the limit of processes and threads is reached");
  BOOST_TEST((unexpected_error("x", of_system(EMFILE)).code == Code::io_error));
  for (const std::exception& defect : {std::exception(std::runtime_error("oh")), std::exception(of_system(EIO))}) {
    BOOST_TEST((unexpected_error("x", defect).code == Code::internal));
  }
  BOOST_TEST(unexpected_error("x", std::runtime_error("oh")).message == "x failed unexpectedly: oh");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock
