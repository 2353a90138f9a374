#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "scenarios/command/command.h"
#include "scenarios/worker/workload.h"

namespace mpsprobe {
namespace {

// Below those that systems give out by themselves, above those of services.
constexpr int kFirst = 12000;
constexpr int kCount = 20000;
constexpr int kAttempts = 100;

bool is_free(int port) {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  if (listener < 0) return false;
  const int yes = 1;  // what an earlier trial left in TIME_WAIT is free
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const bool free =
      bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  close(listener);
  return free;
}

bool are_free(int first, int count) {
  for (int i = 0; i < count; ++i) {
    if (!is_free(first + i)) return false;
  }
  return true;
}

}  // namespace

int free_ports(uint64_t seed, int processes) {
  const int stride = processes + 1;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const uint64_t place = seed * 2'654'435'761 + static_cast<uint64_t>(attempt) * 7919;
    const int first = kFirst + static_cast<int>(place % (kCount - stride));
    if (are_free(first, processes)) return first;
  }
  throw SetupError("no free ports of TCP for the processes of a trial");
}

}  // namespace mpsprobe
