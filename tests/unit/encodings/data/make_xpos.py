"""Writes xpos.json: the xPos tables of Sun et al. 2022 at the ends of the element types, by mpmath.

A value is cos or sin of p * 10000^(-2k/d) times g^z (queries) or g^-z (keys), g = (2k + 0.4d) / 1.4d,
z = (p - centre) / scale_base, with 900 bits, rounded once to each type. Scales reach 2^(10^19): mpmath's exponents
have no end. Bits are hexadecimal, k = 0 ... d/2 - 1. Shares no code with the server.

    python3 make_xpos.py > xpos.json
"""

import json

import mpmath

TYPES = {"F64": (53, -1022, 1023), "F32": (24, -126, 127), "F16": (11, -14, 15), "BF16": (8, -126, 127)}

# head_dim, scale_base, centre, positions. The greatest scale, 3.5^(p / scale_base), leaves F16 at 4533, F32 and
# BF16 at 36259, F64 at 290071 and 2^(2^30), where MPFR's usual exponents end, at 304177008437.7.
CASES = [
    (8, 512.0, 0.0, [0, 1, 4531, 4532, 4533, 4534, 4535, 4536, 7000, 36257, 36258, 36259, 36260, 36261, 36262,
                     290068, 290069, 290070, 290071, 290072, 290073, 304177008437, 304177008438, 304177008439,
                     2**40, 2**53 - 1, -1, -4533, -4534, -36260, -290072, -304177008438, -(2**53) + 1]),
    (8, 512.0, 4503599627370496.5, [0, 1, 4503599627370496, 4503599627370497, 4503599627375030, 2**53 - 1]),
    (64, 0.001, 0.0, [0, 1, 2, 600000, -600000, 2**53 - 1]),
    (4, 1e9, -1e15, [0, 1, 2**53 - 1]),
]


def rounded(value, precision, least, most):
    """The bits of the element nearest to `value`, ties to even; an exact 0 is +0."""
    if value == 0:
        return 0
    width = {53: 64, 24: 32, 11: 16, 8: 16}[precision]
    sign = 1 << (width - 1) if value < 0 else 0
    mantissa, exponent = int(abs(value).man), int(abs(value).exp)
    top = mantissa.bit_length() - 1 + exponent
    field_bits = precision - 1
    infinity = (most - least + 2) << field_bits
    if top > most:
        return sign | infinity
    scale = max(top, least)
    shift = scale - field_bits - exponent
    if shift <= 0:
        kept = mantissa << -shift
    elif shift > mantissa.bit_length() + 1:
        kept = 0
    else:
        kept, rest = mantissa >> shift, mantissa & ((1 << shift) - 1)
        half = 1 << (shift - 1)
        kept += rest > half or (rest == half and kept & 1)
    return sign | min(infinity, ((scale - least) << field_bits) + kept)


def tensors_of(head_dim, scale_base, centre, position):
    angles, scales = [], []
    z = (mpmath.mpf(position) - mpmath.mpf(centre)) / mpmath.mpf(scale_base)
    for k in range(head_dim // 2):
        angles.append(position * mpmath.power(10000, mpmath.mpf(-2 * k) / head_dim))
        scales.append(mpmath.power(mpmath.mpf(10 * k + 2 * head_dim) / (7 * head_dim), z))
    return {"q_cos": [mpmath.cos(a) * s for a, s in zip(angles, scales)],
            "q_sin": [mpmath.sin(a) * s for a, s in zip(angles, scales)],
            "k_cos": [mpmath.cos(a) / s for a, s in zip(angles, scales)],
            "k_sin": [mpmath.sin(a) / s for a, s in zip(angles, scales)]}


def main():
    mpmath.mp.prec = 900
    rows = []
    for head_dim, scale_base, centre, positions in CASES:
        for position in positions:
            tensors = tensors_of(head_dim, scale_base, centre, position)
            rows.append({"head_dim": head_dim, "scale_base": scale_base, "centre": centre, "position": position,
                         "tensors": [{name: [f"{rounded(v, *TYPES[name]):x}" for v in values] for name in TYPES}
                                     for values in tensors.values()]})
    print("[\n" + ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows) + "\n]")


if __name__ == "__main__":
    main()
