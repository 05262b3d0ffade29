// usage: without_network PROGRAM [ARGUMENT...]
//
// Runs a program that the kernel ends with SIGSYS as soon as it, or a child of its, makes a socket of any kind but a
// pair. What exits by itself has made none.

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>

namespace {

#if defined(__x86_64__)
constexpr unsigned kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr unsigned kArchitecture = AUDIT_ARCH_AARCH64;
#else
#error "no filter for this processor"
#endif

constexpr sock_filter load(std::size_t offset) {
  return {BPF_LD | BPF_W | BPF_ABS, 0, 0, static_cast<unsigned>(offset)};
}

// Ends the process where the number is this one.
constexpr std::array<sock_filter, 2> end_at(unsigned number) {
  return {{{BPF_JMP | BPF_JEQ | BPF_K, 0, 1, number}, {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_KILL_PROCESS}}};
}

bool deny_sockets() {
  constexpr auto kSocket = end_at(SYS_socket);
  constexpr auto kConnect = end_at(SYS_connect);
  constexpr auto kRing = end_at(SYS_io_uring_setup);  // which could make sockets too
  std::array<sock_filter, 11> filter = {{load(offsetof(seccomp_data, arch)),
                                         {BPF_JMP | BPF_JEQ | BPF_K, 1, 0, kArchitecture},
                                         {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_KILL_PROCESS},
                                         load(offsetof(seccomp_data, nr)),
                                         kSocket[0],
                                         kSocket[1],
                                         kConnect[0],
                                         kConnect[1],
                                         kRing[0],
                                         kRing[1],
                                         {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW}}};
  const sock_fprog program = {static_cast<unsigned short>(filter.size()), filter.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs("usage: without_network PROGRAM [ARGUMENT...]\n", stderr);
    return 2;
  }
  if (!deny_sockets()) {
    std::fprintf(stderr, "without_network: no filter: %s\n", std::strerror(errno));
    return 125;
  }
  ::execvp(argv[1], argv + 1);
  std::fprintf(stderr, "without_network: cannot run %s: %s\n", argv[1], std::strerror(errno));
  return 127;
}
