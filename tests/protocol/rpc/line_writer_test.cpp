#include "protocol/rpc/line_writer.h"

#include <boost/test/unit_test.hpp>

#include <fcntl.h>

#include <algorithm>
#include <latch>
#include <vector>

#include "tests/protocol/rpc/pipe.h"

namespace modlock {
namespace {

using test::Pipe;

BOOST_AUTO_TEST_SUITE(line_writer_test)

BOOST_AUTO_TEST_CASE(lines_come_out_in_order_with_lf) {
  Pipe pipe;
  LineWriter writer(pipe.writer());
  BOOST_TEST(writer.write("a"));
  BOOST_TEST(writer.write(""));
  BOOST_TEST(writer.offer("b"));
  BOOST_TEST(pipe.receive_line() == "a\n");
  BOOST_TEST(pipe.receive_line() == "\n");
  BOOST_TEST(pipe.receive_line() == "b\n");
}

BOOST_AUTO_TEST_CASE(lines_larger_than_the_pipe_come_whole) {
  Pipe pipe;
  ::fcntl(pipe.writer(), F_SETFL, O_NONBLOCK);
  LineWriter writer(pipe.writer());
  const std::string large(1'000'000, 'x');
  writer.write(large);
  writer.write("end");
  BOOST_TEST((pipe.receive_line() == large + "\n"));
  BOOST_TEST(pipe.receive_line() == "end\n");
}

BOOST_AUTO_TEST_CASE(lines_of_many_threads_do_not_mix) {
  Pipe pipe;
  {
    LineWriter writer(pipe.writer());
    std::vector<std::thread> threads;
    for (char c = 'a'; c < 'e'; ++c) {
      threads.emplace_back([&writer, c] {
        for (int i = 0; i < 50; ++i) {
          writer.write(std::string(500, c));
        }
      });
    }
    for (int i = 0; i < 200; ++i) {
      const std::string line = pipe.receive_line();
      BOOST_TEST(line.size() == 501U);
      BOOST_TEST(std::count(line.begin(), line.end(), line[0]) == 500);
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
  }
}

BOOST_AUTO_TEST_CASE(a_reader_who_does_not_read_costs_what_may_be_lost_first) {
  Pipe pipe;
  LineWriter writer(pipe.writer(), {}, {.droppable_bytes = 1000, .backlog_bytes = 300'000});
  BOOST_TEST(writer.write(std::string(200'000, 'x')));  // more than the pipe takes
  BOOST_TEST(!writer.offer("lost"));
  BOOST_TEST(!writer.is_backlogged());
  BOOST_TEST(writer.write(std::string(200'000, 'y')));
  BOOST_TEST(writer.is_backlogged());
  BOOST_TEST(!writer.is_idle());
  BOOST_TEST(pipe.receive_line().size() == 200'001U);
  BOOST_TEST(pipe.receive_line().size() == 200'001U);
}

BOOST_AUTO_TEST_CASE(a_reader_who_does_not_read_cannot_hold_the_writer) {
  Pipe pipe;
  LineWriter writer(pipe.writer());
  writer.write(std::string(1'000'000, 'x'));
  BOOST_TEST(pipe.receive_line().size() > 0U);
  // The destructor returns although most of a second line was not read.
  writer.write(std::string(1'000'000, 'x'));
}

BOOST_AUTO_TEST_CASE(a_reader_who_is_gone_closes_the_writer_without_a_signal) {
  Pipe pipe;
  pipe.close_reader();
  std::latch told(1);
  LineWriter writer(pipe.writer(), [&told] { told.count_down(); });
  BOOST_TEST(writer.write("x"));
  told.wait();
  BOOST_TEST(writer.is_closed());
  BOOST_TEST(writer.is_idle());
  BOOST_TEST(!writer.write("y"));
  BOOST_TEST(!writer.offer("y"));
}

BOOST_AUTO_TEST_CASE(an_empty_queue_is_told) {
  Pipe pipe;
  std::latch told(1);
  LineWriter writer(pipe.writer(), [&told] { told.count_down(); });
  writer.write("x");
  told.wait();
  BOOST_TEST(writer.is_idle());
  BOOST_TEST(!writer.is_closed());
  BOOST_TEST(pipe.receive_line() == "x\n");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock
