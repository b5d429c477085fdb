// Modules and launches of the software device: what they refuse, and that they run.

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "tests/software_cuda/driver.h"
#include "tests/support/folder.h"

namespace software_cuda::tests {
namespace {

using Modules = DriverTest;
using Launches = DriverTest;

CUresult load(const std::string &text) {
    CUmodule module = nullptr;
    const CUresult status = cuModuleLoadData(&module, text.c_str());
    if (status == CUDA_SUCCESS) cuModuleUnload(module);
    return status;
}

TEST_F(Modules, BadOnesAreRefused) {
    CUmodule module;
    EXPECT_EQ(cuModuleLoadData(&module, nullptr), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuModuleLoadData(nullptr, kModule), CUDA_ERROR_INVALID_VALUE);
    EXPECT_NE(load(""), CUDA_SUCCESS);
    EXPECT_NE(load("image"), CUDA_SUCCESS);
    const std::string head = ".version 7.0\n.target sm_80\n.address_size 64\n";
    EXPECT_EQ(load(head + ".visible .entry e() { frobnicate.f32 %f1; ret; }"),
              CUDA_ERROR_INVALID_PTX);
    EXPECT_NE(last_line().find("frobnicate"), std::string::npos) << last_line();
    EXPECT_EQ(load(head + ".visible .entry e() { ret;"), CUDA_ERROR_INVALID_PTX);
    for (const char *end : {".shared", ".shared .align 16", ".visible .entry e() { .shared"}) {
        EXPECT_EQ(load(head + end), CUDA_ERROR_INVALID_PTX);
        EXPECT_NE(last_line().find("line 4: a shared variable"), std::string::npos) << last_line();
    }
    const std::string array = ".param .align 4 .b8 ";
    EXPECT_EQ(load(head + ".visible .entry e(" + array + "a[32764]) { ret; }"), CUDA_SUCCESS);
    EXPECT_EQ(load(head + ".visible .entry e(" + array + "a[32760], " + array + "b[8]) { ret; }"),
              CUDA_ERROR_INVALID_PTX);
    EXPECT_NE(last_line().find("more than 32764 bytes"), std::string::npos) << last_line();
    EXPECT_EQ(load(".version 99.0\n.target sm_80\n.address_size 64\n"),
              CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
    EXPECT_EQ(cuModuleLoad(&module, "/nowhere/module.ptx"), CUDA_ERROR_FILE_NOT_FOUND);
}

// Whatever a text is, it is a module or is refused.
TEST_F(Modules, DamagedTextsAreRefused) {
    std::mt19937 random(1);
    const std::string whole = kModule, characters = "{}[]();,.%@!+-:0123456789abz \n\"\x80";
    int refused = 0;
    for (int i = 0; i < 3000; i++) {
        std::string text = whole;
        for (int damages = 1 + i % 3; damages > 0; damages--) {
            const size_t place = random() % text.size();
            switch (random() % 4) {
                case 0:
                    text[place] = characters[random() % characters.size()];
                    break;
                case 1:
                    text.erase(place, 1 + random() % 8);
                    break;
                case 2:
                    text.insert(place, whole, random() % whole.size(), random() % 20);
                    break;
                default:
                    if (i % 5 == 0) text.resize(place + 1);
            }
        }
        const CUresult status = load(text);
        EXPECT_TRUE(status == CUDA_SUCCESS || status == CUDA_ERROR_INVALID_PTX ||
                    status == CUDA_ERROR_INVALID_IMAGE ||
                    status == CUDA_ERROR_UNSUPPORTED_PTX_VERSION)
            << status << "\n"
            << text;
        refused += status != CUDA_SUCCESS;
    }
    EXPECT_GT(refused, 1000);
}

TEST_F(Modules, ErrorsAreWrittenToTheLog) {
    CUmodule module;
    char text[64] = "";
    int options[] = {5, 6};  // CU_JIT_ERROR_LOG_BUFFER, …_SIZE_BYTES
    void *values[] = {text, reinterpret_cast<void *>(sizeof text)};
    EXPECT_NE(cuModuleLoadDataEx(&module, "not a module", 2, options, values), CUDA_SUCCESS);
    EXPECT_NE(text[0], 0);
    EXPECT_LT(std::string(text).size(), sizeof text);
    EXPECT_EQ(cuModuleLoadDataEx(&module, kModule, 2, nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
}

std::string text_of(const std::filesystem::path &path) {
    std::ifstream file(path);
    return std::string(std::istreambuf_iterator<char>(file), {});
}

// A line of a module that is named by its key is another one, wherever the module comes from.
TEST_F(Modules, AreEdited) {
    const std::filesystem::path folder = hk::test::own_folder();
    ASSERT_EQ(control().set("PTX", folder.c_str()), 0);
    EXPECT_EQ(load(kModule), CUDA_SUCCESS);
    ASSERT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
    const auto path = std::filesystem::directory_iterator(folder)->path();
    EXPECT_EQ(text_of(path), kModule);
    const std::string key = path.stem();
    const CUdeviceptr out = allocate(4);
    const auto value = [&](const std::string &edit) {
        EXPECT_EQ(control().set("EDIT", edit.c_str()), 0);
        EXPECT_EQ(cuModuleUnload(module_), CUDA_SUCCESS);
        EXPECT_EQ(cuModuleLoadData(&module_, kModule), CUDA_SUCCESS) << last_line();
        EXPECT_EQ(run("fill", out, 7), CUDA_SUCCESS);
        return words(out, 1)[0];
    };
    EXPECT_EQ(value(""), 7u);
    EXPECT_EQ(value(key + ":10:mov.u32 %r1, 9;"), 9u);
    EXPECT_EQ(value("0123:10:mov.u32 %r1, 9;"), 7u);
    EXPECT_EQ(control().set("EDIT", (key + ":10000:").c_str()), 0);
    EXPECT_EQ(load(kModule), CUDA_ERROR_INVALID_VALUE);
    EXPECT_NE(last_line().find("has no line 10000"), std::string::npos) << last_line();
    EXPECT_EQ(control().set("EDIT", (key + ":10:frobnicate;").c_str()), 0);
    EXPECT_EQ(load(kModule), CUDA_ERROR_INVALID_PTX);
    for (const std::string edit : {"10:ret;", "a:0:ret;", "a:b:ret;"})
        EXPECT_EQ(control().set("EDIT", edit.c_str()), 1) << edit;
    EXPECT_EQ(cuMemFree_v2(out), CUDA_SUCCESS);
}

TEST_F(Modules, FunctionsGoWithThem) {
    CUfunction first, again;
    EXPECT_EQ(cuModuleGetFunction(&first, module_, "fill"), CUDA_SUCCESS);
    EXPECT_EQ(cuModuleGetFunction(&again, module_, "fill"), CUDA_SUCCESS);
    EXPECT_EQ(first, again);
    EXPECT_EQ(cuModuleGetFunction(&again, module_, "empty"), CUDA_ERROR_NOT_FOUND);
    EXPECT_EQ(cuModuleGetFunction(&again, module_, nullptr), CUDA_ERROR_INVALID_VALUE);
    size_t bytes;
    CUdeviceptr address;
    EXPECT_EQ(cuModuleGetGlobal_v2(&address, &bytes, module_, "x"), CUDA_ERROR_NOT_FOUND);
    EXPECT_EQ(cuModuleUnload(module_), CUDA_SUCCESS);
    int value;
    EXPECT_EQ(cuFuncGetAttribute(&value, 0, first), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_EQ(cuModuleUnload(module_), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(Modules, Attributes) {
    const CUfunction fill = function("fill");
    int value = -1;
    EXPECT_EQ(cuFuncGetAttribute(&value, 0, fill), CUDA_SUCCESS);
    EXPECT_EQ(value, 1024);
    EXPECT_EQ(cuFuncGetAttribute(&value, 5, fill), CUDA_SUCCESS);
    EXPECT_EQ(value, 60);
    EXPECT_EQ(cuFuncGetAttribute(&value, 6, fill), CUDA_SUCCESS);
    EXPECT_EQ(value, 80);
    EXPECT_EQ(cuFuncGetAttribute(&value, 99, fill), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuFuncSetAttribute(fill, 4, 1), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuFuncSetAttribute(fill, 9, 101), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuFuncSetAttribute(fill, 9, 50), CUDA_SUCCESS);
    int blocks = 0;
    EXPECT_EQ(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, fill, 256, 0), CUDA_SUCCESS);
    EXPECT_EQ(blocks, 8);
    EXPECT_EQ(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, fill, 32, 65536), CUDA_SUCCESS);
    EXPECT_EQ(blocks, 2);
    EXPECT_EQ(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, fill, 2000, 0),
              CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Launches, Run) {
    const CUdeviceptr out = allocate(64);
    EXPECT_EQ(cuMemsetD8_v2(out, 0, 64), CUDA_SUCCESS);
    EXPECT_EQ(run("fill", out, 17, nullptr, 3), CUDA_SUCCESS);
    EXPECT_EQ(words(out, 4), (std::vector<uint32_t>{17, 17, 17, 0}));
    cuMemFree_v2(out);
}

TEST_F(Launches, ParametersAsABuffer) {
    const CUdeviceptr out = allocate(4);
    struct {
        CUdeviceptr out;
        unsigned value;
    } values{out, 5};
    size_t bytes = sizeof values;
    void *extra[] = {reinterpret_cast<void *>(1), &values, reinterpret_cast<void *>(2), &bytes,
                     nullptr};
    const CUfunction fill = function("fill");
    const auto launch = [&](void **parameters, void **extra) {
        return cuLaunchKernel(fill, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, extra);
    };
    EXPECT_EQ(launch(nullptr, extra), CUDA_SUCCESS);
    EXPECT_EQ(words(out, 1)[0], 5u);
    bytes = 11;
    EXPECT_EQ(launch(nullptr, extra), CUDA_ERROR_INVALID_VALUE);
    extra[0] = reinterpret_cast<void *>(7);
    EXPECT_EQ(launch(nullptr, extra), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(launch(extra, extra), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(launch(nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
    void *one_null[] = {&values.out, nullptr};
    EXPECT_EQ(launch(one_null, nullptr), CUDA_ERROR_INVALID_VALUE);
    cuMemFree_v2(out);
}

// The status of a launch of `nothing`.
struct Shape {
    unsigned grid[3], block[3];
    CUresult expected;
};

TEST_F(Launches, Limits) {
    const CUfunction nothing = function("nothing");
    control().set("RUN", "off");
    const Shape shapes[] = {
        {{1, 1, 1}, {1024, 1, 1}, CUDA_SUCCESS},
        {{0x7fffffff, 65535, 65535}, {1, 1, 64}, CUDA_SUCCESS},
        {{0, 1, 1}, {1, 1, 1}, CUDA_ERROR_INVALID_VALUE},
        {{1, 1, 0}, {1, 1, 1}, CUDA_ERROR_INVALID_VALUE},
        {{0x80000000, 1, 1}, {1, 1, 1}, CUDA_ERROR_INVALID_VALUE},
        {{1, 65536, 1}, {1, 1, 1}, CUDA_ERROR_INVALID_VALUE},
        {{1, 1, 65536}, {1, 1, 1}, CUDA_ERROR_INVALID_VALUE},
        {{1, 1, 1}, {1, 0, 1}, CUDA_ERROR_INVALID_VALUE},
        {{1, 1, 1}, {1025, 1, 1}, CUDA_ERROR_INVALID_VALUE},
        {{1, 1, 1}, {1, 1025, 1}, CUDA_ERROR_INVALID_VALUE},
        {{1, 1, 1}, {1, 1, 65}, CUDA_ERROR_INVALID_VALUE},
        {{1, 1, 1}, {33, 32, 1}, CUDA_ERROR_INVALID_VALUE},
        {{1, 1, 1}, {0x80000000, 2, 1}, CUDA_ERROR_INVALID_VALUE},
    };
    for (const auto &[grid, block, expected] : shapes) {
        EXPECT_EQ(cuLaunchKernel(nothing, grid[0], grid[1], grid[2], block[0], block[1], block[2],
                                 0, nullptr, nullptr, nullptr),
                  expected)
            << grid[0] << " " << block[0];
    }
    EXPECT_NE(last_line().find("a block of 2147483648 x 2 x 1 threads"), std::string::npos)
        << last_line();
}

TEST_F(Launches, SharedMemoryIsAskedFor) {
    const CUfunction nothing = function("nothing");
    const auto launch = [&](unsigned shared_bytes) {
        return cuLaunchKernel(nothing, 1, 1, 1, 1, 1, 1, shared_bytes, nullptr, nullptr, nullptr);
    };
    constexpr int kMostDynamic = 8;
    EXPECT_EQ(launch(49152), CUDA_SUCCESS);
    EXPECT_EQ(launch(49153), CUDA_ERROR_INVALID_VALUE);
    EXPECT_NE(last_line().find("49153 bytes of shared memory a block; nothing is allowed 49152"),
              std::string::npos)
        << last_line();
    EXPECT_EQ(cuFuncSetAttribute(nothing, kMostDynamic, 166913), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuFuncSetAttribute(nothing, kMostDynamic, -1), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuFuncSetAttribute(nothing, kMostDynamic, 166912), CUDA_SUCCESS);
    EXPECT_EQ(launch(166912), CUDA_SUCCESS);
    EXPECT_EQ(launch(166913), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(launch(UINT32_MAX), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuFuncSetAttribute(nothing, kMostDynamic, 16), CUDA_SUCCESS);
    EXPECT_EQ(launch(17), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(launch(16), CUDA_SUCCESS);
}

TEST_F(Launches, BoundsOfEntriesHold) {
    const std::string text =
        ".version 7.0\n.target sm_80\n.address_size 64\n"
        ".visible .entry most() .maxntid 64, 1, 1 { ret; }\n"
        ".visible .entry exact() .reqntid 8, 4, 1 { ret; }\n";
    CUmodule module;
    ASSERT_EQ(cuModuleLoadData(&module, text.c_str()), CUDA_SUCCESS) << last_line();
    const auto launch = [&](const char *name, unsigned x, unsigned y) {
        CUfunction function;
        EXPECT_EQ(cuModuleGetFunction(&function, module, name), CUDA_SUCCESS);
        return cuLaunchKernel(function, 1, 1, 1, x, y, 1, 0, nullptr, nullptr, nullptr);
    };
    EXPECT_EQ(launch("most", 8, 8), CUDA_SUCCESS);
    EXPECT_EQ(launch("most", 65, 1), CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
    EXPECT_EQ(launch("exact", 8, 4), CUDA_SUCCESS);
    EXPECT_EQ(launch("exact", 4, 8), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
}

TEST_F(Launches, OfAnotherContextAreRefused) {
    const CUfunction fill = function("fill");
    const CUstream first = stream();
    CUcontext second;
    ASSERT_EQ(cuCtxCreate_v2(&second, 0, 0), CUDA_SUCCESS);
    CUdeviceptr out = 0;
    unsigned value = 0;
    void *parameters[] = {&out, &value};
    EXPECT_EQ(cuLaunchKernel(fill, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr),
              CUDA_ERROR_INVALID_HANDLE);
    const CUstream of_second = stream();
    const CUevent event_of_second = event();
    EXPECT_EQ(cuEventRecord(event_of_second, first), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_EQ(cuEventRecord(event_of_second, of_second), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamWaitEvent(first, event_of_second, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuCtxDestroy_v2(second), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamSynchronize(first), CUDA_SUCCESS);
}

TEST_F(Launches, AFaultStaysInTheContext) {
    const CUdeviceptr out = allocate(8);
    const CUfunction nothing = function("nothing");
    EXPECT_EQ(run("fill", out, 1, nullptr, 3), CUDA_SUCCESS) << "it is told later";
    EXPECT_EQ(cuStreamSynchronize(nullptr), CUDA_ERROR_ILLEGAL_ADDRESS);
    EXPECT_NE(last_line().find("fill"), std::string::npos) << last_line();
    EXPECT_EQ(cuLaunchKernel(nothing, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr),
              CUDA_ERROR_ILLEGAL_ADDRESS);
    CUdeviceptr more;
    EXPECT_EQ(cuMemAlloc_v2(&more, 4), CUDA_ERROR_ILLEGAL_ADDRESS);
    CUcontext second;
    ASSERT_EQ(cuCtxCreate_v2(&second, 0, 0), CUDA_SUCCESS);
    const CUdeviceptr other = allocate(8);
    EXPECT_EQ(cuMemsetD8_v2(other, 1, 8), CUDA_SUCCESS);
    EXPECT_EQ(words(other, 1)[0], 0x01010101u) << "other contexts go on";
    cuMemFree_v2(other);
    EXPECT_EQ(cuCtxDestroy_v2(second), CUDA_SUCCESS);
    EXPECT_EQ(control().finding_count(), 1u);
}

TEST_F(Launches, AMisalignedOne) {
    const CUdeviceptr out = allocate(8);
    EXPECT_EQ(run("fill", out + 2, 1), CUDA_SUCCESS);
    EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_MISALIGNED_ADDRESS);
}

// The context is of no use then, as after other faults.
TEST_F(Launches, AnEndlessOne) {
    CUmodule module = nullptr;
    ASSERT_EQ(cuModuleLoadData(&module,
                               ".version 7.0\n.target sm_60\n.address_size 64\n"
                               ".visible .entry endless()\n{\nagain:\nbra again;\n}\n"),
              CUDA_SUCCESS);
    CUfunction endless = nullptr;
    ASSERT_EQ(cuModuleGetFunction(&endless, module, "endless"), CUDA_SUCCESS);
    EXPECT_EQ(control().set("STEPS", "-1"), 1);
    ASSERT_EQ(control().set("STEPS", "1000"), 0);
    EXPECT_EQ(cuLaunchKernel(endless, 2, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr),
              CUDA_SUCCESS);
    EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_LAUNCH_TIMEOUT);
    EXPECT_NE(last_line().find("too many steps: kernel endless, block ("), std::string::npos)
        << last_line();
    EXPECT_NE(last_line().find("line 7: bra again;"), std::string::npos) << last_line();
    EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_LAUNCH_TIMEOUT);
}

TEST_F(Launches, AreCounted) {
    const CUdeviceptr out = allocate(256);
    control().clear();
    EXPECT_EQ(run("fill", out, 1, nullptr, 64), CUDA_SUCCESS);
    EXPECT_EQ(run("fill", out, 1, nullptr, 64), CUDA_SUCCESS);
    EXPECT_EQ(cuMemFree_v2(out), CUDA_SUCCESS);
    std::string json(control().counts(nullptr, 0), ' ');
    control().counts(json.data(), json.size() + 1);
    EXPECT_NE(json.find(R"("kernel":"fill")"), std::string::npos) << json;
    EXPECT_NE(json.find(R"("launches":2)"), std::string::npos) << json;
    EXPECT_NE(json.find(R"("threads":128)"), std::string::npos) << json;
    EXPECT_NE(json.find(R"("loops":[])"), std::string::npos) << json;
    EXPECT_NE(json.find(R"("distinct":0)"), std::string::npos) << json;
}

TEST_F(Launches, TheirMemoryIsCountedOnDemand) {
    const CUdeviceptr out = allocate(256);
    ASSERT_EQ(control().set("COUNT", "on"), 0);
    control().clear();
    EXPECT_EQ(run("fill", out, 1, nullptr, 64), CUDA_SUCCESS);
    EXPECT_EQ(cuMemFree_v2(out), CUDA_SUCCESS);
    std::string json(control().counts(nullptr, 0), ' ');
    control().counts(json.data(), json.size() + 1);
    EXPECT_EQ(control().set("COUNT", ""), 0);
    EXPECT_NE(json.find(R"("distinct":8)"), std::string::npos) << json;
}

// A block of one thread that stores to what it has read by ld.global.nc.
TEST_F(Launches, ReadOnlyIsCheckedOnDemand) {
    const std::string text =
        ".version 7.0\n.target sm_60\n.address_size 64\n"
        ".visible .entry again(.param .u64 p)\n{\n.reg .b32 %r<2>;\n.reg .b64 %rd<2>;\n"
        "ld.param.u64 %rd1, [p];\nld.global.nc.b32 %r1, [%rd1];\nst.global.b32 [%rd1], %r1;\n}\n";
    CUmodule module = nullptr;
    ASSERT_EQ(cuModuleLoadData(&module, text.c_str()), CUDA_SUCCESS) << last_line();
    CUfunction again = nullptr;
    ASSERT_EQ(cuModuleGetFunction(&again, module, "again"), CUDA_SUCCESS);
    CUdeviceptr p = allocate(4);
    void *parameters[] = {&p};
    const auto findings = [&] {
        control().clear();
        EXPECT_EQ(cuLaunchKernel(again, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr),
                  CUDA_SUCCESS);
        EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
        return control().finding_count();
    };
    ASSERT_EQ(control().set("READ_ONLY", "off"), 0);
    EXPECT_EQ(findings(), 0u);
    EXPECT_EQ(control().set("READ_ONLY", "yes"), 1);
    ASSERT_EQ(control().set("READ_ONLY", "on"), 0);
    EXPECT_EQ(findings(), 1u);
    EXPECT_NE(last_line().find("store to what the kernel reads by ld.global.nc: kernel again"),
              std::string::npos)
        << last_line();
    EXPECT_EQ(cuMemFree_v2(p), CUDA_SUCCESS);
}

}  // namespace
}  // namespace software_cuda::tests
