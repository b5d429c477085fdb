// explain: which row of the table a problem takes on each target that is built, what the row needs,
// the ladder of fallbacks, and why the others were rejected. --count: what CUDA's row executes,
// counted on the device in software. Bad input makes the exit status 2.

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <iostream>
#include <nlohmann/json.hpp>

#include "choice.h"
#include "program/program.h"
#include "report.h"

namespace hk::explain {

namespace {

// A family, as a verb, and the flags that were given.
struct Verb {
    explicit Verb(bench::Family of)
        : family(std::move(of)), problem(family.problem()), fields(problem->fields()) {
        choice.family = family.name;
    }

    bench::Family family;
    std::unique_ptr<bench::Problem> problem;
    std::vector<bench::Field> fields;
    bench::Choice choice;
    std::vector<std::string> given;  // texts, in the order of the fields
    std::deque<bool> switched;       // likewise; flags without a value
    const program::Flags *flags = nullptr;
};

std::string flag_of(std::string name) {
    std::ranges::replace(name, '_', '-');
    return "--" + name;
}

void add_flags(Verb &verb, program::Flags &flags) {
    std::string types;
    for (const DataType type : verb.family.types)
        types += (types.empty() ? "" : ", ") + std::string(name_of(type));
    flags.add("--type", verb.choice.type, "of the input; the first of " + types);
    if (verb.family.output_types)
        flags.add("--output-type", verb.choice.output_type, "the input's usual one");
    if (verb.family.layouts.front() != Layout::any)
        flags.add("--layout", verb.choice.layout, "nhwc or nchw; nhwc");
    verb.given.reserve(verb.fields.size());  // the flags keep their addresses
    for (const bench::Field &field : verb.fields) {
        std::string &text = verb.given.emplace_back(field.text);
        bool &switched = verb.switched.emplace_back(false);
        if (field.is_switch) {
            flags.add(flag_of(field.name), switched, field.help);
            continue;
        }
        program::Flag flag = flags.add(flag_of(field.name), text, field.help);
        field.required ? flag.required() : flag.show_default();
    }
    verb.flags = &flags;
}

// "conv2d f32 nhwc: input [1, 8, 8, 3], …, output [1, 6, 6, 4]; stride 2"
std::string words_of(const Verb &verb, const bench::Settings &settings) {
    std::string text = verb.family.name + " " + std::string(name_of(settings.type));
    if (settings.output_type != settings.type)
        text += " to " + std::string(name_of(settings.output_type));
    if (settings.layout != Layout::any) text += " " + std::string(name_of(settings.layout));
    const char *separator = ": ";
    for (const bench::Operand &operand : verb.problem->operands()) {
        text += separator + operand.name + " " + to_string(operand.shape);
        separator = ", ";
    }
    separator = "; ";
    for (size_t i = 0; i < verb.fields.size(); ++i) {
        const bench::Field &field = verb.fields[i];
        if (field.required || verb.given[i] == field.text) continue;
        text += separator + field.name + (field.is_switch ? "" : " " + verb.given[i]);
        separator = ", ";
    }
    return text + verb.problem->note();
}

void explain(Verb &verb, bool count, bool json) {
    bench::Settings settings;
    bench::choose(verb.choice, settings);
    verb.problem->set(settings);
    for (size_t i = 0; i < verb.fields.size(); ++i) {
        if (verb.switched[i]) verb.given[i] = "1";
        verb.fields[i].read(verb.given[i]);
    }
    verb.problem->prepare(settings.layout);
    const auto choices = choices_of(*verb.problem, count);
    if (json) {
        std::cout << to_json(choices).dump(1) << '\n';
    } else {
        print(words_of(verb, settings), choices);
    }
}

}  // namespace
}  // namespace hk::explain

int main(int argc, char **argv) {
    hk::program::Flags flags("Which kernel takes a problem, on each target, and what it needs");
    std::vector<hk::bench::Family> families = hk::bench::families();
    std::vector<std::unique_ptr<hk::explain::Verb>> verbs;
    bool count = false, json = false;
    int64_t shared_limit = -1;
    for (hk::bench::Family &family : families) {
        if (!family.has_rows) continue;
        auto &verb = *verbs.emplace_back(std::make_unique<hk::explain::Verb>(std::move(family)));
        hk::program::Flags &own = flags.add_verb(verb.family.name, verb.family.description);
        hk::explain::add_flags(verb, own);
        own.add("--shared-limit", shared_limit,
                "most bytes of shared memory a block, as HK_SHARED_LIMIT")
            .check(hk::program::not_negative());
        own.add("--count", count,
                "run CUDA's row on the device in software: what it executes, and what bounds it");
        own.add("--json", json, "print an array of objects, one a target");
    }
    return hk::program::run("explain", flags, argc, argv, [&] {
        if (shared_limit >= 0) {
            setenv("HK_SHARED_LIMIT", std::to_string(shared_limit).c_str(), 1);
        }
        for (const auto &verb : verbs) {
            if (verb->flags->given()) explain(*verb, count, json);
        }
        return 0;
    });
}
