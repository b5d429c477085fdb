// The program as a person runs it.

#include <sys/wait.h>

#include <cstdlib>

#include "tests/apps/filter/pictures.h"

namespace hk::filter {
namespace {

struct Result {
    int status;
    std::string text;  // of both streams
};

Result run(const std::filesystem::path &here, const std::string &arguments) {
    const std::string log = here / "log.txt";
    const int status =
        std::system((std::string(HK_FILTER) + " " + arguments + " > " + log + " 2>&1").c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_text(log)};
}

TEST(Filter, DrawsAPictureOfAllDevicesThatAgree) {
    const std::filesystem::path here = test::own_folder();
    write_png(here / "in.png", test_picture(60, 45));
    const Result result = run(here, "--image " + (here / "in.png").string() + " --output " +
                                        (here / "out.png").string() + " --repeats 1");
    EXPECT_EQ(result.status, 0) << result.text;
    EXPECT_NE(result.text.find("cpu"), std::string::npos) << result.text;
    EXPECT_NE(result.text.find("GFLOP/s  conv2d_"), std::string::npos) << result.text;
    EXPECT_EQ(result.text.find("DISAGREE"), std::string::npos) << result.text;
    const Image sheet = read_image(here / "out.png");
    EXPECT_GT(sheet.width, 1000);
    EXPECT_GT(sheet.height, 700);
}

TEST(Filter, TellsWhatIsWrongWithTheImage) {
    const std::filesystem::path here = test::own_folder();
    const Result missing = run(here, "--image " + (here / "none.jpg").string());
    EXPECT_EQ(missing.status, 1);
    EXPECT_NE(missing.text.find("none.jpg: No such file"), std::string::npos) << missing.text;
    write_text(here / "text.png", "hello");
    const Result text = run(here, "--image " + (here / "text.png").string());
    EXPECT_EQ(text.status, 1);
    EXPECT_NE(text.text.find("neither a PNG nor a JPEG"), std::string::npos) << text.text;
}

TEST(Filter, TellsWhatIsWrongWithTheArguments) {
    const std::filesystem::path here = test::own_folder();
    const Result device = run(here, "--device toaster");
    EXPECT_EQ(device.status, 2);
    EXPECT_NE(device.text.find("toaster"), std::string::npos) << device.text;
    const Result output =
        run(here, "--device cpu --max-size 16 --output " + (here / "no/folder.png").string());
    EXPECT_EQ(output.status, 1);
    EXPECT_NE(output.text.find("folder.png: No such file"), std::string::npos) << output.text;
    const Result help = run(here, "--help");
    EXPECT_EQ(help.status, 0);
    EXPECT_NE(help.text.find("--image"), std::string::npos) << help.text;
}

}  // namespace
}  // namespace hk::filter
