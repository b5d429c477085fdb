// The picture of a memory trace: what it prints, and that what it names is there to be seen.

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "pictures/image.h"
#include "tests/apps/program.h"
#include "tests/support/folder.h"

namespace hk::test {
namespace {

using pictures::Colour;

Outcome draw(const std::string &trace, const std::string &picture, const std::string &flags = "") {
    return run_program(HK_DRAW_TRACE " '" + trace + "' '" + picture + "' " + flags);
}

// Five steps on the CPU: 1 MB of parameters, and 2 MB (in the second step 3) of the pass; and a
// pool that hands nothing out.
std::string steps() {
    const std::string path = own_file("steps.json");
    std::ofstream file(path);
    file
        << R"({"format": "hk memory trace 1", "complete": true, "labels": ["", "parameters", "pass"],
        "marks": ["step 1", "step 2", "step 3", "step 4", "step 5"], "pools": ["cpu", "opencl:0"], "reserved": [0, 512],
        "events": [[0,2,0,4000000,4000000],[1,0,0,1,1000000,1000064,1])";
    for (int step = 0; step < 5; step++) {
        const int us = 1000 * (step + 1);
        file << ",[" << us << ",6," << step << "],[" << us + 10 << ",0,0," << step + 2 << ","
             << (step == 1 ? 3000000 : 2000000) << ",3000064,2],[" << us + 900 << ",1,0,"
             << step + 2 << "]";
    }
    file << "]}";
    return path;
}

int count(const pictures::Image &image, const Colour &colour) {
    return static_cast<int>(std::ranges::count(image.pixels, colour));
}

TEST(DrawTrace, ShowsLabelsReservedAndThePeak) {
    const std::string picture = own_file("steps.png");
    const Outcome outcome = draw(steps(), picture);
    EXPECT_EQ(outcome.output,
              "cpu: peak 4 MB in use, step 2 (parameters 1 MB, pass 3 MB); 4 MB reserved, "
              "1.000 of it\n");
    const pictures::Image image = pictures::read_image(picture);
    EXPECT_GT(image.width, 1000);
    EXPECT_GT(image.height, 1000);  // two panels
    const int parameters = count(image, {0x1f, 0x6f, 0xb4}),
              pass = count(image, {0xd9, 0x73, 0x0d});
    const int reserved = count(image, {0x33, 0x38, 0x40});
    EXPECT_GT(parameters, 50000);
    EXPECT_GT(pass, parameters);
    EXPECT_GT(reserved, 1000);
}

TEST(DrawTrace, OfTheTrainingProgram) {
    const std::string picture = own_file("train.svg");
    const Outcome outcome = draw(HK_TRAIN_TRACE, picture, "--title 'A training run'");
    EXPECT_EQ(outcome.status, 0) << outcome.output;
    EXPECT_EQ(outcome.output.find("cpu: peak "), 0u) << outcome.output;
    std::ifstream file(picture);
    const std::string svg{std::istreambuf_iterator<char>(file), {}};
    for (const char *text :
         {"forward", "backward", "parameters", "reserved", "peak", "A training run"}) {
        EXPECT_NE(svg.find(text), std::string::npos) << text;
    }
}

TEST(DrawTrace, RefusesWhatIsNoTrace) {
    const std::string other = own_file("other.json"), cut = own_file("cut.json");
    std::ofstream(other) << R"({"format": "x"})";
    std::ofstream(cut) << R"({"format": )";
    for (const std::string &path : {other, cut, own_file("nowhere")}) {
        const Outcome outcome = draw(path, own_file("none.png"));
        EXPECT_EQ(outcome.status, 1) << outcome.output;
        EXPECT_EQ(outcome.output.find("draw_trace: " + path + ": "), 0u) << outcome.output;
    }
    const Outcome outcome = draw(steps(), own_file("none.png"), "--pool opencl:0");
    EXPECT_EQ(outcome.status, 1);
    EXPECT_NE(outcome.output.find("it has no blocks of opencl:0"), std::string::npos);
}

}  // namespace
}  // namespace hk::test
