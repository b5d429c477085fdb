#pragma once
// A verb of the explorer: its flags, and what it does. main.cpp lists them.

#include <memory>

#include "program/flags.h"

namespace hk::explorer {

class Verb {
public:
    virtual ~Verb() = default;
    virtual void add_to(program::Flags &flags) = 0;  // itself, a subcommand, with its flags
    // The exit status. Throws InvalidArgument for bad input, in one line that says what is allowed.
    virtual int run() = 0;
    bool chosen() const;

protected:
    program::Flags *command_ = nullptr;
};

std::unique_ptr<Verb> list_verb();
std::unique_ptr<Verb> show_verb();
std::unique_ptr<Verb> diff_verb();
std::unique_ptr<Verb> run_verb();
std::unique_ptr<Verb> sweep_verb();

}  // namespace hk::explorer
