#pragma once
// The numbers that flags take. CLI11's own checks let NaN pass.

namespace CLI {
class Validator;
}

namespace hk::program {

CLI::Validator finite();
CLI::Validator positive();                          // and finite
CLI::Validator not_negative();                      // and finite
CLI::Validator between(double least, double most);  // both included

}  // namespace hk::program
