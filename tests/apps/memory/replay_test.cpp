// The replay of memory traces: what it reads, that its checks find what is wrong, and what the pool
// costs and holds.

#include "replay.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "tests/apps/program.h"
#include "tests/support/folder.h"

namespace hk::replay {
namespace {

std::string write(const std::string &name, const std::string &text) {
    const std::string path = test::own_file(name);
    std::ofstream(path) << text;
    return path;
}

constexpr const char *kHead =
    R"({"format": "hk memory trace 1", "pools": ["cpu", "opencl:0", "cuda:0"], "events": [)";

TEST(ReadTrace, MakesAWorkloadOfEachPool) {
    const std::string path =
        write("trace.json", std::string(kHead) +
                                "[0,0,0,7,100,128,0], [1,2,0,65536,65536], [2,0,1,7,50,128,0],"
                                "[3,6,0], [4,0,0,8,300,384,1], [5,1,0,7], [6,0,0,9,20,128,0],"
                                "[7,1,1,7]]}");
    const std::vector<Workload> workloads = read_trace(path);
    ASSERT_EQ(workloads.size(), 2u);
    const Workload &cpu = workloads[0];
    EXPECT_EQ(cpu.name, "trace.json, cpu");
    EXPECT_EQ(cpu.allocations(), 3);
    EXPECT_EQ(cpu.operations.size(), 6u);  // what is left is freed
    EXPECT_EQ(cpu.slots, 2u);
    EXPECT_EQ(cpu.live_peak, 400u);
    EXPECT_EQ(workloads[1].live_peak, 50u);
}

TEST(ReadTrace, RefusesWhatIsNone) {
    const auto expect_error = [](const std::string &path, const std::string &part) {
        try {
            read_trace(path);
            ADD_FAILURE() << path;
        } catch (const std::runtime_error &error) {
            EXPECT_EQ(std::string(error.what()).find(path), 0u) << error.what();
            EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
        }
    };
    expect_error(test::own_file("nowhere"), "can't be opened");
    expect_error(write("empty", ""), "parse error");
    expect_error(write("other", R"({"format": "x"})"), "no memory trace");
    expect_error(write("cut", std::string(kHead) + "[0,0,0"), "parse error");
    expect_error(write("twice", std::string(kHead) + "[0,0,0,7,1,128,0],[0,0,0,7,1,128,0]]}"),
                 "block 7 is handed out twice");
    expect_error(write("never", std::string(kHead) + "[0,1,0,7]]}"), "block 7 is freed");
    for (const std::string number : {"-1", "100.5", "1e300", "\"7\"", "null", "[]"}) {
        for (const std::string event :
             {"[0,@,0,7,1]", "[0,0,@,7,1]", "[0,0,0,@,1]", "[0,0,0,7,@]"}) {
            const size_t at = event.find('@');
            expect_error(write("number", std::string(kHead) + event.substr(0, at) + number +
                                             event.substr(at + 1) + "]}"),
                         "where a whole number should be");
        }
    }
    expect_error(write("pool", std::string(kHead) + "[0,0,3,7,1]]}"), "of pool 3, there are 3");
    expect_error(write("sum", std::string(kHead) + "[0,0,0,7,18446744073709551615],[0,0,0,8,1]]}"),
                 "more bytes are in use than 64 bits count");
}

TEST(RandomMix, IsTheSameForASeed) {
    const auto bytes = [](const Workload &workload) {
        size_t sum = 0;
        for (const Operation &operation : workload.operations) sum = sum * 3 + operation.bytes;
        return sum;
    };
    EXPECT_EQ(bytes(random_mix(1, 500, 50)), bytes(random_mix(1, 500, 50)));
    EXPECT_NE(bytes(random_mix(1, 500, 50)), bytes(random_mix(2, 500, 50)));
    EXPECT_EQ(random_mix(1, 500, 50).allocations(), 500);
}

// One block after the other, and what a broken allocator would do from one of them on.
class Bump final : public Allocator {
public:
    Bump(size_t step, size_t overlap_at) : step_(step), overlap_at_(overlap_at), memory_(1 << 20) {}

    void *allocate(size_t) override {
        const size_t place = count_ < overlap_at_ ? count_ : count_ - 1;
        count_++;
        return memory_.data() + place * step_;
    }
    void free(void *) override {}
    void *memory(void *handle) const override { return handle; }
    Usage usage() const override { return {1, 1, 0}; }
    size_t peak_reserved() const override { return memory_.size(); }
    size_t peak_in_use() const override { return 1; }

private:
    size_t step_, overlap_at_, count_ = 0;
    std::vector<char> memory_;
};

TEST(Check, FindsBlocksThatOverlap) {
    Workload workload;
    workload.slots = 8;
    for (uint32_t slot = 0; slot < 8; slot++) workload.operations.push_back({slot, true, 100});
    for (uint32_t slot = 0; slot < 8; slot++) workload.operations.push_back({slot, false, 100});
    Bump good(100, 100), close(99, 100), twice(128, 5);
    EXPECT_EQ(check(workload, good).fault, "");
    EXPECT_NE(check(workload, close).fault, "");
    EXPECT_NE(check(workload, twice).fault, "");
}

TEST(Check, ThePoolAndMallocAreSound) {
    const Workload workload = random_mix(3, 3000, 100);
    EXPECT_EQ(check(workload, *pool_allocator(true)).fault, "");
    EXPECT_EQ(check(workload, *pool_allocator(false)).fault, "");
    EXPECT_EQ(check(workload, *malloc_allocator()).fault, "");
}

TEST(Pool, ReservesLittleMoreThanTheRecordedTraceNeeds) {
    for (const Workload &workload : read_trace(HK_TRAIN_TRACE)) {
        const Memory memory = check(workload, *pool_allocator(true));
        EXPECT_EQ(memory.fault, "") << workload.name;
        EXPECT_LE(static_cast<double>(memory.peak_reserved),
                  1.10 * static_cast<double>(workload.live_peak))
            << workload.name;
        EXPECT_GE(memory.peak_reserved, workload.live_peak) << workload.name;
    }
}

#if !defined(__SANITIZE_ADDRESS__)
TEST(Pool, AHitTakesAtMost150Nanoseconds) {
    for (const size_t bytes : {256, 16 << 10, 1 << 20}) {
        const Hit hit = time_hit(*pool_allocator(true), bytes);
        EXPECT_LE(hit.allocate, 150) << bytes;
        EXPECT_LE(hit.free, 150) << bytes;
        EXPECT_GT(hit.allocate, 0) << bytes;
    }
}
#endif

TEST(Program, PrintsWhatIsAskedFor) {
    const test::Outcome outcome =
        test::run_program("'" HK_REPLAY "' --allocations 500 --rounds 2 '" HK_TRAIN_TRACE "'");
    EXPECT_EQ(outcome.status, 0) << outcome.output;
    for (const char *part :
         {"a hit, ns", "train.json.gz, cpu: ", "random sizes, seed 1: 500 allocations", "pool off",
          "malloc", "fragmentation"}) {
        EXPECT_NE(outcome.output.find(part), std::string::npos) << part << "\n" << outcome.output;
    }
}

TEST(Program, FailsWhereTooMuchIsReserved) {
    // One small block of a pool that takes 64 KiB at a time.
    const std::string path = write("small.json", std::string(kHead) + "[0,0,0,7,100,128,0]]}");
    const test::Outcome outcome =
        test::run_program("'" HK_REPLAY "' --require --allocations 10 --rounds 1 '" + path + "'");
    EXPECT_EQ(outcome.status, 1) << outcome.output;
    EXPECT_NE(outcome.output.find("at most 1.10"), std::string::npos) << outcome.output;
    EXPECT_EQ(test::run_program("'" HK_REPLAY "' /nowhere").status, 2);
    EXPECT_EQ(test::run_program("'" HK_REPLAY "' --live 0").status, 2);
}

}  // namespace
}  // namespace hk::replay
