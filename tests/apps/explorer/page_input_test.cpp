// explorer show and diff: what they say of bad input.

#include "tests/apps/explorer/explorer_program.h"

namespace hk::test {

namespace {

TEST(ExplorerPageInput, NamesRowsThatAreNear) {
    expect_refused("show conv2d/3x3_dat",
                   "no row or kernel \"conv2d/3x3_dat\"; near it: conv2d/3x3");
    expect_refused("show 3x3_dt", "conv2d/3x3_dot");
    expect_refused("diff conv2d/3x3 conv2d/nothing", "\"conv2d/nothing\"");
}

TEST(ExplorerPageInput, NamesTheFamiliesThatShareARow) {
    expect_refused("show any", "write ");
    expect_refused("show any", "conv2d/any or ");
}

TEST(ExplorerPageInput, NamesTheKernelsOfARow) {
    expect_refused("show conv2d/3x3_dot --target cuda",
                   "conv2d/3x3_dot has no kernel cuda; it has: f32 nhwc cpu, f16 nhwc cpu, ");
    expect_refused("show conv2d/3x3_dot --layout nchw --type f32", "no kernel f32 nchw; it has: ");
    expect_refused("show conv2d_3x3_f32_nhwc_cpu --type f16", "it has: f32 nhwc cpu");
}

TEST(ExplorerPageInput, NamesLegalKnobs) {
    expect_refused("show conv2d/3x3 --knobs tile_q:7", "no knob tile_q in this schedule, only ");
    expect_refused("show conv2d/3x3 --knobs tile_y:9", "knob tile_y is 9, allowed: 1, 2, 3, 4");
    expect_refused("show conv2d/3x3 --knobs tile_y=2", "expected name:number");
    expect_refused("diff conv2d/3x3 conv2d/3x3 --knobs-b tile_y:9", "allowed: 1, 2, 3, 4");
}

TEST(ExplorerPageInput, NamesAFolderThatIsNotThere) {
    expect_refused("show conv2d/3x3 --output /nowhere/page.html", "no folder /nowhere");
}

TEST(ExplorerPageInput, FlagsAreChecked) {
    EXPECT_EQ(run_program(explorer + "show").status, 2);
    EXPECT_EQ(run_program(explorer + "show conv2d/3x3 --colour red").status, 2);
    EXPECT_EQ(run_program(explorer + "diff conv2d/3x3").status, 2);
}

}  // namespace

}  // namespace hk::test
