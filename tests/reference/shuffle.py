"""The random order of an epoch as cpp/linear/dcd.hpp makes it: one draw of the Mersenne twister a swap."""

import numpy as np


def shuffle(order: list[int], random: np.random.RandomState) -> None:
    for j in range(len(order) - 1, 0, -1):
        k = int(random.randint(0, 2**32, dtype=np.uint32)) * (j + 1) >> 32
        order[j], order[k] = order[k], order[j]
