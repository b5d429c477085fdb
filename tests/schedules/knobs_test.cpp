// What choosers say of their knobs, for every row of every table.

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "Halide.h"
#include "compiled.h"
#include "tables.h"

namespace hk::explorer {
namespace {

constexpr char kOneMultiplyAdd[] = "x86-64-linux-avx-avx2-avx512_zen4-f16c-fma-sse41";

// Of each row, layout and device one type: f32 where it is, else the first.
std::vector<const KernelInfo *> rows() {
    using Key = std::tuple<std::string, std::string, Layout, DeviceType>;
    std::map<Key, const KernelInfo *> chosen;
    std::vector<Key> order;
    for (const Table &table : tables()) {
        for (const KernelInfo &row : table.kernels) {
            const Key key{row.family, row.row, row.layout, row.device};
            const auto [at, is_new] = chosen.try_emplace(key, &row);
            if (is_new) order.push_back(key);
            if (row.type == DataType::f32) at->second = &row;
        }
    }
    std::vector<const KernelInfo *> result;
    for (const Key &key : order) result.push_back(chosen[key]);
    return result;
}

std::string error_of(const Candidate &candidate) {
    try {
        knob_space(candidate);
    } catch (const std::runtime_error &error) {
        return error.what();
    }
    return "";
}

TEST(Knobs, TablesAreThoseOfAllGenerators) {
    std::set<std::string> families;
    for (const KernelInfo *row : rows()) families.insert(row->family);
    const std::vector<std::string> generators = Halide::Internal::GeneratorRegistry::enumerate();
    EXPECT_EQ(families, std::set<std::string>(generators.begin(), generators.end()));
}

TEST(Knobs, OfRowsAreLegal) {
    for (const KernelInfo *row : rows()) {
        SCOPED_TRACE(row->name);
        schedules::KnobSpace space;
        ASSERT_NO_THROW(space = knob_space(Candidate::of(*row)));
        EXPECT_NE(space.file.find("schedules/"), std::string::npos) << space.file;
        EXPECT_GT(space.line, 0);
        for (const schedules::Knob &knob : space.knobs) {
            EXPECT_TRUE(std::is_sorted(knob.legal.begin(), knob.legal.end())) << knob.name;
            EXPECT_EQ(std::count(knob.legal.begin(), knob.legal.end(), knob.value), 1)
                << knob.name << " is " << knob.value;
        }
        for (const schedules::Estimate &estimate : space.estimates) {
            EXPECT_GT(estimate.uses, 0) << estimate.what;
            if (row->device != DeviceType::cpu) {
                EXPECT_LE(estimate.uses, estimate.has) << estimate.what;
            }
        }
    }
}

// Rows name what fits AVX-512; a build for other CPUs has the same.
TEST(Knobs, OfRowsAreLegalForAllVectors) {
    for (const char *target :
         {"x86-64-linux-sse41", "x86-64-linux-avx-avx2-f16c-fma-sse41",
          "x86-64-linux-avx-avx2-avx512-avx512_skylake-f16c-fma-sse41", kOneMultiplyAdd}) {
        for (const KernelInfo *row : rows()) {
            if (row->device != DeviceType::cpu) continue;
            SCOPED_TRACE(std::string(row->name) + " " + target);
            const Candidate candidate = Candidate::of(*row);
            const schedules::KnobListener listener;
            const auto generator = Halide::Internal::GeneratorRegistry::create(
                candidate.family, Halide::GeneratorContext(Halide::Target(target)));
            for (const auto &[name, value] : candidate.parameters())
                generator->set_generatorparam_value(name, value);
            try {
                generator->build_pipeline();
            } catch (const Halide::Error &error) {
                ADD_FAILURE() << error.what();
            }
            for (const schedules::Knob &knob : listener.space().knobs) {
                EXPECT_EQ(std::count(knob.legal.begin(), knob.legal.end(), knob.value), 1)
                    << knob.name << " is " << knob.value;
            }
        }
    }
}

TEST(Knobs, AreThoseOfTheCpu) {
    const std::string knobs = "lanes:16/8,tile_y:2/1,chunk:4,outer:2/0";
    const auto of = [&](const char *target) {
        return schedules::knobs_for(Halide::Target(target), knobs);
    };
    EXPECT_EQ(of(kOneMultiplyAdd), "lanes:8,tile_y:1,chunk:4,outer:0");
    for (const char *target : {"x86-64-linux-sse41", "x86-64-linux-avx-avx2-f16c-fma-sse41",
                               "x86-64-linux-avx512_zen5", "x86-64-linux-avx512_sapphirerapids"})
        EXPECT_EQ(of(target), "lanes:16,tile_y:2,chunk:4,outer:2") << target;
}

TEST(Knobs, SayWhatIsAllowed) {
    std::set<std::string> seen;
    for (const KernelInfo *row : rows()) {
        Candidate candidate = Candidate::of(*row);
        for (const char *schedule : {row->schedule, "root"}) {
            candidate.schedule = schedule;
            candidate.knobs.clear();
            if (!seen.insert(candidate.family + candidate.algorithm + schedule).second) continue;
            SCOPED_TRACE(candidate.family + " " + candidate.name());
            const std::vector<schedules::Knob> knobs = knob_space(candidate).knobs;
            candidate.knobs = "no_such_knob:1";
            const std::string unknown = error_of(candidate);
            EXPECT_NE(unknown.find("no knob no_such_knob in this schedule, only "),
                      std::string::npos)
                << unknown;
            if (knobs.empty()) {
                EXPECT_NE(unknown.find("none at all"), std::string::npos) << unknown;
            }
            for (const schedules::Knob &knob : knobs) {
                EXPECT_NE(unknown.find(knob.name), std::string::npos) << unknown;
                const int illegal = knob.legal.back() + 1;
                candidate.knobs = knob.name + ":" + std::to_string(illegal);
                const std::string line = error_of(candidate);
                EXPECT_NE(line.find("knob " + knob.name + " is " + std::to_string(illegal) +
                                    ", allowed: " + std::to_string(knob.legal.front())),
                          std::string::npos)
                    << line;
                EXPECT_EQ(line.find('\n'), std::string::npos) << line;
            }
        }
    }
}

}  // namespace
}  // namespace hk::explorer
