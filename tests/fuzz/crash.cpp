#include "tests/fuzz/crash.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>

#include "tests/fuzz/memory.h"

// Of sanitizers; null without them.
extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)());

namespace hk::fuzz {
namespace {

constexpr std::array kSignals{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

std::array<struct sigaction, 65> previous;
std::array<std::array<char, 1024>, Block::kLanes> running;
std::array<char, 1 << 16> stack;

void print(const char *text) {
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text, std::strlen(text));
}

void print_running() {
    for (const auto &lane : running) {
        if (lane[0]) print(lane.data());
    }
}

void on_signal(int number, siginfo_t *info, void *context) {
    char text[256] = "", where[128] = "";
    if (number == SIGSEGV || number == SIGBUS) describe_address(info->si_addr, where, sizeof where);
    std::snprintf(text, sizeof text, "\nfuzz: signal %d %s\n", number, where);
    print(text);
    print_running();
    // A sanitizer tells more, and ends the process.
    const struct sigaction &before = previous[static_cast<size_t>(number)];
    if (before.sa_flags & SA_SIGINFO) return before.sa_sigaction(number, info, context);
    signal(number, SIG_DFL);
    raise(number);
}

}  // namespace

void watch_for_crashes() {
    // Of this thread; others have no need of a second stack, for recursion is not what is looked
    // for.
    stack_t other{};
    other.ss_sp = stack.data();
    other.ss_size = stack.size();
    sigaltstack(&other, nullptr);
    for (const int number : kSignals) {
        struct sigaction action {};
        action.sa_sigaction = on_signal;
        action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
        sigaction(number, &action, &previous[static_cast<size_t>(number)]);
    }
    if (__sanitizer_set_death_callback) {
        __sanitizer_set_death_callback(print_running);
    }
}

void set_running(int lane, const std::string &text) {
    auto &line = running.at(static_cast<size_t>(lane));
    std::snprintf(line.data(), line.size(), "%s\n", text.c_str());
}

}  // namespace hk::fuzz
