"""What models do with positional encodings in PyTorch, on one thread, timed.

    recipes.py      prints "ready VERSION CAPABILITY" or "missing REASON"; then, for each name of a recipe
                    on standard input, does it once and prints the seconds it took
"""

import sys
import time

try:
    import torch
except ImportError as error:
    print(f"missing {error}", flush=True)
    sys.exit(0)

HEAD_DIM, ROWS, BASE = 128, 131072, 500000.0
ATTENTION_SCALING = 1.0  # of plain rotary tables; the models multiply by it all the same
HEADS, LENGTH, MODEL = 32, 2048, 4096


def angles():
    """Rotary angles as Hugging Face's models compute them: in float32."""
    inv_freq = 1.0 / (BASE ** (torch.arange(0, HEAD_DIM, 2, dtype=torch.float32) / HEAD_DIM))
    positions = torch.arange(ROWS, dtype=torch.float32)
    return torch.outer(positions, inv_freq)


def build_half():
    """The table of one column for each pair."""
    freqs = angles()
    return freqs.cos() * ATTENTION_SCALING, freqs.sin() * ATTENTION_SCALING


def build_duplicated():
    """The table as the models keep it: both halves of the channels have it."""
    freqs = angles()
    emb = torch.cat((freqs, freqs), dim=-1)
    return emb.cos() * ATTENTION_SCALING, emb.sin() * ATTENTION_SCALING


def rotate_half(x):
    """(a, b) to (-b, a), the halves of the last dimension."""
    half = x.shape[-1] // 2
    return torch.cat((-x[..., half:], x[..., :half]), dim=-1)


class Recipes:
    """The recipes with the tensors that they work on."""

    def __init__(self):
        self.query = torch.randn(1, HEADS, LENGTH, HEAD_DIM)
        self.key = torch.randn(1, HEADS, LENGTH, HEAD_DIM)
        self.embeddings = torch.randn(1, LENGTH, MODEL)
        self.encodings = torch.randn(1, 2 * LENGTH, MODEL)
        cos, sin = build_duplicated()
        self.cos, self.sin = cos[None, None, :LENGTH].clone(), sin[None, None, :LENGTH].clone()

    def rotate(self):
        """Queries and keys of one layer."""
        query = (self.query * self.cos) + (rotate_half(self.query) * self.sin)
        key = (self.key * self.cos) + (rotate_half(self.key) * self.sin)
        return query, key

    def add(self):
        """Encodings onto the embeddings."""
        return self.embeddings + self.encodings[:, :LENGTH]

    def run(self, name):
        """Returns the seconds that a recipe takes; the result is freed within them."""
        recipe = {"build_half": build_half, "build_duplicated": build_duplicated,
                  "rotate": self.rotate, "add": self.add}[name]
        start = time.perf_counter()
        recipe()
        return time.perf_counter() - start


@torch.no_grad()
def main():
    torch.set_num_threads(1)
    recipes = Recipes()
    config = torch.__config__.show()
    capability = config.split("CPU capability usage:")[-1].split()[0] if "CPU capability" in config else "?"
    print(f"ready {torch.__version__} {capability}", flush=True)
    for line in iter(sys.stdin.readline, ""):
        print(f"{recipes.run(line.strip()):.9f}", flush=True)


if __name__ == "__main__":
    main()
