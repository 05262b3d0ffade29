#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace modlock::test {

// Runs a program to its end and returns its stdout. Throws std::runtime_error with its stderr where it fails.
std::string run(std::vector<std::string> argv, const std::filesystem::path& directory = {},
                std::map<std::string, std::string> environment = {}, std::string input = {});

}  // namespace modlock::test
