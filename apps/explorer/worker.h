#pragma once
// Work in processes of its own, so that no crash, hang or memory blow-up of one takes ours down:
// several prepare at a time, one measures at a time, on a core that the others don't use.
//
// The caller must run no other thread: a child is a copy of it.

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace hk::explorer {

// The last core that this process may use measures; others prepare, not those that share the
// measuring core's units, unless there are no more.
struct Cores {
    int measuring = 0;
    std::vector<int> others;

    static Cores of_process();
    void bind_to_others() const;  // the calling process, until its end
};

struct Limits {
    double compile_seconds = 60;
    double run_seconds = 30;  // to check, and to measure, each
    int64_t bytes = 0;        // of address space; 0: no limit
};

// What a child says of itself instead of a result.
struct Failure : std::runtime_error {
    std::string status;
    Failure(std::string kind, const std::string &reason)
        : std::runtime_error(reason), status(std::move(kind)) {}
};

// Its parent, as a child sees it.
class Parent {
public:
    Parent(int to, int from, const Cores &cores, bool alone)
        : to_(to), from_(from), cores_(cores), alone_(alone) {}

    void report_compiled();  // from here on the limit of a run counts
    void wait_for_turn();    // returns on the measuring core, where nothing else measures

    // Both streams of the pipe speak in lines of JSON.
    void say(const nlohmann::json &message) const;

private:
    int to_, from_;
    const Cores &cores_;
    bool alone_;
};

// "ok" where the child returned a result; "compile error", "failed" (an exception), "crash",
// "timeout", or what its Failure says.
struct Finished {
    size_t id = 0;
    std::string status, reason;
    nlohmann::json result;
    double compile_seconds = 0, seconds = 0;  // without the wait for its turn
};

class Workers {
public:
    using Body = std::function<nlohmann::json(Parent &)>;

    // `alone`: measuring needs all cores, so nothing prepares meanwhile.
    Workers(const Cores &cores, const Limits &limits, bool alone);
    ~Workers();
    Workers(const Workers &) = delete;
    Workers &operator=(const Workers &) = delete;

    bool has_room() const;  // for another child
    size_t size() const { return children_.size(); }
    void start(size_t id, const Body &body);
    // Those that finished within that time; returns at the first.
    std::vector<Finished> wait(double seconds);
    // Ends all but the one that measures.
    void stop();

    // One child, whose failure is thrown as a Failure.
    static nlohmann::json run(const Cores &cores, const Limits &limits, const Body &body);

private:
    using Clock = std::chrono::steady_clock;
    enum class Phase { compiling, checking, waiting, measuring };
    struct Child {
        size_t id;
        pid_t pid;
        int from, to;
        Phase phase = Phase::compiling;
        Clock::time_point start, since;
        double waited = 0;
        std::string text;
        Finished told;
        bool is_over = false, late = false;
    };

    [[noreturn]] void be_child(const Body &body, int to, int from);
    void read(Child &child);
    void handle(Child &child, const nlohmann::json &message);
    void end_late();
    void give_turn();
    Finished reap(Child &child);
    double limit_of(const Child &child) const;

    Cores cores_;
    Limits limits_;
    bool alone_;
    std::map<pid_t, Child> children_;
};

}  // namespace hk::explorer
