// Steps of a warp's race cells at once are those of each lane.
#include <gtest/gtest.h>

#include <random>

#include "software_cuda/machine/block_state.h"
#include "tests/software_cuda/form_runner.h"

namespace software_cuda::tests {

namespace {

using Random = std::mt19937_64;
using Cells = std::vector<uint64_t>;

// Few values of each part, so that parts are often the same.
uint64_t any_cell(Random &random) {
    using namespace race_cell;
    const uint64_t owner = (random() % 2 << kBlocksShift) + random() % 2, interval = random() % 3;
    return owner << kOwnerShift | interval << kIntervalShift |
           (random() & (kSeveralBlocks | kSeveralThreads)) | (random() & kKinds) << kNowShift |
           (random() & kKinds);
}

CellAccess any_access(Random &random) {
    const uint64_t kinds[] = {kRead, kWrite, kAtomic};
    return {.owner = (random() % 2 << race_cell::kBlocksShift) + random() % 2,
            .launch_shift = random() % 2 ? race_cell::kBlocksShift : 0,
            .interval = random() % 3,
            .kind = kinds[random() % 3],
            .several = false};
}

// Cells of 32 lanes, alike but for their threads: the lanes themselves, lanes of another warp, one
// thread, or any; sometimes with one that is unlike.
Cells any_cells(Random &random, uint32_t bytes, uint64_t first_thread) {
    const uint64_t cell = any_cell(random), kind = random() % 4, other = random() % 64;
    Cells cells(kLanes * bytes);
    for (uint32_t n = 0; n < cells.size(); n++) {
        const uint64_t lane = n / bytes;
        const uint64_t thread = kind == 0   ? first_thread + lane
                                : kind == 1 ? (first_thread ^ kLanes) + lane
                                : kind == 2 ? other
                                            : random() % 64;
        cells[n] = cell | thread << race_cell::kThreadShift;
    }
    if (random() % 4 == 0) cells[random() % cells.size()] = any_cell(random);
    return cells;
}

// Each byte of each lane by itself, and in which lanes there is a race.
struct Steps {
    Cells cells;
    uint32_t races = 0;
};
Steps one_by_one(const Cells &cells, uint32_t bytes, const CellAccess &access,
                 uint64_t first_thread) {
    Steps steps{cells};
    for (uint32_t n = 0; n < cells.size(); n++) {
        uint64_t race = 0;
        steps.cells[n] = cell_after(cells[n], access, first_thread + n / bytes, race);
        steps.races |= static_cast<uint32_t>(race != 0) << n / bytes;
    }
    return steps;
}

class RaceSteps : public testing::TestWithParam<InstructionSet> {
protected:
    const Interpreter &interpreter_ = interpreter_of(GetParam());
    Random random_{5};
};

TEST_P(RaceSteps, OfDenseLanesAreThoseOfEach) {
    constexpr uint64_t kOfThread = race_cell::kThreadMask << race_cell::kThreadShift;
    int done = 0;
    for (int round = 0; round < 5000; round++) {
        const uint32_t bytes = 1u << random_() % 5;
        const uint64_t first_thread = random_() % 2 * kLanes;
        const CellAccess access = any_access(random_);
        const Cells before = any_cells(random_, bytes, first_thread);
        const Steps wanted = one_by_one(before, bytes, access, first_thread);
        Cells cells = before;
        if (!interpreter_.step_cells(cells.data(), bytes, access, first_thread)) {
            ASSERT_EQ(cells, before);
            continue;
        }
        done++;
        ASSERT_EQ(wanted.races, 0u);
        // A read may leave out which thread was the last one.
        for (uint32_t n = 0; n < cells.size(); n++) {
            const uint64_t apart = cells[n] ^ wanted.cells[n];
            ASSERT_TRUE(apart == 0 ||
                        (access.kind == kRead && (apart & ~kOfThread) == 0 && cells == before))
                << std::hex << before[n] << " becomes " << cells[n] << ", not " << wanted.cells[n];
        }
    }
    EXPECT_GT(done, 1000);
}

TEST_P(RaceSteps, OfAnyLanesAreThoseOfEach) {
    int done = 0;
    for (int round = 0; round < 5000; round++) {
        const uint32_t bytes = 1u << random_() % 5, lanes = static_cast<uint32_t>(random_());
        const uint64_t first_thread = random_() % 2 * kLanes;
        const CellAccess access = any_access(random_);
        const Cells before = any_cells(random_, bytes, first_thread);
        const Steps wanted = one_by_one(before, bytes, access, first_thread);
        Cells cells = before;
        uint64_t addresses[kLanes];
        for (uint32_t lane = 0; lane < kLanes; lane++) addresses[lane] = lane * bytes;
        const uint32_t left = interpreter_.step_lanes(ByAddress(cells.data()), addresses, lanes,
                                                      bytes, access, first_thread);
        ASSERT_EQ(left & ~lanes, 0u);
        ASSERT_EQ(wanted.races & lanes & ~left, 0u);
        for (uint32_t n = 0; n < cells.size(); n++) {
            const bool stepped = (lanes & ~left) >> n / bytes & 1;
            ASSERT_EQ(cells[n], stepped ? wanted.cells[n] : before[n]);
            done += stepped;
        }
    }
    EXPECT_GT(done, 100000);
}

INSTANTIATE_TEST_SUITE_P(Each, RaceSteps, testing::ValuesIn(instruction_sets()),
                         [](const auto &info) {
                             std::string name = name_of(info.param);
                             std::erase(name, '-');
                             return name;
                         });

}  // namespace

}  // namespace software_cuda::tests
