#pragma once
// What is told when a case ends the process.

#include <string>

namespace hk::fuzz {

// Signals that end the process, and reports of sanitizers, first print the case.
void watch_for_crashes();

// The case that a lane runs now: its name and the command that repeats it.
void set_running(int lane, const std::string &text);

}  // namespace hk::fuzz
