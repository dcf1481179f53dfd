// Every limit of what may be asked for, in one place, each with its reason. Limits that an operator may
// set are defaults here and flags in server/app.

#ifndef POSENC_SERVER_CORE_LIMITS_H_
#define POSENC_SERVER_CORE_LIMITS_H_

#include <cstddef>
#include <cstdint>

namespace posenc::limits {

// Positions are exact as doubles up to here, and correct rounding is stated for this range.
inline constexpr int64_t kMaxPosition = int64_t{1} << 53;

// Widths (d_model, head_dim). Far above any model; keeps the frequencies of one table under 4 MiB.
inline constexpr int64_t kMaxWidth = 65536;

// Attention heads of a bias. Far above any model; every head costs an exponential of some microseconds.
inline constexpr int64_t kMaxHeads = 4096;

// Queries and keys of one bias: its row is this many elements, and a block is at least one row.
inline constexpr int64_t kMaxBiasLen = int64_t{1} << 21;

// base^(-1) must keep 100 significant bits in the 256-bit fixed-point turns that angles are made of.
inline constexpr double kMinBase = 1.0;
inline constexpr double kMaxBase = 1e30;

// Scaling factors, for the same reason; below 1 a factor extrapolates, which is allowed.
inline constexpr double kMinFactor = 1e-6;
inline constexpr double kMaxFactor = 1e9;

// Inverse frequencies and the position scale given by the caller: zero, or within this range.
inline constexpr double kMinFrequency = 1e-36;
inline constexpr double kMaxFrequency = 1e9;

// Row scale and magnitude: products with it must stay normal numbers in every element type's format.
inline constexpr double kMinRowScale = 1e-6;
inline constexpr double kMaxRowScale = 1e6;

// ALiBi's bias_max: slopes are 2^-bias_max and more, which must stay normal in F32.
inline constexpr double kMaxBiasMax = 100.0;

// Position axes of a rotary table or a grid: XD-RoPE has four.
inline constexpr int64_t kMaxAxes = 4;

// Cells along one side of a grid, and its coordinates: far above any picture. Products of coordinates and
// sizes stay exact integers.
inline constexpr int64_t kMaxGridSide = int64_t{1} << 20;

// Positions of one request: eight bytes each, well inside the request size limit.
inline constexpr int64_t kMaxPositionsPerRequest = 65536;

// Whole rows that one GetSlice may have generated for its positions or cut columns, whatever it keeps of
// them: most of a minute of one CPU. A stream needs no such limit, as its reader sets the pace.
inline constexpr uint64_t kMaxGatherBytes = uint64_t{1} << 30;

// Largest table that is digested: minutes of work, which pass through the cache, for 32 bytes of answer.
inline constexpr uint64_t kMaxDigestBytes = uint64_t{64} << 30;

// One block of a table, and with it the unit of caching and of streaming: about what a stream keeps in
// flight, small enough that the first row of a cold table comes at once, and one large page of memory.
inline constexpr size_t kDefaultBlockBytes = size_t{2} << 20;
inline constexpr size_t kMinBlockBytes = size_t{1} << 12;
inline constexpr size_t kMaxBlockBytes = size_t{1} << 26;

// A unary answer with its framing must fit the 4 MiB that gRPC clients accept by default.
inline constexpr size_t kDefaultMaxUnaryBytes = (size_t{4} << 20) - 1024;

// Requests are small; config.json texts are the largest. Bounds what a hostile peer makes us buffer.
inline constexpr size_t kMaxRequestBytes = size_t{1} << 20;

// Field violations reported for one request: details must stay under 2 KiB of trailing metadata.
inline constexpr size_t kMaxReportedViolations = 10;
inline constexpr size_t kMaxErrorDetailBytes = 2048;

}  // namespace posenc::limits

#endif  // POSENC_SERVER_CORE_LIMITS_H_
