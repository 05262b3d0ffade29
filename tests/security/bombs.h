#pragma once

#include <cstdint>
#include <string>

namespace modlock::test {

// Archives that are small and become large, made without ever making what they become: each is one deflate stream
// (RFC 1951) that repeats what stands in front of it, two bits for 258 bytes.

// A zip file of about 4 MiB with main.tf and a file of 4 GiB of zeros that says it has `declared` bytes.
std::string zip_of_zeros(std::uint32_t declared);
// The same as a tar.gz, whose file is called `name`.
std::string tar_of_zeros(const std::string& name);
// A tar.gz of about 2 MiB that names one directory a million times.
std::string tar_of_a_million_entries();
// A zip file whose list has a million entries, each with a name of its own.
std::string zip_of_a_million_entries();

}  // namespace modlock::test
