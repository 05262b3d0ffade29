#include "tests/support/faults.h"

#include <utility>

namespace modlock::test::faults {
namespace {

using Good = std::function<ServerAnswer()>;

std::string first_half(const ServerAnswer& good) {
  const std::string text = wire_text(good);
  return text.substr(0, text.size() - good.body.size() + good.body.size() / 2);
}

// Writes the same bytes until the other side is gone.
bool write_for_ever(ServerStream& stream, const std::string& start, const std::string& piece) {
  for (bool is_there = stream.write(start); is_there;) {
    is_there = stream.write(piece);
  }
  return false;
}

}  // namespace

Behaviour black_hole() {
  return [](ServerStream& stream, const ReceivedRequest&, const Good&) {
    stream.wait_until_closed();
    return false;
  };
}

Behaviour reset_mid_body() {
  return [](ServerStream& stream, const ReceivedRequest&, const Good& good) {
    stream.write(first_half(good()));
    stream.reset();
    return false;
  };
}

Behaviour slow_drip(std::chrono::milliseconds between) {
  return [between](ServerStream& stream, const ReceivedRequest&, const Good& good) {
    const ServerAnswer answer = good();
    const std::string text = wire_text(answer);
    bool is_there = stream.write(text.substr(0, text.size() - answer.body.size()));
    for (std::size_t i = 0; i < answer.body.size() && is_there; ++i) {
      is_there = stream.pause(between) && stream.write(answer.body.substr(i, 1));
    }
    return is_there;
  };
}

Behaviour truncated() {
  return [](ServerStream& stream, const ReceivedRequest&, const Good& good) {
    stream.write(first_half(good()));
    return false;
  };
}

Behaviour wrong_length(std::string length) {
  return [length = std::move(length)](ServerStream& stream, const ReceivedRequest&, const Good& good) {
    stream.write("HTTP/1.1 200 OK\r\nContent-Length: " + length + "\r\n\r\n" + good().body);
    return false;
  };
}

Behaviour endless_headers() {
  return [](ServerStream& stream, const ReceivedRequest&, const Good&) {
    return write_for_ever(stream, "HTTP/1.1 200 OK\r\n", "X-Padding: " + std::string(1000, 'x') + "\r\n");
  };
}

Behaviour endless_header() {
  return [](ServerStream& stream, const ReceivedRequest&, const Good&) {
    return write_for_ever(stream, "HTTP/1.1 200 OK\r\nX-Padding: ", std::string(4096, 'x'));
  };
}

Behaviour endless_body(int status) {
  return [status](ServerStream& stream, const ReceivedRequest&, const Good&) {
    return write_for_ever(stream, "HTTP/1.1 " + std::to_string(status) + " Status\r\n\r\n", std::string(65'536, 'x'));
  };
}

Behaviour endless(std::string start, std::string piece) {
  return
      [start = std::move(start), piece = std::move(piece)](ServerStream& stream, const ReceivedRequest&, const Good&) {
        return write_for_ever(stream, start, piece);
      };
}

Behaviour not_http() {
  return bytes("SSH-2.0-OpenSSH_9.2p1\r\n");
}

Behaviour no_answer() {
  return bytes("");
}

Behaviour redirect_loop() {
  return [](ServerStream& stream, const ReceivedRequest& request, const Good&) {
    return stream.write(wire_text({.status = 302, .headers = {{"Location", request.target}}}));
  };
}

Behaviour redirect(std::string location, int status) {
  return answer({.status = status, .headers = {{"Location", std::move(location)}}});
}

Behaviour answer(ServerAnswer answer) {
  return [answer = std::move(answer)](ServerStream& stream, const ReceivedRequest& request, const Good&) {
    return stream.write(wire_text(answer, request.method == "HEAD"));
  };
}

Behaviour rate_limited(std::string retry_after) {
  ServerAnswer limited{.status = 429};
  if (!retry_after.empty()) {
    limited.headers.push_back({"Retry-After", std::move(retry_after)});
  }
  return answer(std::move(limited));
}

Behaviour status(int status) {
  return answer({.status = status});
}

Behaviour bytes(std::string text) {
  return [text = std::move(text)](ServerStream& stream, const ReceivedRequest&, const Good&) {
    stream.write(text);
    return false;
  };
}

}  // namespace modlock::test::faults
