// usage: without_network [--but-local] PROGRAM [ARGUMENT...]
//
// Runs a program that the kernel ends with SIGSYS as soon as it, or a child of its, makes a socket of any kind but a
// pair. What exits by itself has made none. With --but-local sockets of this machine (AF_UNIX) are let be: by one of
// them a C library asks who the user is.

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
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

constexpr std::array<sock_filter, 11> filter_of(bool but_local) {
  constexpr auto kSocket = end_at(SYS_socket);
  constexpr auto kConnect = end_at(SYS_connect);
  constexpr auto kRing = end_at(SYS_io_uring_setup);  // which could make sockets too
  constexpr sock_filter kAllow = {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW};
  std::array<sock_filter, 11> filter = {{load(offsetof(seccomp_data, arch)),
                                         {BPF_JMP | BPF_JEQ | BPF_K, 1, 0, kArchitecture},
                                         {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_KILL_PROCESS},
                                         load(offsetof(seccomp_data, nr)),
                                         kRing[0],
                                         kRing[1],
                                         kSocket[0],
                                         kSocket[1],
                                         kConnect[0],
                                         kConnect[1],
                                         kAllow}};
  if (but_local) {
    filter[6] = {BPF_JMP | BPF_JEQ | BPF_K, 0, 3, SYS_socket};
    filter[7] = load(offsetof(seccomp_data, args));
    filter[8] = {BPF_JMP | BPF_JEQ | BPF_K, 1, 0, AF_UNIX};
    filter[9] = kSocket[1];
  }
  return filter;
}

bool deny_sockets(bool but_local) {
  auto filter = filter_of(but_local);
  const sock_fprog program = {static_cast<unsigned short>(filter.size()), filter.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

}  // namespace

int main(int argc, char** argv) {
  const bool but_local = argc > 1 && std::strcmp(argv[1], "--but-local") == 0;
  char** const command = argv + (but_local ? 2 : 1);
  if (argc < 2 || *command == nullptr) {
    std::fputs("usage: without_network [--but-local] PROGRAM [ARGUMENT...]\n", stderr);
    return 2;
  }
  if (!deny_sockets(but_local)) {
    std::fprintf(stderr, "without_network: no filter: %s\n", std::strerror(errno));
    return 125;
  }
  ::execvp(*command, command);
  std::fprintf(stderr, "without_network: cannot run %s: %s\n", *command, std::strerror(errno));
  return 127;
}
