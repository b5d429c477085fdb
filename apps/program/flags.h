#pragma once
// The flags of programs, over CLI11. Only flags.cpp includes CLI11's header, which takes two
// seconds of a source, precompiled or not: what it instantiates, each source instantiates again.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace hk::program {

// `complaint`: what is wrong with a value, empty where nothing is. `description`: for --help.
struct Check {
    std::function<std::string(std::string &)> complaint;
    std::string description;
};

Check one_of(const std::vector<std::string> &words);
Check range(int64_t least, int64_t most);  // both included
// Real numbers. CLI11's own checks let NaN pass.
Check finite();
Check positive();                          // and finite
Check not_negative();                      // and finite
Check between(double least, double most);  // both included

// A flag or an argument of a Flags, which owns it.
class Flag {
public:
    explicit Flag(CLI::Option *option) : option_(option) {}

    Flag &required();
    Flag &optional();
    Flag &check(const Check &check);
    Flag &needs(Flag other);
    Flag &excludes(Flag other);
    Flag &show_default();  // in --help: the value that it has now

private:
    CLI::Option *option_;
};

// The flags of a program, or of one of its verbs.
class Flags {
public:
    explicit Flags(const std::string &description);
    ~Flags();
    Flags(const Flags &) = delete;

    // A flag "--name", or an argument "name", whose value parse() writes. Value: float, double,
    // int, int64_t, uint32_t, uint64_t, std::string, std::filesystem::path, or a vector of strings.
    template<typename Value>
    Flag add(const std::string &name, Value &value, const std::string &help = "");
    // A flag without a value.
    Flag add(const std::string &name, bool &is_given, const std::string &help = "");

    // Its flags; a program with verbs takes one of them.
    Flags &add_verb(const std::string &name, const std::string &description);

    Flag find(const std::string &name);

    // Nothing, or the exit status of a line that is wrong or asks for help, which has been printed.
    std::optional<int> parse(int argc, char **argv);

    // After parse(): whether the verb whose flags these are, or this flag, was given.
    bool given() const;
    bool given(const std::string &name) const;

private:
    explicit Flags(CLI::App *verb);

    std::unique_ptr<CLI::App> program_;  // none for a verb
    CLI::App *app_;
    std::vector<std::unique_ptr<Flags>> verbs_;
};

}  // namespace hk::program
