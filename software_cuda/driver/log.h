// Lines for people: why a call failed, and what checks found.
#pragma once

#include <mutex>
#include <string>

namespace software_cuda {

class Log {
public:
    void set_destination(const std::string &destination);  // DriverSettings::report
    void add(const std::string &text);
    std::string last() const;

private:
    mutable std::mutex mutex_;
    std::string destination_, last_;
};

}  // namespace software_cuda
