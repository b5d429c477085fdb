#pragma once
// An environment variable for as long as a test needs it.

#include <cstdlib>

namespace hk::test {

class Environment {
public:
    Environment(const char *name, const char *value) : name_(name) { setenv(name, value, 1); }
    ~Environment() { unsetenv(name_); }
    Environment(const Environment &) = delete;
    Environment &operator=(const Environment &) = delete;

private:
    const char *name_;
};

}  // namespace hk::test
