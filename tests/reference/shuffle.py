"""The random order of an epoch as cpp/linear/dcd.hpp makes it: one number of splitmix64 a swap."""

BITS = 2**64 - 1


class Random:
    def __init__(self, seed: int) -> None:
        self.state = seed

    def below(self, n: int) -> int:
        self.state = z = (self.state + 0x9E3779B97F4A7C15) & BITS
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & BITS
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB & BITS
        return (z ^ (z >> 31)) // 2**32 * n // 2**32


def shuffle(order: list[int], random: Random) -> None:
    for j in range(len(order), 1, -1):
        k = random.below(j)
        order[j - 1], order[k] = order[k], order[j - 1]
