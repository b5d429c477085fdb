#include "worker.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <new>
#include <set>
#include <sstream>

#include "hk/error.h"

namespace hk::explorer {

using nlohmann::json;

namespace {

void pin(const std::vector<int> &cores) {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (const int core : cores) CPU_SET(core, &set);
    sched_setaffinity(0, sizeof set, &set);
}

// "0,4" or "0-1": cores that share one's units.
std::set<int> siblings_of(int core) {
    std::ifstream file("/sys/devices/system/cpu/cpu" + std::to_string(core) +
                       "/topology/thread_siblings_list");
    std::set<int> result;
    for (std::string part; std::getline(file, part, ',');) {
        int first = 0, last = 0;
        char dash = 0;
        std::istringstream range(part);
        range >> first;
        last = range >> dash >> last ? last : first;
        for (int i = first; i <= last; i++) result.insert(i);
    }
    return result;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

Cores Cores::of_process() {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    sched_getaffinity(0, sizeof allowed, &allowed);
    std::vector<int> all;
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &allowed)) all.push_back(i);
    if (all.empty()) return {0, {0}};
    Cores cores{all.back(), {}};
    const std::set<int> shared = siblings_of(cores.measuring);
    for (const int core : all)
        if (core != cores.measuring && !shared.contains(core)) cores.others.push_back(core);
    if (cores.others.empty()) cores.others.assign(all.begin(), all.end() - 1);
    if (cores.others.empty()) cores.others = all;
    return cores;
}

void Parent::say(const json &message) const {
    const std::string line = message.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
    for (size_t at = 0; at < line.size();) {
        const ssize_t count = write(to_, line.data() + at, line.size() - at);
        if (count < 0 && errno != EINTR) _exit(1);
        if (count > 0) at += static_cast<size_t>(count);
    }
}

void Parent::report_compiled() { say({{"phase", "compiled"}}); }

void Parent::wait_for_turn() {
    say({{"phase", "waiting"}});
    char turn = 0;
    ssize_t count = 0;
    do count = ::read(from_, &turn, 1);
    while (count < 0 && errno == EINTR);
    if (count != 1) _exit(1);
    std::vector<int> cores = {cores_.measuring};
    if (alone_) cores.insert(cores.end(), cores_.others.begin(), cores_.others.end());
    pin(cores);
}

void Cores::bind_to_others() const { pin(others); }

Workers::Workers(const Cores &cores, const Limits &limits, bool alone)
    : cores_(cores), limits_(limits), alone_(alone) {}

Workers::~Workers() {
    for (auto &[pid, child] : children_) {
        kill(pid, SIGKILL);
        waitpid(pid, nullptr, 0);
        close(child.from);
        close(child.to);
    }
}

// One more than those that compile waits for its turn, so that measuring never waits for a
// compiler that has just begun.
bool Workers::has_room() const {
    if (alone_ || (cores_.others.size() == 1 && cores_.others[0] == cores_.measuring))
        return children_.empty();
    const auto busy = std::count_if(children_.begin(), children_.end(), [](const auto &entry) {
        return entry.second.phase < Phase::waiting;
    });
    return static_cast<size_t>(busy) < cores_.others.size() &&
           children_.size() < cores_.others.size() + 3;
}

void Workers::start(size_t id, const Body &body) {
    int up[2], down[2];
    if (pipe2(up, O_CLOEXEC) != 0) throw Error(std::string("no pipe: ") + std::strerror(errno));
    if (pipe2(down, O_CLOEXEC) != 0) {
        close(up[0]);
        close(up[1]);
        throw Error(std::string("no pipe: ") + std::strerror(errno));
    }
    std::fflush(nullptr);
    const pid_t pid = fork();
    if (pid == 0) {
        close(up[0]);
        close(down[1]);
        be_child(body, up[1], down[0]);
    }
    close(up[1]);
    close(down[0]);
    if (pid < 0) {
        close(up[0]);
        close(down[1]);
        throw Error(std::string("no process: ") + std::strerror(errno));
    }
    fcntl(up[0], F_SETFL, O_NONBLOCK);
    Child &child = children_[pid];
    child.id = id;
    child.pid = pid;
    child.from = up[0];
    child.to = down[1];
    child.start = child.since = Clock::now();
}

void Workers::be_child(const Body &body, int to, int from) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGPIPE, SIG_IGN);
    for (auto &[pid, other] : children_) close(other.to);
    const int nothing = open("/dev/null", O_RDWR);
    dup2(nothing, STDIN_FILENO);
    dup2(nothing, STDOUT_FILENO);
    dup2(nothing, STDERR_FILENO);
    rlimit none{0, 0};
    setrlimit(RLIMIT_CORE, &none);
    if (limits_.bytes > 0) {
        const auto bytes = static_cast<rlim_t>(limits_.bytes);
        const rlimit most{bytes, bytes};
        setrlimit(RLIMIT_AS, &most);
    }
    pin(cores_.others);
    Parent parent(to, from, cores_, alone_);
    try {
        const json result = body(parent);
        parent.say({{"status", "ok"}, {"result", result}});
    } catch (const Failure &failure) {
        parent.say({{"status", failure.status}, {"reason", failure.what()}});
    } catch (const std::bad_alloc &) {
        parent.say({{"status", "out of memory"},
                    {"reason", "more than " + std::to_string(limits_.bytes >> 20) + " MiB"}});
    } catch (const std::exception &error) {
        parent.say({{"status", "exception"}, {"reason", error.what()}});
    } catch (...) {
        parent.say({{"status", "exception"}, {"reason", "of an unknown type"}});
    }
    _exit(0);
}

void Workers::handle(Child &child, const json &message) {
    const std::string phase = message.value("phase", "");
    if (phase == "compiled") {
        child.told.compile_seconds = seconds_since(child.start);
        child.phase = Phase::checking;
        child.since = Clock::now();
    } else if (phase == "waiting") {
        child.phase = Phase::waiting;
        child.since = Clock::now();
    } else {
        child.told.status = message.value("status", "");
        child.told.reason = message.value("reason", "");
        child.told.result = message.value("result", json());
        if (child.told.status == "exception")
            child.told.status = child.phase == Phase::compiling ? "compile error" : "failed";
    }
}

void Workers::read(Child &child) {
    char block[65536];
    for (;;) {
        const ssize_t count = ::read(child.from, block, sizeof block);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) break;
        if (count == 0) {
            child.is_over = true;
            break;
        }
        child.text.append(block, static_cast<size_t>(count));
    }
    for (size_t end; (end = child.text.find('\n')) != std::string::npos;) {
        const json message = json::parse(child.text.substr(0, end), nullptr, false);
        child.text.erase(0, end + 1);
        if (message.is_object()) handle(child, message);
    }
}

double Workers::limit_of(const Child &child) const {
    if (child.phase == Phase::waiting) return 1e9;
    return child.phase == Phase::compiling ? limits_.compile_seconds : limits_.run_seconds;
}

void Workers::end_late() {
    for (auto &[pid, child] : children_) {
        if (child.late || seconds_since(child.since) <= limit_of(child)) continue;
        child.late = true;
        kill(pid, SIGKILL);
    }
}

void Workers::give_turn() {
    Child *next = nullptr;
    for (auto &[pid, child] : children_) {
        if (child.phase == Phase::measuring) return;
        if (child.phase == Phase::waiting && (!next || child.since < next->since)) next = &child;
    }
    if (!next) return;
    next->waited = seconds_since(next->since);
    next->phase = Phase::measuring;
    next->since = Clock::now();
    const char turn = 1;
    if (write(next->to, &turn, 1) != 1) next->late = true;
}

// What is left of one whose pipe is closed.
Finished Workers::reap(Child &child) {
    int status = 0;
    waitpid(child.pid, &status, 0);
    close(child.from);
    close(child.to);
    Finished result = std::move(child.told);
    result.id = child.id;
    result.seconds = seconds_since(child.start) - child.waited;
    if (result.compile_seconds == 0) result.compile_seconds = result.seconds;
    if (!result.status.empty()) return result;
    const char *doing = child.phase == Phase::compiling  ? "compiling"
                        : child.phase == Phase::checking ? "checking"
                                                         : "measuring";
    if (child.late) {
        std::ostringstream reason;
        reason << doing << " took more than " << limit_of(child) << " s";
        result.status = "timeout";
        result.reason = reason.str();
    } else {
        result.status = "crash";
        result.reason =
            std::string("while ") + doing + ": " +
            (WIFSIGNALED(status) ? strsignal(WTERMSIG(status))
                                 : "exit status " + std::to_string(WEXITSTATUS(status)));
    }
    return result;
}

std::vector<Finished> Workers::wait(double seconds) {
    const Clock::time_point start = Clock::now();
    std::vector<Finished> result;
    do {
        give_turn();
        std::vector<pollfd> watched;
        double until = std::max(0.0, seconds - seconds_since(start));
        for (auto &[pid, child] : children_) {
            watched.push_back({child.from, POLLIN, 0});
            if (!child.late)
                until = std::min(until, limit_of(child) - seconds_since(child.since) + 1e-3);
        }
        poll(watched.data(), watched.size(), std::max(0, static_cast<int>(until * 1e3) + 1));
        for (auto &[pid, child] : children_) read(child);
        end_late();
        for (auto at = children_.begin(); at != children_.end();) {
            if (!at->second.is_over) {
                ++at;
                continue;
            }
            result.push_back(reap(at->second));
            at = children_.erase(at);
        }
    } while (result.empty() && !children_.empty() && seconds_since(start) < seconds);
    give_turn();
    return result;
}

void Workers::stop() {
    for (auto at = children_.begin(); at != children_.end();) {
        if (at->second.phase == Phase::measuring) {
            ++at;
            continue;
        }
        kill(at->first, SIGKILL);
        reap(at->second);
        at = children_.erase(at);
    }
}

json Workers::run(const Cores &cores, const Limits &limits, const Body &body) {
    Workers workers(cores, limits, true);
    workers.start(0, body);
    for (;;) {
        for (Finished &finished : workers.wait(1)) {
            if (finished.status == "ok") return std::move(finished.result);
            throw Failure(finished.status, finished.reason);
        }
    }
}

}  // namespace hk::explorer
