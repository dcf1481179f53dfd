"""Writes bicubic.json: grids resized by Keys' kernel in exact fractions, straight from its definition.

Keys 1981 with a = -3/4: w(x) = (a+2)|x|^3 - (a+3)|x|^2 + 1 up to 1, a|x|^3 - 5a|x|^2 + 8a|x| - 4a up to 2.
Output d of n is at (d + 1/2) * m / n - 1/2 of m inputs, inputs past the edge repeat it. Every output is the
sum over all inputs within 2, rounded once to each format, ties to even. Shares no code with the server.

    python3 make_bicubic.py > bicubic.json
"""

import json
import math
import random
import struct
from fractions import Fraction

A = Fraction(-3, 4)
FORMATS = {"F64": (53, -1022, 11), "F32": (24, -126, 8), "F16": (11, -14, 5), "BF16": (8, -126, 8)}
GRIDS = [(3, 4, 5, 7, 1), (7, 7, 3, 2, 0), (4, 4, 8, 8, 2), (2, 3, 2, 3, 1), (1, 1, 3, 2, 0), (6, 8, 3, 4, 0)]
WIDTH = 3


def kernel(x):
    x = abs(x)
    if x <= 1:
        return (A + 2) * x**3 - (A + 3) * x**2 + 1
    return A * x**3 - 5 * A * x**2 + 8 * A * x - 4 * A if x < 2 else Fraction(0)


def taps(d, m, n):
    at = (d + Fraction(1, 2)) * Fraction(m, n) - Fraction(1, 2)
    first = math.floor(at) - 1
    return [(min(max(i, 0), m - 1), kernel(at - i)) for i in range(first, first + 4)]


def bits(value, name):
    precision, least, exponent_bits = FORMATS[name]
    if value == 0:
        return 0
    size = abs(value)
    exponent = max(math.floor(math.log2(size)) if size < 1e300 else 0, least)
    while Fraction(2) ** (exponent + 1) <= size:
        exponent += 1
    while exponent > least and Fraction(2) ** exponent > size:
        exponent -= 1
    significand = round(size / Fraction(2) ** (exponent - precision + 1))  # to even
    encoded = ((exponent - least) << (precision - 1)) + significand
    return encoded | ((value < 0) << (precision - 1 + exponent_bits))


def main():
    source = random.Random(20240607)
    grids = []
    for m_y, m_x, n_y, n_x, leading in GRIDS:
        rows = leading + m_y * m_x
        stored = [struct.unpack("<f", struct.pack("<f", source.gauss(0, 1)))[0] for _ in range(rows * WIDTH)]
        cells = []
        for y in range(n_y):
            for x in range(n_x):
                for c in range(WIDTH):
                    cells.append(sum(wy * wx * Fraction(stored[(leading + iy * m_x + ix) * WIDTH + c])
                                     for iy, wy in taps(y, m_y, n_y) for ix, wx in taps(x, m_x, n_x)))
        grids.append({"source": [m_y, m_x], "grid": [n_y, n_x], "leading_rows": leading, "width": WIDTH,
                      "stored_f32": [value.hex() for value in stored],
                      "bits": {name: [bits(cell, name) for cell in cells] for name in FORMATS}})
    print(json.dumps(grids, indent=0))


main()
