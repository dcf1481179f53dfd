// How posenc's times grow: with the size of a table, the number of readers, the CPUs of the server, and the
// position of a row. Each function measures and prints one section of Markdown on stdout.

#ifndef POSENC_TESTS_BENCH_GROWTH_GROWTH_H_
#define POSENC_TESTS_BENCH_GROWTH_GROWTH_H_

#include <cstdint>
#include <string>
#include <vector>

namespace posenc::bench {

void PrintFetchOverSize();
void PrintColdTables();
void PrintThroughput();  // over readers, over CPUs, and what a fleet makes of it
void PrintPositions();

// Prints a Markdown table; every row has as many cells as the header.
void PrintTable(const std::vector<std::string>& header, const std::vector<std::vector<std::string>>& rows);

// "1 KiB", "16 MiB", "4 GiB": powers of 1024.
std::string SizeText(uint64_t bytes);

}  // namespace posenc::bench

#endif  // POSENC_TESTS_BENCH_GROWTH_GROWTH_H_
