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
    const uint64_t now = random() % 2 ? random() & kKinds : kRead;
    return owner << kOwnerShift | interval << kIntervalShift |
           (random() & (kSeveralBlocks | kSeveralThreads)) | now << kNowShift | now |
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

// Each byte of each lane by itself, one lane after the other, and in which lanes there is a race.
struct Steps {
    Cells cells;
    uint32_t races = 0;
};
Steps one_by_one(const Cells &cells, const uint64_t *addresses, uint32_t lanes, uint32_t bytes,
                 const CellAccess &access, uint64_t first_thread) {
    Steps steps{cells};
    for (uint32_t lane = 0; lane < kLanes; lane++) {
        for (uint32_t n = 0; n < bytes && lanes >> lane & 1; n++) {
            uint64_t race = 0, &cell = steps.cells[addresses[lane] + n];
            cell = cell_after(cell, access, first_thread + lane, race);
            steps.races |= static_cast<uint32_t>(race != 0) << lane;
        }
    }
    return steps;
}

// A read may leave out which thread was the last one, where it changes nothing else: of cells that
// have one reader they are as before.
bool is_the_step(uint64_t before, uint64_t after, uint64_t wanted, const CellAccess &access,
                 bool shared) {
    constexpr uint64_t kOfThread = race_cell::kThreadMask << race_cell::kThreadShift;
    return after == wanted || (access.kind == kRead && (after == before || shared) &&
                               ((after ^ wanted) & ~kOfThread) == 0);
}

class RaceSteps : public testing::TestWithParam<InstructionSet> {
protected:
    const Interpreter &interpreter_ = interpreter_of(GetParam());
    Random random_{5};
};

TEST_P(RaceSteps, OfDenseLanesAreThoseOfEach) {
    int done = 0;
    for (int round = 0; round < 5000; round++) {
        const uint32_t bytes = 1u << random_() % 5;
        const uint64_t first_thread = random_() % 2 * kLanes;
        const CellAccess access = any_access(random_);
        const Cells before = any_cells(random_, bytes, first_thread);
        uint64_t addresses[kLanes];
        for (uint32_t lane = 0; lane < kLanes; lane++) addresses[lane] = lane * bytes;
        const Steps wanted =
            one_by_one(before, addresses, ~uint32_t{0}, bytes, access, first_thread);
        Cells cells = before;
        if (!interpreter_.step_cells(cells.data(), bytes, access, first_thread)) {
            ASSERT_EQ(cells, before);
            continue;
        }
        done++;
        ASSERT_EQ(wanted.races, 0u);
        for (uint32_t n = 0; n < cells.size(); n++) {
            ASSERT_TRUE(is_the_step(before[n], cells[n], wanted.cells[n], access, false))
                << std::hex << before[n] << " becomes " << cells[n] << ", not " << wanted.cells[n];
        }
    }
    EXPECT_GT(done, 1000);
}

// Lanes that have cells of their own, or share some.
TEST_P(RaceSteps, OfAnyLanesAreThoseOfEach) {
    int done = 0, done_of_shared = 0;
    for (int round = 0; round < 5000; round++) {
        const uint32_t bytes = 1u << random_() % 5, lanes = static_cast<uint32_t>(random_());
        const uint64_t first_thread = random_() % 2 * kLanes;
        const CellAccess access = any_access(random_);
        const Cells before = any_cells(random_, bytes, first_thread);
        const bool shared = round % 2;
        uint64_t addresses[kLanes];
        for (uint32_t lane = 0; lane < kLanes; lane++)
            addresses[lane] = (shared ? random_() % 8 : lane) * bytes;
        const Steps wanted = one_by_one(before, addresses, lanes, bytes, access, first_thread);
        Cells cells = before;
        const uint32_t left = interpreter_.step_lanes(ByAddress(cells.data()), addresses, lanes,
                                                      bytes, access, first_thread);
        ASSERT_EQ(left & ~lanes, 0u);
        // What a lane that is returned does, others of its cells meet when it is stepped.
        if (shared && left) continue;
        ASSERT_EQ(wanted.races & ~left, 0u);
        for (uint32_t n = 0; n < cells.size(); n++) {
            const bool stepped = shared || (lanes & ~left) >> n / bytes & 1;
            const uint64_t of_step = stepped ? wanted.cells[n] : before[n];
            ASSERT_TRUE(is_the_step(before[n], cells[n], of_step, access, shared))
                << std::hex << before[n] << " becomes " << cells[n] << ", not " << of_step;
            done += stepped;
            done_of_shared += shared;
        }
    }
    EXPECT_GT(done, 100000);
    EXPECT_GT(done_of_shared, 10000);
}

INSTANTIATE_TEST_SUITE_P(Each, RaceSteps, testing::ValuesIn(instruction_sets()),
                         [](const auto &info) {
                             std::string name = name_of(info.param);
                             std::erase(name, '-');
                             return name;
                         });

}  // namespace

}  // namespace software_cuda::tests
