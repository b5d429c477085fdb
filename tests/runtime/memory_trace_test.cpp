// Marks, traces, snapshots and reports of the library's memory.

#include "hk/memory_trace.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <thread>

#include "hk/error.h"
#include "hk/memory.h"
#include "hk/tensor.h"
#include "memory/json_text.h"
#include "tests/apps/program.h"
#include "tests/support/folder.h"

namespace hk {
namespace {

using Json = nlohmann::json;

enum Kind { allocate, freed, reserve, release, retry, failure, mark };

// A trace, replayed.
struct Replayed {
    explicit Replayed(const std::string &text) : json(Json::parse(text)) {
        for (size_t i = 0; i < json["pools"].size(); i++) {
            reserved[json["pools"][i]] = json["reserved"][i];
        }
        int64_t last = 0;
        for (const Json &event : json["events"]) {
            EXPECT_GE(event[0], last);
            last = event[0];
            count[event[1]]++;
            if (event[1] == mark) {
                marks.push_back(json["marks"][event[2].get<size_t>()]);
                continue;
            }
            const std::string pool = json["pools"][event[2].get<size_t>()];
            if (event[1] == allocate) {
                EXPECT_LE(event[4], event[5]);
                const std::string label = json["labels"][event[6].get<size_t>()];
                EXPECT_TRUE(live.insert({{pool, event[3]}, {label, event[4]}}).second);
                seen[label] += event[4].get<int64_t>();
            } else if (event[1] == freed) {
                EXPECT_EQ(live.erase({pool, event[3]}), 1u);
            } else if (event[1] == reserve || event[1] == release) {
                reserved[pool] += (event[1] == reserve ? 1 : -1) * event[3].get<int64_t>();
                EXPECT_EQ(event[4], reserved[pool]);
            }
        }
    }

    int64_t live_of(const std::string &label) const {
        int64_t bytes = 0;
        for (const auto &[block, what] : live) bytes += what.first == label ? what.second : 0;
        return bytes;
    }

    Json json;
    std::map<int, int> count;
    std::vector<std::string> marks;
    std::map<std::pair<std::string, uint64_t>, std::pair<std::string, int64_t>> live;
    std::map<std::string, int64_t> seen, reserved;
};

Tensor floats(int64_t count) { return Tensor({count}, DataType::f32); }

TEST(MemoryTrace, HasWhatHappened) {
    const MemoryLabel outside("outside");
    const Tensor before = floats(1000);
    const MemoryTrace trace;
    memory_mark("first");
    std::optional<Tensor> kept;
    {
        const MemoryLabel forward("forward \"1\"");
        kept = floats(2000);
        const MemoryLabel inner("inner");
        floats(3000);
    }
    memory_mark("second");
    const Tensor after = floats(4000);
    const Replayed replayed(trace.json());
    EXPECT_EQ(replayed.json["format"], "hk memory trace 1");
    EXPECT_EQ(replayed.json["complete"], true);
    EXPECT_EQ(replayed.json["pools"][0], "cpu");
    EXPECT_EQ(replayed.marks, (std::vector<std::string>{"first", "second"}));
    EXPECT_EQ(replayed.live_of("outside"), 4000 + 16000);
    EXPECT_EQ(replayed.live_of("forward \"1\""), 8000);
    EXPECT_EQ(replayed.live_of("inner"), 0);
    EXPECT_EQ(replayed.seen.at("inner"), 12000);
    EXPECT_EQ(replayed.reserved.at("cpu"), MemoryPool::of(Device::cpu()).statistics().reserved);
    kept.reset();
    EXPECT_EQ(Replayed(trace.json()).live_of("forward \"1\""), 0);
}

constexpr const char *kReplaced = "\xef\xbf\xbd";  // U+FFFD

TEST(MemoryTrace, LabelsNeedNotBeText) {
    const MemoryTrace trace;
    const MemoryLabel label("\xff label");
    const Tensor tensor = floats(500);
    memory_mark("mark \xc3(");
    const Replayed replayed(trace.json());
    EXPECT_EQ(replayed.live_of(kReplaced + std::string(" label")), 2000);
    EXPECT_EQ(replayed.marks, std::vector<std::string>{"mark " + std::string(kReplaced) + "("});
    bool found = false;
    const Json json = Json::parse(memory_snapshot());
    for (const Json &entry : json["pools"][0]["in_use"]) {
        found |= entry["label"] == kReplaced + std::string(" label");
    }
    EXPECT_TRUE(found);
}

TEST(JsonText, IsReadAsItWas) {
    const auto read = [](const std::string &value) {
        std::string text;
        detail::append_quoted(text, value);
        return Json::parse(text).get<std::string>();
    };
    for (const std::string valid :
         {"", "plain", "\"quoted\" \\ \n\t\x01\x1f\x7f", "\xc2\x80\xdf\xbf", "\xe0\xa0\x80",
          "\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf", "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf"}) {
        EXPECT_EQ(read(valid), valid);
    }
    EXPECT_EQ(read(std::string("a\0b", 3)), std::string("a\0b", 3));
    for (const std::string invalid :
         {"\x80", "\xc0\x80", "\xc1\xbf", "\xc2", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xef\xbf",
          "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xf0\x90\x80"}) {
        std::string expected;
        for (size_t i = 0; i < invalid.size(); i++) expected += kReplaced;
        EXPECT_EQ(read(invalid + "z"), expected + "z");
    }
    std::mt19937 random(1);
    for (int round = 0; round < 20000; round++) {
        std::string bytes(random() % 12, ' ');
        for (char &byte : bytes) {
            byte = static_cast<char>(random() % 2 ? random() : 0x80 + random() % 0x75);
        }
        ASSERT_NO_THROW(read(bytes)) << round;
    }
}

TEST(MemoryTrace, EndsWithItsObject) {
    std::optional<MemoryTrace> first(std::in_place), second(std::in_place);
    floats(100);
    first.reset();
    floats(100);
    EXPECT_EQ(Replayed(second->json()).count[allocate], 2);
    second.reset();
    floats(100);
    EXPECT_EQ(Replayed(MemoryTrace().json()).count[allocate], 0);
}

TEST(MemoryTrace, StopsAtTheMostEvents) {
    const MemoryTrace trace(10);
    for (int i = 0; i < 4; i++) floats(100);
    EXPECT_EQ(Json::parse(trace.json())["complete"], true);
    for (int i = 0; i < 4; i++) floats(100);
    const Json json = Json::parse(trace.json());
    EXPECT_EQ(json["complete"], false);
    EXPECT_EQ(json["events"].size(), 10u);
}

TEST(MemoryTrace, OfShortage) {
    const MemoryPool pool = MemoryPool::of(Device::cpu());
    floats(1 << 20);
    const MemoryTrace trace;
    pool.set_limit(pool.statistics().reserved + 1000);
    EXPECT_THROW(floats(int64_t{1} << 30), OutOfMemory);
    pool.set_limit(INT64_MAX);
    Replayed replayed(trace.json());
    EXPECT_EQ(replayed.count[retry], 1);
    EXPECT_GE(replayed.count[release], 1);
    EXPECT_EQ(replayed.count[failure], 1);
}

TEST(MemoryTrace, OfSeveralThreads) {
    const MemoryTrace trace;
    constexpr int threads = 4, rounds = 500;
    std::vector<std::thread> workers;
    for (int i = 0; i < threads; i++) {
        workers.emplace_back([i] {
            const MemoryLabel label(i % 2 ? "odd" : "even");
            for (int j = 0; j < rounds; j++) {
                floats(10 + j);
                if (j % 100 == 0) MemoryTrace().json();
            }
        });
    }
    for (std::thread &worker : workers) worker.join();
    Replayed replayed(trace.json());
    EXPECT_EQ(replayed.count[allocate], threads * rounds);
    EXPECT_EQ(replayed.count[freed], threads * rounds);
    EXPECT_EQ(replayed.seen.at("odd"), replayed.seen.at("even"));
}

TEST(MemorySnapshot, TellsWhoHoldsWhat) {
    const Tensor none = floats(100);
    const MemoryLabel large("large"), small("small");
    const Tensor s = floats(200), t = floats(300);
    const Tensor l = [] {
        const MemoryLabel label("large");
        return floats(100000);
    }();
    const Json json = Json::parse(memory_snapshot());
    const Json &cpu = json["pools"][0];
    EXPECT_EQ(cpu["name"], "cpu");
    const auto of = [&](const std::string &label) {
        for (const Json &entry : cpu["in_use"]) {
            if (entry["label"] == label) return entry;
        }
        return Json();
    };
    EXPECT_EQ(of("large")["requested"], 400000);
    EXPECT_EQ(of("small")["blocks"], 2);
    EXPECT_EQ(of("small")["requested"], 2000);
    EXPECT_GE(of("small")["bytes"], 2000);
    EXPECT_GE(of("")["requested"], 400);
    EXPECT_EQ(cpu["in_use"][0]["label"], "large");
    const MemoryStatistics statistics = MemoryPool::of(Device::cpu()).statistics();
    EXPECT_EQ(cpu["statistics"]["requested"], statistics.requested);
    EXPECT_EQ(cpu["statistics"]["peak_reserved"], statistics.peak_reserved);
    int64_t bytes = 0;
    for (const Json &entry : cpu["in_use"]) bytes += entry["bytes"].get<int64_t>();
    EXPECT_EQ(bytes, statistics.in_use);
}

// What a process with these settings prints that runs the test below.
test::Outcome run_child(const std::string &settings, bool leak) {
    const std::string self = std::filesystem::read_symlink("/proc/self/exe");
    return test::run_program(settings + " LEAK=" + (leak ? "1" : "0") + " '" + self +
                             "' --gtest_also_run_disabled_tests --gtest_filter='*DISABLED_Child'");
}

// Freed when static objects are, after main().
Tensor &of_static_object() {
    static Tensor tensor;
    return tensor;
}

TEST(MemoryReport, DISABLED_Child) {
    of_static_object() = floats(77);
    memory_mark("the mark \xff");
    const MemoryLabel label("kept for the backward pass");
    if (std::getenv("LEAK") == std::string("1")) {
        new Tensor(floats(1000));
        new Tensor(floats(24));
    }
    floats(1 << 20);
    MemoryPool::of(Device::cpu()).trim();
}

TEST(MemoryReport, NamesTheLabelsOfLeaks) {
    const test::Outcome leak = run_child("HK_LOG=memory ASAN_OPTIONS=detect_leaks=0", true);
    EXPECT_EQ(leak.status, 0);
    EXPECT_NE(leak.output.find("hk memory: cpu: took 65536 bytes, 65536 reserved\n"),
              std::string::npos)
        << leak.output;
    EXPECT_NE(leak.output.find("hk memory: cpu: 4 allocations, "), std::string::npos)
        << leak.output;
    EXPECT_NE(leak.output.find("hk memory: cpu: never freed: 2 blocks of 4096 bytes labelled "
                               "\"kept for the backward pass\"\n"),
              std::string::npos)
        << leak.output;
    EXPECT_EQ(leak.output.find("without a label"), std::string::npos) << leak.output;
}

TEST(MemoryReport, IsSilentWithoutLeaksAndUnlessAsked) {
    const test::Outcome tidy = run_child("HK_LOG=select,memory", false);
    EXPECT_NE(tidy.output.find("hk memory: cpu: 2 allocations, "), std::string::npos)
        << tidy.output;
    EXPECT_NE(tidy.output.find("bytes back, 65536 reserved"), std::string::npos) << tidy.output;
    EXPECT_EQ(tidy.output.find("never freed"), std::string::npos) << tidy.output;
    EXPECT_EQ(run_child("HK_LOG=select", false).output.find("hk memory"), std::string::npos);
}

TEST(MemoryReport, TraceThatFitsNotOnTheDiskLeavesTheOldOne) {
    namespace fs = std::filesystem;
    const fs::path trace = test::own_folder() / "trace.json";
    std::ofstream(trace) << "old";
    const test::Outcome outcome =
        run_child("trap '' XFSZ; ulimit -f 0; HK_MEMORY_TRACE='" + trace.string() + "'", false);
    EXPECT_NE(outcome.output.find("hk warn: HK_MEMORY_TRACE: can't write"), std::string::npos)
        << outcome.output;
    std::string text;
    std::ifstream(trace) >> text;
    EXPECT_EQ(text, "old");
    EXPECT_EQ(std::distance(fs::directory_iterator(test::own_folder()), {}), 1);
}

TEST(MemoryReport, TraceOfTheProcess) {
    namespace fs = std::filesystem;
    const fs::path &folder = test::own_folder();
    EXPECT_EQ(run_child("HK_MEMORY_TRACE='" + (folder / "of-%p.json").string() + "'", false).status,
              0);
    ASSERT_FALSE(fs::is_empty(folder));
    const fs::path path = *fs::directory_iterator(folder);
    EXPECT_EQ(path.filename().string().find('%'), std::string::npos) << path;
    std::ifstream file(path);
    Replayed replayed({std::istreambuf_iterator<char>(file), {}});
    EXPECT_EQ(replayed.marks, std::vector<std::string>{"the mark " + std::string(kReplaced)});
    EXPECT_EQ(replayed.count[allocate], 2);
    EXPECT_EQ(replayed.seen.at("kept for the backward pass"), 4 << 20);
    EXPECT_TRUE(replayed.live.empty());
    const test::Outcome bad = run_child("HK_MEMORY_TRACE=/nowhere/trace.json", false);
    EXPECT_NE(bad.output.find("hk warn: HK_MEMORY_TRACE: can't write \"/nowhere/trace.json\""),
              std::string::npos)
        << bad.output;
}

}  // namespace
}  // namespace hk
