// Trains a small convolutional network to read handwritten digits, with this project's kernels.

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <optional>

#include "history.h"
#include "hk/memory_trace.h"
#include "pool_gain.h"
#include "program/file.h"
#include "program/flags.h"
#include "program/program.h"
#include "progress.h"

namespace hk::train {
namespace {

struct Arguments {
    std::string data = HK_DIGITS, device = "cpu", type = "f32", output, history, trace;
    TrainOptions options;
    int pool_gain_rounds = 0;
};

constexpr double kKilobyte = 1024;

void print_head(const Trainer &trainer, const Arguments &arguments, int ranks) {
    std::printf("%s: %lld digits to train on, %lld to test on\n%s%lld parameters, %s, %s",
                arguments.data.c_str(), static_cast<long long>(trainer.digits().train.count()),
                static_cast<long long>(trainer.digits().test.count()),
                trainer.network().description().c_str(),
                static_cast<long long>(trainer.network().parameter_count()), arguments.type.c_str(),
                arguments.options.device.name().c_str());
    if (ranks > 1) std::printf(", %d ranks", ranks);
    std::printf("\n\n%20s %15s  %26s %12s  %s\n%5s %7s %6s  %7s %7s %7s  %7s  %8s %8s %8s %9s\n",
                "train", "", "test          ", "", "memory, KB", "epoch", "loss", "top-1", "loss",
                "top-1", "top-3", "seconds", "live", "peak", "reserved", "resident");
}

void print_epoch(size_t epoch, const EpochReport &report) {
    const Memory &memory = report.memory;
    std::printf("%5zu %7.4f %6.2f  %7.4f %7.2f %7.2f  %7.3f  %8.0f %8.0f %8.0f %9.0f\n", epoch,
                report.train.loss, 100 * report.train.top1, report.test.loss,
                100 * report.test.top1, 100 * report.test.top3, report.seconds,
                static_cast<double>(memory.live) / kKilobyte,
                static_cast<double>(memory.peak) / kKilobyte,
                static_cast<double>(memory.reserved) / kKilobyte,
                static_cast<double>(memory.resident) / kKilobyte);
    std::fflush(stdout);
}

// plot.py, which needs the Python environment of setup.sh.
void draw(const std::string &history, const std::string &picture) {
    const pid_t child = fork();
    if (child < 0) throw Error("plot.py: can't start it");
    if (child == 0) {
        execl(HK_PYTHON, HK_PYTHON, HK_PLOT, history.c_str(), "--output", picture.c_str(),
              static_cast<char *>(nullptr));
        _exit(127);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (status != 0) throw Error("plot.py failed: " + picture + " is not written");
}

int print_pool_gain(const Arguments &arguments) {
    const PoolGain gain =
        pool_gain(read_digits(arguments.data), arguments.options, arguments.pool_gain_rounds);
    std::printf("%.3f s with the memory pool, %.3f s without: %.2f times as fast\n", gain.pool,
                gain.off, gain.factor());
    return 0;
}

int run(Arguments &arguments, const Ranks &ranks) {
    TrainOptions &options = arguments.options;
    options.device = Device::parse(arguments.device);
    options.type = data_type_of(arguments.type);
    if (arguments.pool_gain_rounds > 0) return print_pool_gain(arguments);
    std::optional<MemoryTrace> trace;
    if (!arguments.trace.empty() && ranks.first()) trace.emplace();
    Trainer trainer(read_digits(arguments.data), options, ranks);
    if (ranks.first()) print_head(trainer, arguments, ranks.size());
    ProgressBar bar;
    std::vector<EpochReport> epochs;
    double seconds = 0;
    while (!trainer.done()) {
        const std::string title =
            "epoch " + std::to_string(epochs.size() + 1) + "/" + std::to_string(options.epochs);
        epochs.push_back(trainer.epoch([&](int64_t step, int64_t steps, double loss) {
            if (ranks.first()) bar.show(title, step, steps, "loss " + std::to_string(loss));
        }));
        seconds += epochs.back().seconds;
        bar.clear();
        if (ranks.first()) print_epoch(epochs.size(), epochs.back());
    }
    const std::string fingerprint = trainer.fingerprint();
    if (!ranks.first()) return 0;
    std::printf("\n%zu steps in %.2f s; parameters %s\n", trainer.steps().size(), seconds,
                fingerprint.c_str());
    if (trace) {
        program::write_file(arguments.trace, trace->json());
        std::printf("wrote %s\n", arguments.trace.c_str());
    }
    std::string history = arguments.history;
    if (history.empty() && !arguments.output.empty()) history = arguments.output + ".json";
    if (!history.empty()) {
        write_history(history, options, trainer, epochs, ranks.size());
        std::printf("wrote %s\n", history.c_str());
    }
    if (!arguments.output.empty()) {
        draw(history, arguments.output);
        std::printf("wrote %s\n", arguments.output.c_str());
    }
    return 0;
}

// Where one rank fails, all end.
int run_ranks(Arguments &arguments) {
    const Ranks ranks = Ranks::started();
    try {
        share_cores(ranks);
        return run(arguments, ranks);
    } catch (const std::exception &error) {
        if (ranks.size() > 1) {
            std::cerr << "train: " << error.what() << '\n';
            ranks.abort();
        }
        throw;
    }
}

void add_options(program::Flags &flags, Arguments &arguments) {
    TrainOptions &options = arguments.options;
    flags.add("--data", arguments.data, "The digits, 64 values and the label a row").show_default();
    flags.add("--device", arguments.device, "cpu, cuda:0, opencl:0, ...").show_default();
    flags.add("--type", arguments.type, "Type of all tensors")
        .check(program::one_of({"f32", "f16", "bf16"}))
        .show_default();
    flags.add("--epochs", options.epochs).check(program::range(1, 100000)).show_default();
    flags.add("--steps", options.steps, "At most so many (default: all of the epochs)")
        .check(program::range(1, 1000000000));
    flags.add("--batch", options.batch, "Digits a step, of all ranks together")
        .check(program::range(1, 100000))
        .show_default();
    flags.add("--learning-rate", options.learning_rate, "At its highest")
        .check(program::positive())
        .show_default();
    flags.add("--momentum", options.momentum).check(program::between(0, 1)).show_default();
    flags.add("--weight-decay", options.weight_decay).check(program::not_negative()).show_default();
    flags.add("--seed", options.seed, "Of initial parameters, order and distortion").show_default();
    const program::Flag pool_gain =
        flags
            .add("--pool-gain", arguments.pool_gain_rounds,
                 "Instead: train so often with the memory pool and without, in "
                 "turn, and print what it gains")
            .check(program::range(1, 1000));
    flags.add("--history", arguments.history, "The JSON of all steps and epochs to write")
        .excludes(pool_gain);
    flags
        .add("--trace", arguments.trace,
             "The JSON of all that the pools of memory do to write (hk/memory_trace.h)")
        .excludes(pool_gain);
    flags
        .add("--output", arguments.output,
             "The PNG of loss, accuracy and memory to write (and PNG.json without --history)")
        .excludes(pool_gain);
}

}  // namespace
}  // namespace hk::train

int main(int argc, char **argv) {
    hk::train::Arguments arguments;
    hk::program::Flags flags(
        "Trains a small convolutional network to read handwritten digits. Started by mpirun, the "
        "ranks share each batch.");
    hk::train::add_options(flags, arguments);
    return hk::program::run("train", flags, argc, argv,
                            [&] { return hk::train::run_ranks(arguments); });
}
