// What the compile cache takes for the same, and what it does with damage, limits and neighbours.

#include "compiler/cache.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <set>
#include <thread>

#include "compiler/pipeline.h"
#include "compiler/tools.h"
#include "tests/support/folder.h"

namespace hk::compiler {
namespace {

namespace fs = std::filesystem;
using Arguments = std::vector<std::string>;

class CompileCache : public testing::Test {
protected:
    const fs::path folder_ = hk::test::own_folder();
    const fs::path cache_ = folder_ / "cache", out_ = folder_ / "out";

    void SetUp() override {
        set("HK_CACHE_DIR", cache_);
        set("HK_PTXAS", HK_TEST_PTXAS);
        set("HK_FATBINARY", HK_TEST_FATBINARY);
        unsetenv("HK_CACHE");
        unsetenv("HK_CACHE_SIZE");
    }
    static void set(const char *name, const std::string &value) { setenv(name, value.c_str(), 1); }
    static std::string run(Arguments arguments) {
        arguments.insert(arguments.begin(), HK_TEST_GENERATOR);
        return run_program(arguments);
    }
    std::string compile(const Arguments &extra = {}) const {
        Arguments all = {"-f", "product", "-o", out_.string(), "-e", "object,resources"};
        all.insert(all.end(), extra.begin(), extra.end());
        const bool has_target = std::any_of(all.begin(), all.end(), [](const std::string &word) {
            return word.starts_with("target=");
        });
        if (!has_target) all.push_back("target=host");
        return run(all);
    }
    // Events of the cache so far: h hit, m miss, e evicted, d damaged.
    std::string events() const {
        const fs::path file = cache_ / "events";
        return fs::exists(file) ? read_file(file) : "";
    }
    std::set<fs::path> entries() const {
        std::set<fs::path> files;
        for (const auto &file : fs::directory_iterator(cache_))
            if (file.path().extension() == ".entry") files.insert(file.path());
        return files;
    }
    std::string object() const { return read_file(out_ / "product.o"); }
};

TEST_F(CompileCache, GivesWhatWasCompiled) {
    compile();
    const std::string compiled = object(), report = read_file(out_ / "product.json");
    fs::remove_all(out_);
    compile();
    EXPECT_EQ(events(), "mh");
    EXPECT_EQ(object(), compiled);
    EXPECT_EQ(read_file(out_ / "product.json"), report);
    set("HK_CACHE", "off");
    compile();
    EXPECT_EQ(events(), "mh");
    EXPECT_EQ(object(), compiled) << "compiled again it is something else";
}

// Each is compiled, though all that was compiled before is in the cache.
TEST_F(CompileCache, EachPartOfTheKeyMatters) {
    const std::string cuda = "target=host-cuda-cuda_capability_80-no_runtime";
    const auto tool = [&](const char *name, const std::string &original) {
        const fs::path other = folder_ / (std::string("other_") + name);
        write_file(other, "#!/bin/sh\n# another version\nexec " + original + " \"$@\"\n");
        fs::permissions(other, fs::perms::owner_all);
        return other.string();
    };
    struct Change {
        const char *name;
        Arguments extra;
        const char *variable = nullptr;
        std::string value = {};
    };
    std::vector<Change> changes = {
        {"nothing", {}},
        {"function", {"-f", "other"}},
        {"base", {"-n", "other"}},
        {"outputs", {"-e", "c_header"}},
        {"target", {"target=x86-64-linux"}},
        {"processor", {"target=x86-64-linux-tune_znver4"}},
        {"targets", {"target=x86-64-linux-sse41,x86-64-linux"}},
        {"pack", {"--pack"}},
        {"budget", {"--budget=shared:4096,registers:255"}},
        {"allowed stack", {"--allow=stack"}},
        {"allowed spills", {"--allow=spills"}},
        {"allowed dynamic shared bytes", {"--allow=dynamic_shared"}},
        {"algorithm", {"-f", "product", "negated=true"}},
        {"Halide's settings", {}, "HL_DEBUG_CODEGEN", "0"},
        {"device", {"target=host-opencl"}},
        {"schedule alone", {"target=host-opencl", "fault=stack"}},
    };
    if (fs::exists(HK_TEST_PTXAS) && fs::exists(HK_TEST_FATBINARY)) {
        changes.push_back({"CUDA", {cuda}});
        changes.push_back({"ptxas", {cuda}, "HK_PTXAS", tool("ptxas", HK_TEST_PTXAS)});
        changes.push_back(
            {"fatbinary", {cuda}, "HK_FATBINARY", tool("fatbinary", HK_TEST_FATBINARY)});
    }
    std::string wanted;
    for (const auto &[name, extra, variable, value] : changes) {
        if (variable) set(variable, value);
        compile(extra);
        EXPECT_EQ(events(), wanted += "m") << name;
        compile(extra);
        EXPECT_EQ(events(), wanted += "h") << name;
        unsetenv("HL_DEBUG_CODEGEN");
    }
    EXPECT_EQ(entries().size(), changes.size());
}

struct PipelineParts {
    Halide::ImageParam in{Halide::Float(32), 2, "in"};
    Halide::Param<float> scale{"scale"};
    Halide::Var x{"x"}, y{"y"}, xi{"xi"}, u{"u"};
    Halide::Func first{"first"}, sum{"sum"}, out{"out"};
    Halide::RDom r{0, 8, "r"};

    PipelineParts() {
        first(x, y) = in(x, y) * scale;
        sum(x, y) = 0.f;
        sum(x, y) += first(x + r, y);
        out(x, y) = sum(x, y);
        sum.compute_root().update().split(y, y, u, 4, Halide::TailStrategy::GuardWithIf);
        first.compute_at(sum, y);
    }
};

// The pipeline's bytes are the key's part that says what Halide is to make: no directive may be
// missing in them.
TEST(PipelineBytes, HoldEachDirective) {
    using namespace Halide;
    using Parts = PipelineParts;
    const std::vector<std::pair<const char *, std::function<void(Parts &)>>> directives = {
        {"vectorize", [](Parts &p) { p.out.vectorize(p.x, 8); }},
        {"tail",
         [](Parts &p) {
             Internal::StageSchedule shared = p.sum.update().get_schedule();
             shared.splits()[0].tail = TailStrategy::RoundUp;
         }},
        {"unroll", [](Parts &p) { p.out.unroll(p.x, 8); }},
        {"split", [](Parts &p) { p.out.split(p.x, p.x, p.xi, 8); }},
        {"parallel", [](Parts &p) { p.out.parallel(p.y); }},
        {"unroll of an update", [](Parts &p) { p.sum.update().unroll(p.r); }},
        {"reorder", [](Parts &p) { p.out.reorder(p.y, p.x); }},
        {"reorder_storage", [](Parts &p) { p.sum.reorder_storage(p.y, p.x); }},
        {"fuse", [](Parts &p) { p.out.fuse(p.x, p.y, p.xi); }},
        {"compute_at", [](Parts &p) { p.sum.compute_at(p.out, p.y); }},
        {"store_at", [](Parts &p) { p.first.store_root(); }},
        {"hoist_storage", [](Parts &p) { p.first.hoist_storage_root(); }},
        {"store_in", [](Parts &p) { p.sum.store_in(MemoryType::Stack); }},
        {"bound", [](Parts &p) { p.out.bound(p.x, 0, 64); }},
        {"bound_extent", [](Parts &p) { p.sum.bound_extent(p.x, 64); }},
        {"bound_storage", [](Parts &p) { p.sum.bound_storage(p.x, 64); }},
        {"align_bounds", [](Parts &p) { p.sum.align_bounds(p.x, 8); }},
        {"align_storage", [](Parts &p) { p.sum.align_storage(p.x, 8); }},
        {"fold_storage", [](Parts &p) { p.sum.fold_storage(p.y, 8); }},
        {"partition", [](Parts &p) { p.out.partition(p.x, Partition::Never); }},
        {"specialize", [](Parts &p) { p.out.specialize(p.in.width() == 8); }},
        {"prefetch", [](Parts &p) { p.out.prefetch(p.in, p.y, p.y, 2); }},
        {"allow_race_conditions", [](Parts &p) { p.sum.update().allow_race_conditions(); }},
        {"atomic", [](Parts &p) { p.sum.update().atomic(); }},
        {"gpu_blocks", [](Parts &p) { p.out.gpu_blocks(p.y); }},
        {"gpu_threads", [](Parts &p) { p.out.gpu_blocks(p.y).gpu_threads(p.x); }},
        {"in", [](Parts &p) { p.first.in(p.sum).compute_root(); }},
        {"host alignment", [](Parts &p) { p.in.set_host_alignment(64); }},
        {"stride", [](Parts &p) { p.in.dim(0).set_stride(2); }},
        {"stride of the output", [](Parts &p) { p.out.output_buffer().dim(0).set_stride(2); }},
        {"alignment of the output", [](Parts &p) { p.out.output_buffer().set_host_alignment(64); }},
        {"bounds of the output",
         [](Parts &p) { p.out.output_buffer().dim(1).set_bounds(0, p.in.dim(1).extent()); }},
        {"least value of a scalar", [](Parts &p) { p.scale.set_min_value(1.f); }},
        {"bounds of an input", [](Parts &p) { p.in.dim(0).set_bounds(0, 64); }},
    };
    for (const auto &[name, directive] : directives) {
        Parts p;
        const std::string before = serialized(Pipeline(p.out));
        EXPECT_TRUE(serialized(Pipeline(p.out)) == before) << name;
        directive(p);
        EXPECT_TRUE(serialized(Pipeline(p.out)) != before) << name;
    }
}

TEST_F(CompileCache, CompilesAgainWhatIsDamaged) {
    compile();
    const std::string compiled = object();
    const fs::path entry = *entries().begin();
    const std::string whole = read_file(entry);
    std::string flipped = whole, wanted = "m";
    flipped[whole.size() / 2] ^= 1;
    for (const std::string &damaged : {whole.substr(0, whole.size() / 2), whole.substr(0, 10),
                                       std::string(), flipped, whole + "more"}) {
        write_file(entry, damaged);
        fs::remove_all(out_);
        compile();
        EXPECT_EQ(events(), wanted += "d") << damaged.size();
        compile();
        EXPECT_EQ(events(), wanted += "h") << "not whole again";
        EXPECT_EQ(object(), compiled);
    }
}

TEST_F(CompileCache, DropsTheLeastRecentlyUsed) {
    const auto function = [&](int f) { compile({"-f", "f" + std::to_string(f), "-e", "object"}); };
    function(0);
    const uint64_t size = fs::file_size(*entries().begin());
    const fs::path first = *entries().begin();
    set("HK_CACHE_SIZE", std::to_string(4 * size + size / 2));
    for (int f = 1; f < 4; f++) function(f);
    EXPECT_EQ(entries().size(), 4u);
    function(0);  // used now
    for (int f = 4; f < 6; f++) function(f);
    EXPECT_EQ(entries().size(), 4u);
    EXPECT_TRUE(entries().contains(first));
    EXPECT_EQ(events(), "mmmmhmeme");
}

TEST_F(CompileCache, ServesProcessesAtOnce) {
    std::vector<std::thread> threads;
    std::vector<std::string> objects(12);
    for (int t = 0; t < 12; t++)
        threads.emplace_back([&, t] {
            const fs::path out = folder_ / std::to_string(t);
            run({"-f", "f" + std::to_string(t % 3), "-n", "f", "-o", out.string(), "-e", "object",
                 "target=host"});
            objects[t] = read_file(out / "f.o");
        });
    for (std::thread &thread : threads) thread.join();
    for (int t = 3; t < 12; t++) EXPECT_EQ(objects[t], objects[t - 3]);
    EXPECT_EQ(entries().size(), 3u);
    EXPECT_EQ(events().size(), 12u);
}

TEST_F(CompileCache, DoesWithoutAFolderThatItCannotWrite) {
    write_file(folder_ / "file", "");
    set("HK_CACHE_DIR", folder_ / "file" / "cache");
    const std::string text = compile();
    EXPECT_NE(text.find("warning: the compile cache"), std::string::npos) << text;
    EXPECT_EQ(text.find("warning"), text.rfind("warning")) << text;
    EXPECT_FALSE(object().empty());
}

TEST_F(CompileCache, RefusesASizeThatIsNone) {
    for (const char *size : {"4T", "much", "-1", "4GB", "99999999999999999999"}) {
        set("HK_CACHE_SIZE", size);
        try {
            compile();
            ADD_FAILURE() << size;
        } catch (const std::runtime_error &error) {
            EXPECT_NE(std::string(error.what()).find("HK_CACHE_SIZE is " + std::string(size)),
                      std::string::npos)
                << error.what();
        }
    }
}

TEST_F(CompileCache, KeepsNothingOfAFailure) {
    EXPECT_THROW(compile({"target=host-opencl", "fault=dynamic_shared"}), std::runtime_error);
    EXPECT_TRUE(entries().empty());
}

TEST_F(CompileCache, TellsItsStatistics) {
    compile();
    compile();
    const std::string text = run({"--cache-statistics"});
    for (const char *line : {"hits     1\n", "misses   1\n", "damaged  0\n", "entries  1\n"})
        EXPECT_NE(text.find(line), std::string::npos) << text;
    set("HK_CACHE", "off");
    EXPECT_EQ(run({"--cache-statistics"}), "the compile cache is off\n");
}

TEST(CacheKeys, DivisionAndOrderMatter) {
    const auto key = [](std::initializer_list<std::pair<const char *, const char *>> parts) {
        CacheKey key;
        for (const auto &[name, value] : parts) key.add(name, value);
        return key.text();
    };
    const std::set<std::string> keys = {
        key({{"a", "b"}, {"c", "d"}}),           key({{"c", "d"}, {"a", "b"}}),
        key({{"ab", ""}, {"c", "d"}}),           key({{"a", "bc"}, {"", "d"}}),
        key({{"a", "b"}, {"c", "d"}, {"", ""}}), key({})};
    EXPECT_EQ(keys.size(), 6u);
}

}  // namespace
}  // namespace hk::compiler
