// Wrong kernels, in which a check finds the fault, and nothing without it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/software_cuda/machine_case.h"

namespace software_cuda {

// p0: 256 bytes that the host wrote, p1: 256 bytes that nobody wrote.
struct WrongKernel {
    const char *name, *instructions, *right;  // `right`: without the fault
    Finding::Kind kind;
    const char *message;  // a part of it
    Outcome::Status status = Outcome::kDone;
    uint32_t threads = 64, blocks = 1;

    Outcome run(const char *text, const Settings &settings) const {
        MachineCase c;
        c.settings = settings;
        c.block.x = threads;
        c.grid.x = blocks;
        const std::vector<uint8_t> bytes(256, 1);
        c.p0 = c.memory.allocate(bytes.size());
        c.p1 = c.memory.allocate(bytes.size());
        EXPECT_TRUE(c.memory.write(c.p0, bytes.data(), bytes.size()));
        return c.run(text);
    }
};

inline void PrintTo(const WrongKernel &wrong, std::ostream *out) { *out << wrong.name; }

inline std::vector<Settings> all_settings() {
    std::vector<Settings> result;
    for (const unsigned lanes : {1u, 16u, 32u}) {
        for (const Order order : {Order::kAscending, Order::kDescending, Order::kRandom}) {
            result.push_back({.check = Check::kAll,
                              .order = order,
                              .seed = 3,
                              .lanes = lanes,
                              .threads = 1,
                              .read_only = true});
        }
    }
    return result;
}

inline void expect_its_fault(const WrongKernel &wrong) {
    const Outcome outcome =
        wrong.run(wrong.instructions, {.check = Check::kAll, .threads = 1, .read_only = true});
    EXPECT_EQ(outcome.status, wrong.status);
    bool found = false;
    std::string messages;
    for (const Finding &finding : outcome.findings) {
        found |= finding.kind == wrong.kind &&
                 finding.message.find(wrong.message) != std::string::npos &&
                 finding.message.find("kernel kernel, block (") != std::string::npos;
        messages += finding.message + "\n";
    }
    EXPECT_TRUE(found) << messages;
}

inline bool is_read_only(const Finding &finding) { return finding.kind == Finding::kReadOnly; }

inline void expect_a_fault_in_any_order(const WrongKernel &wrong) {
    for (const Settings &settings : all_settings()) {
        const Outcome outcome = wrong.run(wrong.instructions, settings);
        EXPECT_EQ(outcome.status, wrong.status);
        // Which of two accesses that race is the second depends on the order.
        const bool found = wrong.kind == Finding::kReadOnly
                               ? std::ranges::any_of(outcome.findings, is_read_only)
                               : !outcome.findings.empty();
        EXPECT_TRUE(found) << settings.lanes << " lanes, order " << int(settings.order);
    }
}

inline void expect_nothing_in_the_right_kernel(const WrongKernel &wrong) {
    for (const Settings &settings : all_settings()) {
        const Outcome outcome = wrong.run(wrong.right, settings);
        EXPECT_EQ(outcome.status, Outcome::kDone);
        for (const Finding &finding : outcome.findings) {
            ADD_FAILURE() << settings.lanes << " lanes, order " << int(settings.order) << ": "
                          << finding.message;
        }
    }
}

}  // namespace software_cuda
