// Sweeps of made-up candidates: what crashes, hangs, grows or is wrong is a line in the results,
// and nothing is lost or done twice when a sweep is killed.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "compiled.h"
#include "compiler/setup.h"
#include "hk/error.h"
#include "sweep_case.h"
#include "tests/support/folder.h"

namespace hk::explorer {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class SweepTest : public testing::Test {
protected:
    SweepTest() { compiler::set_up_halide(); }

    static Candidate packed() {
        return {.family = "conv2d",
                .algorithm = "packed",
                .schedule = "broadcast",
                .knobs = "",
                .fixed = {},
                .type = DataType::f32,
                .layout = Layout::nhwc,
                .device = DeviceType::cpu,
                .where = {}};
    }

    // The real schedule's knobs; a second base that no test's child takes well.
    static CaseSpace space() {
        CaseSpace result;
        result.work = 1e6;
        BaseOfCase good{.base = {"packed/broadcast", knob_space(packed()).knobs, {}},
                        .candidate = packed(),
                        .chooser = "",
                        .rows = "any",
                        .refused = ""};
        BaseOfCase bad = good;
        bad.candidate.fixed["kernel_w"] = 3;
        bad.base.name = bad.candidate.base();
        BaseOfCase refused = good;
        refused.candidate.fixed["kernel_w"] = 1;
        refused.base.name = refused.candidate.base();
        refused.refused = "kernel_w is 3, the row needs 1";
        result.bases = {good, bad, refused};
        return result;
    }

    static SweepOptions quick(double seconds) {
        SweepOptions options;
        options.budget = seconds;
        options.limits = {.compile_seconds = 0.3, .run_seconds = 0.3, .bytes = 0};
        return options;
    }

    static json time_of(const Candidate &candidate) {
        return {{"ns", 1000.0 + static_cast<double>(candidate.knobs.size())},
                {"table_ns", 1100.0},
                {"max_error", 1e-7}};
    }

    std::vector<Record> sweep(const SweepOptions &options, const Evaluate &evaluate) {
        const CaseSpace all = space();
        Journal journal(file());
        CaseSweep one("case", all, options, Cores::of_process(), false, evaluate, journal);
        one.run();
        return read_records(file());
    }

    fs::path file() const { return folder_ / "results.csv"; }

    const fs::path folder_ = test::own_folder();
};

Failure outcome_of(const Limits &limits, const Workers::Body &body) {
    try {
        Workers::run(Cores::of_process(), limits, body);
    } catch (const Failure &failure) {
        return failure;
    }
    return {"ok", ""};
}

TEST(Workers, SayHowAChildEnded) {
    const Limits limits{.compile_seconds = 0.2, .run_seconds = 0.4, .bytes = 0};
    const auto crash = outcome_of(limits, [](Parent &) -> json {
        raise(SIGSEGV);
        return {};
    });
    EXPECT_EQ(crash.status, "crash");
    EXPECT_STREQ(crash.what(), "while compiling: Segmentation fault");
    const auto killed = outcome_of(limits, [](Parent &parent) -> json {
        parent.report_compiled();
        _exit(3);
    });
    EXPECT_STREQ(killed.what(), "while checking: exit status 3");
    const auto hangs = outcome_of(limits, [](Parent &) -> json {
        for (;;) pause();
    });
    EXPECT_EQ(hangs.status, "timeout");
    EXPECT_STREQ(hangs.what(), "compiling took more than 0.2 s");
    const auto slow = outcome_of(limits, [](Parent &parent) -> json {
        parent.report_compiled();
        parent.wait_for_turn();
        for (;;) pause();
    });
    EXPECT_STREQ(slow.what(), "measuring took more than 0.4 s");
    const auto wrong =
        outcome_of(limits, [](Parent &) -> json { throw Failure("wrong", "1 is not 2"); });
    EXPECT_EQ(wrong.status, "wrong");
    const auto error =
        outcome_of(limits, [](Parent &) -> json { throw std::runtime_error("no such knob"); });
    EXPECT_EQ(error.status, "compile error");
    EXPECT_STREQ(error.what(), "no such knob");
    EXPECT_EQ(outcome_of(limits, [](Parent &) { return json(1); }).status, "ok");
}

TEST(Workers, LimitMemory) {
#if defined(__SANITIZE_ADDRESS__)
    GTEST_SKIP() << "AddressSanitizer reserves more";
#endif
    const Limits limits{.compile_seconds = 20, .run_seconds = 20, .bytes = int64_t{4} << 30};
    const auto greedy = outcome_of(
        limits, [](Parent &) -> json { return std::vector<char>(size_t{5} << 30, 1).size(); });
    EXPECT_EQ(greedy.status, "out of memory");
    EXPECT_STREQ(greedy.what(), "more than 4096 MiB");
}

// Of several at a time, each notes when it had its turn.
TEST(Workers, MeasureOneAtATimeOnTheCoreOfItsOwn) {
    const Cores cores = Cores::of_process();
    Workers workers(cores, {}, false);
    const auto now = [] {
        return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
            .count();
    };
    std::vector<std::pair<double, double>> turns;
    for (size_t started = 0; started < 4 || workers.size() > 0;) {
        while (started < 4 && workers.has_room()) {
            workers.start(started++, [&](Parent &parent) -> json {
                const int before = sched_getcpu();
                parent.report_compiled();
                parent.wait_for_turn();
                const double start = now();
                std::this_thread::sleep_for(std::chrono::milliseconds(50));
                return {
                    {"start", start}, {"end", now()}, {"before", before}, {"core", sched_getcpu()}};
            });
        }
        for (const Finished &finished : workers.wait(1)) {
            EXPECT_EQ(finished.status, "ok") << finished.reason;
            turns.emplace_back(finished.result["start"], finished.result["end"]);
            EXPECT_EQ(finished.result["core"], cores.measuring);
            if (cores.others.front() == cores.measuring) continue;
            EXPECT_NE(finished.result["before"], cores.measuring);
        }
    }
    ASSERT_EQ(turns.size(), 4u);
    std::sort(turns.begin(), turns.end());
    for (size_t i = 1; i < turns.size(); i++) EXPECT_GE(turns[i].first, turns[i - 1].second);
}

TEST(Records, AreTheSameAfterAFile) {
    const std::vector<std::string> fields = {"plain", "a,b", "say \"no\"", "two\nlines", ""};
    EXPECT_EQ(csv_line(fields), "plain,\"a,b\",\"say \"\"no\"\"\",\"two\nlines\",\r\n");
    size_t whole = 0;
    const std::string text = csv_line(fields) + csv_line({"1", "2"});
    const auto lines = parse_csv(text + "half,\"a li", &whole);
    ASSERT_EQ(lines.size(), 2u);
    EXPECT_EQ(lines[0], fields);
    EXPECT_EQ(whole, text.size());
}

TEST_F(SweepTest, JournalDropsHalfALineAndLocks) {
    Record record;
    record.of = "a";
    record.candidate = "packed/broadcast x:1,y:2";
    record.status = "ok";
    record.ns = 10;
    record.table_ns = 20;
    {
        Journal journal(file());
        journal.append(record);
        journal.append(record);
    }
    fs::resize_file(file(), fs::file_size(file()) - 3);
    Journal journal(file());
    ASSERT_EQ(journal.records().size(), 1u);
    EXPECT_EQ(journal.records()[0].candidate, record.candidate);
    EXPECT_EQ(journal.records()[0].ratio(), 2);
    const pid_t other = fork();
    if (other == 0) {
        try {
            Journal second(file());
        } catch (const InvalidArgument &) {
            _exit(2);
        }
        _exit(0);
    }
    int status = 0;
    waitpid(other, &status, 0);
    EXPECT_EQ(WEXITSTATUS(status), 2);
}

TEST_F(SweepTest, RefusesAFileThatIsNoneOfItsOwn) {
    std::ofstream(file()) << "some,other\n1,2\n";
    EXPECT_THROW(Journal journal(file()), Error);
}

TEST_F(SweepTest, GoesOnAfterCrashesHangsAndWrongAnswers) {
    int number = 0;
    SweepOptions options = quick(6);
    options.strategy = "random";  // asks for the bad base again and again
    const auto records = sweep(options, [&](const Candidate &candidate, Parent &parent) -> json {
        if (candidate.fixed.contains("kernel_w")) raise(SIGABRT);
        const auto at = candidate.knobs.find("tile_x:");
        const int x = std::atoi(candidate.knobs.c_str() + at + 7);
        if (x == 5) raise(SIGSEGV);
        if (x == 6) pause();
        parent.report_compiled();
        if (x == 8) throw Failure("wrong", "output(0) is 1, not 2");
        parent.wait_for_turn();
        number++;
        return time_of(candidate);
    });
    std::map<std::string, int> statuses;
    std::set<std::string> names;
    for (const Record &record : records) {
        statuses[record.status]++;
        EXPECT_TRUE(names.insert(record.candidate).second) << record.candidate << " twice";
        EXPECT_NEAR(record.ratio(), record.ok() ? 1100 / record.ns : 0, 1e-3);
    }
    EXPECT_EQ(number, 0) << "candidates ran in this process";
    EXPECT_EQ(statuses["does not take"], 1);
    EXPECT_GT(statuses["ok"], 10);
    int aborted = 0;
    for (const Record &record : records) aborted += record.fixed == "kernel_w=3";
    EXPECT_GE(aborted, 3);
    EXPECT_LE(aborted, 3 + static_cast<int>(Cores::of_process().others.size()) + 3);
}

TEST_F(SweepTest, PartsAreDisjointAndNoneIsMissing) {
    std::set<std::string> all;
    for (int part = 1; part <= 3; part++) {
        SweepOptions options;
        options.part = part;
        options.parts = 3;
        for (int i = 0; i < 100; i++) {
            const std::string name = "packed/broadcast tile_x:" + std::to_string(i);
            if (!options.is_ours(name)) continue;
            EXPECT_TRUE(all.insert(name).second);
        }
        EXPECT_GT(all.size(), 15u * part);
    }
    EXPECT_EQ(all.size(), 100u);
}

// Killed five times at any moment; every line that was there is there at the end, none twice, and
// the time of all runs is the budget.
TEST_F(SweepTest, LosesNothingWhenItIsKilled) {
    const auto evaluate = [](const Candidate &candidate, Parent &parent) {
        parent.report_compiled();
        parent.wait_for_turn();
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        return time_of(candidate);
    };
    std::vector<std::string> kept;
    const auto lines = [&] {
        std::ifstream in(file());
        return std::count(std::istreambuf_iterator<char>(in), {}, '\n');
    };
    for (int run = 0; run < 5; run++) {
        const pid_t child = fork();
        if (child == 0) {
            setpgid(0, 0);
            sweep(quick(60), evaluate);
            _exit(0);
        }
        // However long a busy machine takes for some.
        const auto late = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        while (lines() < std::ssize(kept) + 4 && std::chrono::steady_clock::now() < late)
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        std::this_thread::sleep_for(std::chrono::milliseconds(37 * run));
        kill(-child, SIGKILL);
        kill(child, SIGKILL);
        waitpid(child, nullptr, 0);
        std::vector<std::string> now;
        for (const Record &record : read_records(file())) now.push_back(record.candidate);
        ASSERT_GE(now.size(), kept.size());
        EXPECT_TRUE(std::equal(kept.begin(), kept.end(), now.begin()));
        EXPECT_EQ(std::set<std::string>(now.begin(), now.end()).size(), now.size());
        kept = now;
    }
    EXPECT_GT(kept.size(), 10u);
    const double spent = read_records(file()).back().at;
    EXPECT_GT(spent, 0.5);
    const auto start = std::chrono::steady_clock::now();
    sweep(quick(spent + 0.2), evaluate);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(3));
}

}  // namespace

}  // namespace hk::explorer
