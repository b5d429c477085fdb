// fuzz: random calls of all families, valid and hostile (docs/fuzzing.md).

#include <cstdlib>

#include "hk/error.h"
#include "program/program.h"
#include "tests/fuzz/driver.h"

namespace hk::fuzz {

namespace {

struct Arguments {
    std::string family = "all", kind = "both", device = "cpu";
    Job job{};
};

int run_all(Arguments &arguments) {
    if (arguments.job.threads > 0) return run(arguments.job) > 0;
    int findings = 0;
    bool known = false;
    for (const Family &family : families()) {
        if (arguments.family != "all" && arguments.family != family.name) continue;
        known = true;
        for (const Kind kind : {Kind::valid, Kind::hostile}) {
            const char *name = kind == Kind::valid ? "valid" : "hostile";
            if (arguments.kind != "both" && arguments.kind != name) continue;
            arguments.job.family = &family;
            arguments.job.kind = kind;
            findings += run(arguments.job);
        }
    }
    if (!known) throw InvalidArgument("no family is called " + arguments.family);
    return findings > 0;
}

}  // namespace
}  // namespace hk::fuzz

int main(int argc, char **argv) {
    using namespace hk::fuzz;
    Arguments arguments;
    hk::program::Flags flags("Random calls of the library, valid and hostile.");
    flags.add("--family", arguments.family, "One family; else all").show_default();
    flags.add("--kind", arguments.kind).check(hk::program::one_of({"valid", "hostile", "both"}));
    flags.add("--device", arguments.device, "cpu, cuda:N or opencl:N").show_default();
    flags.add("--seed", arguments.job.seed, "Of the first case; the next has the next number");
    flags.add("--count", arguments.job.count, "Cases of each family and kind")
        .check(hk::program::positive());
    flags.add("--findings", arguments.job.findings, "To give up after");
    flags
        .add("--threads", arguments.job.threads,
             "Of one process, which run valid cases of all families at once")
        .check(hk::program::range(0, Block::kLanes));
    flags.add("--seconds", arguments.job.seconds, "That one case may take");
    return hk::program::run("fuzz", flags, argc, argv, [&] {
        setenv("HK_LOG", "off", 0);
        // Only children ask it for anything: threads of a driver don't survive fork().
        const hk::Device device = arguments.job.device = hk::Device::parse(arguments.device);
        // OpenCL compiles a kernel when it first runs.
        if (!flags.given("--seconds") && device.type() == hk::DeviceType::opencl)
            arguments.job.seconds = 600;
        return run_all(arguments);
    });
}
