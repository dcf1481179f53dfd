// CRC-32C (Castagnoli, RFC 3720), the checksum of streamed chunks. ISA-L does the work.
//
// Threads: pure functions. Cost: about 10 to 20 GB/s with the CPU's own instructions.

#ifndef POSENC_SERVER_CORE_CRC32C_H_
#define POSENC_SERVER_CORE_CRC32C_H_

#include <cstddef>
#include <cstdint>
#include <span>

namespace posenc {

// Returns the CRC of the bytes that `crc` covers followed by `data`; start with crc = 0.
uint32_t ExtendCrc32c(uint32_t crc, std::span<const std::byte> data);

}  // namespace posenc

#endif  // POSENC_SERVER_CORE_CRC32C_H_
