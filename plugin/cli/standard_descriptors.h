#pragma once

namespace modlock::cli {

// Opens /dev/null where one of the descriptors 0 to 2 is closed, so that no file of ours gets its number and, with it,
// what is meant for a person.
void open_standard_descriptors();

}  // namespace modlock::cli
