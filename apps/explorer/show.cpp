// explorer show and diff: pages of what came out of a row of the table.

#include <spawn.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <future>

#include "compiler/tools.h"
#include "hk/error.h"
#include "shown.h"
#include "tables.h"
#include "verb.h"

namespace hk::explorer {

namespace {

namespace fs = std::filesystem;

struct PageFlags {
    KernelFlags kernel;
    std::string output;
    bool open = false;

    void add_to(program::Flags &flags) {
        kernel.add_to(flags);
        flags.add("--output", output, "the page; KERNEL.html in this folder");
        flags.add("--open", open, "open it in the desktop's browser");
    }
};

constexpr const char *row_help = "FAMILY/ROW, ROW where one family has it, or a kernel's name";

// The browser stays when this program ends.
void open_page(const std::string &page) {
    const std::string path = fs::absolute(page).string();
    std::vector<char *> command = {const_cast<char *>("xdg-open"), const_cast<char *>(path.c_str()),
                                   nullptr};
    pid_t child = 0;
    if (posix_spawnp(&child, command[0], nullptr, nullptr, command.data(), environ) != 0)
        throw std::runtime_error("no xdg-open here; the page is " + path);
}

int write_page(std::vector<Shown> shown, const PageFlags &flags, std::string output) {
    if (!flags.output.empty()) output = flags.output;
    if (const fs::path parent = fs::path(output).parent_path();
        !parent.empty() && !fs::is_directory(parent))
        throw InvalidArgument("--output: there is no folder " + parent.string());
    const compiler::TemporaryFolder scratch(fs::temp_directory_path(), "explorer");
    std::vector<std::future<void>> generators;
    for (size_t i = 0; i < shown.size(); i++) {
        generators.push_back(std::async(std::launch::async, [&, i] {
            shown[i].compile(scratch.path() / std::to_string(i), shown.size() == 1);
        }));
    }
    for (std::future<void> &generator : generators) generator.get();
    nlohmann::json facts = {{"sources", HK_SOURCES}, {"kernels", nlohmann::json::array()}};
    for (const Shown &one : shown) facts["kernels"].push_back(one.facts());
    const fs::path file = scratch.path() / "facts.json";
    compiler::write_file(file, facts.dump());
    compiler::run_program({HK_PYTHON, HK_PAGE, file.string(), "--output", output});
    std::printf("%s\n", output.c_str());
    if (flags.open) open_page(output);
    return 0;
}

class ShowVerb : public Verb {
public:
    void add_to(program::Flags &flags) override {
        command_ = &flags.add_verb(
            "show", "a page of one kernel: equation, schedule, lowered code, assembly, resources");
        command_->add("row", row_, row_help).required();
        flags_.add_to(*command_);
        command_->add("--knobs", knobs_, "instead of the row's: tile_x:8,tile_k:32");
        const auto count =
            command_->add("--count", count_,
                          "also what a CUDA kernel executes, counted on the device in software");
        command_
            ->add("--case", case_,
                  "of --count: a case of bench's lists, or sizes, instead of the one of "
                  "docs/kernels.md")
            .needs(count);
    }

    int run() override {
        const KernelInfo &kernel = kernel_named(row_, flags_.kernel);
        Shown shown(kernel, knobs_);
        if (count_) shown.count(case_);
        return write_page({std::move(shown)}, flags_, std::string(kernel.name) + ".html");
    }

private:
    PageFlags flags_;
    std::string row_, knobs_, case_;
    bool count_ = false;
};

class DiffVerb : public Verb {
public:
    void add_to(program::Flags &flags) override {
        command_ = &flags.add_verb("diff", "a page of two kernels side by side");
        command_->add("row_a", row_a_, row_help).required();
        command_->add("row_b", row_b_, "another, or the same with other knobs").required();
        flags_.add_to(*command_);
        command_->add("--knobs-a", knobs_a_, "of the first, instead of its row's");
        command_->add("--knobs-b", knobs_b_, "of the second");
    }

    int run() override {
        const KernelInfo &a = kernel_named(row_a_, flags_.kernel);
        const KernelInfo &b = kernel_named(row_b_, flags_.kernel);
        return write_page({Shown(a, knobs_a_), Shown(b, knobs_b_)}, flags_,
                          std::string(a.name) + "-" + b.name + ".html");
    }

private:
    PageFlags flags_;
    std::string row_a_, row_b_, knobs_a_, knobs_b_;
};

}  // namespace

std::unique_ptr<Verb> show_verb() { return std::make_unique<ShowVerb>(); }
std::unique_ptr<Verb> diff_verb() { return std::make_unique<DiffVerb>(); }

}  // namespace hk::explorer
