#include "software_cuda/driver/settings.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <stdexcept>

namespace software_cuda {

namespace {

template<typename Value>
struct Choice {
    std::string_view name;
    Value value;
};

template<typename Value, size_t N>
Value choose(std::string_view text, const Choice<Value> (&choices)[N]) {
    std::string expected;
    for (const auto &[name, value] : choices) {
        if (name == text) return value;
        expected += (expected.empty() ? "" : ", ") + std::string(name);
    }
    throw std::invalid_argument("is not one of: " + expected);
}

constexpr Choice<bool> kSwitch[] = {{"on", true}, {"off", false}};

uint64_t number(std::string_view text, uint64_t least, uint64_t most) {
    uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < least || value > most) {
        throw std::invalid_argument("is not a number from " + std::to_string(least) + " to " +
                                    std::to_string(most));
    }
    return value;
}

void set_chips(DriverSettings &settings, std::string_view text) {
    std::vector<const Chip *> chips;
    for (size_t begin = 0; begin <= text.size();) {
        const size_t end = std::min(text.find(',', begin), text.size());
        const Chip *chip = find_chip(text.substr(begin, end - begin));
        if (!chip) {
            std::string known;
            for (const Chip &c : kChips) known += (known.empty() ? "" : ", ") + std::string(c.name);
            throw std::invalid_argument("is not a list of these: " + known);
        }
        chips.push_back(chip);
        begin = end + 1;
    }
    settings.chips = chips;
}

void set_order(DriverSettings &settings, std::string_view text) {
    const size_t colon = text.find(':');
    const Order order = choose<Order>(text.substr(0, colon), {{"ascending", Order::kAscending},
                                                              {"descending", Order::kDescending},
                                                              {"random", Order::kRandom}});
    uint64_t seed = 0;
    if (colon != std::string_view::npos) {
        if (order != Order::kRandom) throw std::invalid_argument("has a seed and is not random");
        seed = number(text.substr(colon + 1), 0, std::numeric_limits<uint64_t>::max());
    }
    settings.machine.order = order;
    settings.machine.seed = seed;
}

void set_lanes(DriverSettings &settings, std::string_view text) {
    settings.machine.lanes = choose<unsigned>(text, {{"1", 1}, {"16", 16}, {"32", 32}});
}

void set_instruction_set(DriverSettings &settings, std::string_view text) {
    const auto set = choose<InstructionSet>(text, {{"baseline", InstructionSet::kBaseline},
                                                   {"avx2", InstructionSet::kAvx2},
                                                   {"avx512", InstructionSet::kAvx512}});
    if (!host_has(set)) throw std::invalid_argument("is not one that this host has");
    settings.machine.instruction_set = set;
}

void set_check(DriverSettings &settings, std::string_view text) {
    settings.machine.check = choose<Check>(
        text, {{"none", Check::kNone}, {"memory", Check::kMemory}, {"all", Check::kAll}});
}

void set_strict(DriverSettings &settings, std::string_view text) {
    settings.strict = choose<Strict>(
        text, {{"off", Strict::kOff}, {"shared", Strict::kShared}, {"on", Strict::kOn}});
}

// MODULE:LINE:TEXT, or nothing.
void set_edit(DriverSettings &settings, std::string_view text) {
    settings.edit = {};
    if (text.empty()) return;
    const size_t first = text.find(':'), second = text.find(':', first + 1);
    if (second == std::string_view::npos) throw std::invalid_argument("is not MODULE:LINE:TEXT");
    const uint64_t line = number(text.substr(first + 1, second - first - 1), 1, UINT32_MAX);
    settings.edit = {std::string(text.substr(0, first)), line,
                     std::string(text.substr(second + 1))};
}

void set_count(DriverSettings &settings, std::string_view text) {
    settings.count = text == "on" ? "" : text;
    settings.machine.count = !text.empty();
}

struct Setting {
    std::string_view name;
    void (*set)(DriverSettings &, std::string_view);
};

// docs/software-cuda.md has a row of each.
const Setting kSettings[] = {
    {"CHIP", set_chips},
    {"DEVICES", [](auto &s, auto text) { s.devices = static_cast<int>(number(text, 0, 64)); }},
    {"MEMORY", [](auto &s, auto text) { s.memory = number(text, 1, uint64_t{1} << 44); }},
    {"CHECK", set_check},
    {"STRICT", set_strict},
    {"READ_ONLY", [](auto &s, auto text) { s.machine.read_only = choose(text, kSwitch); }},
    {"ORDER", set_order},
    {"THREADS",
     [](auto &s, auto text) { s.machine.threads = static_cast<unsigned>(number(text, 0, 4096)); }},
    {"LANES", set_lanes},
    {"INSTRUCTION_SET", set_instruction_set},
    {"RUN", [](auto &s, auto text) { s.run = choose(text, kSwitch); }},
    {"STEPS", [](auto &s, auto text) { s.machine.steps = number(text, 0, UINT64_MAX); }},
    {"EDIT", set_edit},
    {"PTX", [](auto &s, auto text) { s.ptx = text; }},
    {"REPORT", [](auto &s, auto text) { s.report = text; }},
    {"COUNT", set_count},
};

}  // namespace

void DriverSettings::set(std::string_view name, std::string_view value) {
    const auto setting = std::find_if(std::begin(kSettings), std::end(kSettings),
                                      [&](const Setting &s) { return s.name == name; });
    if (setting == std::end(kSettings))
        throw std::invalid_argument("there is no setting " + std::string(name));
    try {
        setting->set(*this, value);
    } catch (const std::invalid_argument &error) {
        throw std::invalid_argument("SOFTWARE_CUDA_" + std::string(name) + "=" +
                                    std::string(value) + " " + error.what());
    }
}

void DriverSettings::read_environment() {
    for (const Setting &setting : kSettings) {
        const std::string variable = "SOFTWARE_CUDA_" + std::string(setting.name);
        if (const char *value = std::getenv(variable.c_str())) set(setting.name, value);
    }
}

}  // namespace software_cuda
