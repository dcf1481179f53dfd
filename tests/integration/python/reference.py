"""The formulas once more, in mpmath: independent of the product's code."""

import struct

import mpmath

mpmath.mp.prec = 200

FORMATS = {"F64": (53, -1074, "<d"), "F32": (24, -149, "<f"), "F16": (11, -24, "<e"), "BF16": (8, -133, "<f")}


def rounded(value, type_name):
    """The number of the element type that is nearest to an mpf, as a float."""
    precision, min_exponent, _ = FORMATS[type_name]
    if value == 0:
        return 0.0
    exponent = mpmath.frexp(value)[1]
    unit = max(exponent - precision, min_exponent)
    return float(mpmath.ldexp(mpmath.nint(mpmath.ldexp(value, -unit)), unit))


def pack(values, type_name):
    """The little-endian bytes of a list of such floats."""
    code = FORMATS[type_name][2]
    parts = [struct.pack(code, value) for value in values]
    return b"".join(part[2:] if type_name == "BF16" else part for part in parts)


def sinusoidal_row(position, d_model, base=10000):
    row = []
    for column in range(d_model):
        angle = position * mpmath.power(base, -mpmath.mpf(column // 2 * 2) / d_model)
        row.append(mpmath.cos(angle) if column % 2 else mpmath.sin(angle))
    return row


def llama3_frequency(pair, pairs, base, factor, low, high, original):
    frequency = mpmath.power(base, -mpmath.mpf(pair) / pairs)
    wavelength = 2 * mpmath.pi / frequency
    if wavelength < mpmath.mpf(original) / high:
        return frequency
    if wavelength > mpmath.mpf(original) / low:
        return frequency / factor
    smooth = (original / wavelength - low) / (high - low)
    return (1 - smooth) * frequency / factor + smooth * frequency


def rope_row(position, frequencies):
    angles = [position * frequency for frequency in frequencies]
    return [mpmath.cos(angle) for angle in angles], [mpmath.sin(angle) for angle in angles]


def paper_slopes(heads):
    power = 1 << (heads.bit_length() - 1)
    slopes = [mpmath.power(2, -mpmath.mpf(8 * i) / power) for i in range(1, power + 1)]
    extra = [mpmath.power(2, -mpmath.mpf(8 * i) / (2 * power)) for i in range(1, 2 * power + 1, 2)]
    return slopes + extra[:heads - power]


CRC_TABLE = []
for _byte in range(256):
    _crc = _byte
    for _ in range(8):
        _crc = (_crc >> 1) ^ (0x82F63B78 if _crc & 1 else 0)
    CRC_TABLE.append(_crc)


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = CRC_TABLE[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return crc ^ 0xFFFFFFFF
