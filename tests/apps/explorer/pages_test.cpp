// The pages of explorer show and diff, in a browser without a network.

#include <fstream>
#include <sstream>

#include "tests/apps/explorer/explorer_program.h"

namespace hk::test {

namespace {

std::string read(const std::string &file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
}

std::string replace_all(std::string text, const std::string &from, const std::string &to) {
    for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
        text.replace(at, from.size(), to);
    return text;
}

// Writes a page and returns its path.
std::string write_page(const std::string &arguments) {
    const std::string page = own_file("page.html");
    std::filesystem::remove(page);
    const Outcome outcome = run_program(explorer + arguments + " --output '" + page + "'");
    EXPECT_EQ(outcome.status, 0) << arguments << '\n' << outcome.output;
    EXPECT_EQ(outcome.output, page + "\n");
    return page;
}

const std::string sections =
    "--id overview --id algorithm --id schedule --id conceptual --id lowered --id code ";

TEST(ExplorerShow, PageOfACpuKernel) {
    const std::string page = write_page("show conv2d/3x3");
    EXPECT_EQ(
        faults_of(page, sections +
                            "--drawn equation --drawn resources --drawn knobs --drawn counts "
                            "--text 'conv2d_3x3_f32_nhwc_cpu' "
                            "--text 'sum over c, s, r of weight(c, s, r, k, g)' "
                            "--text 'vector registers' --text 'multiply-adds' "
                            "--text 'fix_kernel_w' --text 'window<=1048576' "
                            "--at algorithm --drawn algorithm --text 'Conv2d conv2d_packed(' "
                            "--at schedule --drawn schedule --text 'void broadcast(Conv2d &stages' "
                            "--text 'PackedTile choose(const Conv2dContext &context)' "
                            "--at conceptual --drawn conceptual --text 'produce sum' "
                            "--at lowered --drawn lowered-page "
                            "--text 'func conv2d_3x3_f32_nhwc_cpu(' "
                            "--at code --drawn code --text '.globl conv2d_3x3_f32_nhwc_cpu' "
                            "--at line-40 --drawn code --drawn line-40"),
        "");
    EXPECT_EQ(faults_of(page + "#line-40", "--drawn code --drawn line-40 --dark"), "");
}

TEST(ExplorerShow, PageOfAnOpenClKernel) {
    if (!HK_WITH_OPENCL) GTEST_SKIP() << "no OpenCL kernels in this build";
    const std::string page = write_page("show conv2d/3x3 --target opencl --type f16 --layout nchw");
    EXPECT_EQ(
        faults_of(page, sections + "--drawn resources --text 'conv2d_3x3_f16_nchw_opencl' "
                                   "--text 'shared bytes a block, of the budget' --text '22784' "
                                   "--at code --text '__kernel void'"),
        "");
}

TEST(ExplorerShow, PageOfACudaKernel) {
    if (!HK_WITH_CUDA) GTEST_SKIP() << "no CUDA kernels in this build";
    const std::string page = write_page("show conv2d/3x3 --target cuda");
    EXPECT_EQ(
        faults_of(page, sections + "--drawn resources --text 'shared bytes a block, of 48 KiB' "
                                   "--text 'threads a block 256' --text 'shared loads' "
                                   "--at code --text '.visible .entry' --text 'fma.rn.f32' "
                                   "--at conceptual --text 'in GPUShared' "
                                   "--at lowered --drawn lowered-page --text 'halide_cuda_run'"),
        "");
}

TEST(ExplorerShow, SaysWhoSetAKnob) {
    EXPECT_EQ(faults_of(write_page("show conv2d/3x3 --knobs tile_x:5"),
                        "--text 'tile_x 5 you' --text 'tile_y 1 chooser'"),
              "");
    EXPECT_EQ(faults_of(write_page("show conv2d/1x1 --target cpu"), "--text 'chunk 4 row'"), "");
}

// Slices of twice as many channels take twice the shared bytes.
TEST(ExplorerShow, MarksWhatIsOverBudget) {
    if (!HK_WITH_OPENCL) GTEST_SKIP() << "no OpenCL kernels in this build";
    const std::string page = write_page("show conv2d/3x3 --target opencl --knobs tile_c:16");
    EXPECT_EQ(faults_of(page, "--text '200 % 45568 22784'"), "");
    EXPECT_NE(read(page).find("class=over"), std::string::npos);
}

TEST(ExplorerShow, OpensThePage) {
    const std::string program = own_file("xdg-open");
    std::ofstream(program) << "#!/bin/sh\necho \"opened $1\"\n";
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    const std::filesystem::path folder = std::filesystem::path(program).parent_path();
    const Outcome outcome = run_program("cd '" + folder.string() + "' && PATH=\"$PWD:$PATH\" " +
                                        explorer + "show sgd_plain_f32_cpu --open");
    EXPECT_EQ(outcome.status, 0);
    EXPECT_NE(outcome.output.find("opened " + (folder / "sgd_plain_f32_cpu.html").string() + "\n"),
              std::string::npos)
        << outcome.output;
    EXPECT_TRUE(std::filesystem::exists(folder / "sgd_plain_f32_cpu.html"));
}

TEST(ExplorerShow, TheCommandRepeatsIt) {
    const std::string page = read(write_page("show sgd_plain_f32_cpu"));
    const std::string start = "id=\"command\">";
    const size_t first = page.find(start) + start.size(), end = page.find("</pre>", first);
    ASSERT_NE(page.find(start), std::string::npos);
    std::string command = page.substr(first, end - first);
    command = replace_all(replace_all(command, "&#x27;", "'"), "&quot;", "\"");
    const std::filesystem::path folder = own_file("repeated");
    std::filesystem::create_directories(folder);
    const Outcome outcome = run_program("cd '" + folder.string() + "' && " + command);
    EXPECT_EQ(outcome.status, 0) << command << '\n' << outcome.output;
    EXPECT_TRUE(std::filesystem::exists(folder / "sgd_plain_f32_cpu.s"));
    EXPECT_TRUE(std::filesystem::exists(folder / "sgd_plain_f32_cpu.stmt.html"));
}

TEST(ExplorerDiff, MarksWhatDiffers) {
    // Of AVX-512 a block of 16 filters is one vector, of AVX2 two.
    const std::string registers =
        __builtin_cpu_supports("avx512f") ? "6 of 32 8 of 32" : "11 of 16 15 of 16";
    const std::string page =
        write_page("diff conv2d/3x3 conv2d/3x3 --type bf16 --knobs-b tile_x:6");
    EXPECT_EQ(faults_of(page,
                        "--id schedule --drawn facts --text 'knob tile_x 4 6' "
                        "--text 'estimated vector registers " +
                            registers +
                            "' "
                            "--at schedule --text 'Schedule, the same on both sides' "
                            "--at conceptual --text 'equal lines' "
                            "--at code --text 'equal lines' --text 'lines differ on the left'"),
              "");
    EXPECT_NE(read(page).find("<tr class=different><td>knob tile_x</td>"), std::string::npos);
    EXPECT_EQ(read(page).find("<tr class=different><td>knob tile_y</td>"), std::string::npos);
}

TEST(ExplorerDiff, OfTwoRows) {
    const std::string page = write_page("diff conv2d/3x3 conv2d/3x3_dot");
    EXPECT_EQ(faults_of(page,
                        "--drawn facts --text 'algorithm packed dot' "
                        "--at schedule --text 'schedules/conv2d/cpu/broadcast.cpp' "
                        "--text 'schedules/conv2d/cpu/dot.cpp' --text 'lines differ on the left'"),
              "");
}

TEST(ExplorerDiff, OfTwoDevices) {
    if (!HK_WITH_CUDA || !HK_WITH_OPENCL)
        GTEST_SKIP() << "this build has one kind of GPU kernel at most";
    const std::string page = write_page("diff conv2d_3x3_f32_nhwc_cuda conv2d_3x3_f32_nhwc_opencl");
    EXPECT_EQ(faults_of(page,
                        "--text 'device cuda opencl' --text 'registers 59 unknown' "
                        "--text 'PTX and OpenCL'"),
              "");
}

TEST(ExplorerDiff, OfAKernelWithItselfIsEqual) {
    const std::string page = write_page("diff sgd_plain_f32_cpu sgd_plain_f32_cpu");
    EXPECT_EQ(read(page).find("class=different"), std::string::npos);
    EXPECT_EQ(faults_of(page, "--at conceptual --text 'Equal.' --at code --text 'Equal.'"), "");
}

// The browser's script finds faults.

std::string faults_in(const std::string &body) {
    const std::string page = own_file("page.html");
    std::ofstream(page) << "<!DOCTYPE html><link rel=icon href='data:,'><body>" << body;
    return faults_of(page, "--patience 0 --drawn made --text 'two words'");
}

TEST(Browser, PassesWhatIsThere) {
    EXPECT_EQ(
        faults_in("<script>document.body.innerHTML = '<p id=made>two\\n <b>words</b>'</script>"),
        "");
    EXPECT_EQ(faults_in("<p id=made>one <iframe srcdoc='<p>two words'></iframe>"), "");
}

TEST(Browser, FindsFaults) {
    const std::string fine = "<p id=made>two words</p>";
    const std::pair<std::string, std::string> faults[] = {
        {"<p>two words", "no element has the id made"},
        {"<p>two words<p id=made hidden>", "made is not drawn"},
        {"<p id=made>two <i hidden>words</i>", "no text \"two words\""},
        {fine + "<script>missing()</script>", "uncaught ReferenceError"},
        {fine + "<script>console.error('broken')</script>", "broken"},
        {fine + "<iframe srcdoc='<script>console.error(1)</script>'></iframe>", "the console: 1"},
        {fine + "<script src='https://example.org/a.js'></script>", "asks for https://example.org"},
        {fine + "<img src=picture.png>", "picture.png"},
        {"<p>two words<img id=made width=9 height=9 src='data:image/png;base64,AAAA'>",
         "not drawn"},
    };
    for (const auto &[body, fault] : faults)
        EXPECT_NE(faults_in(body).find(fault), std::string::npos) << body << '\n'
                                                                  << faults_in(body);
}

}  // namespace

}  // namespace hk::test
