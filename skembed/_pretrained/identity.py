"""How a model is known again: by its rows of a few sentences."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

# In many scripts, so that a model of any language has words of them.
PROBES = [
    "A cat sleeps on the warm mat.",
    "The bank lends money to new companies: 3.5 % in 2019!",
    "Кошка спит дома. الماء في البيت. बिल्ली घर में सो रही है।",
    "猫在家里睡觉。ねこが家で寝ている。แมวนอนอยู่ในบ้าน 고양이가 집에서 잔다.",
]
# How far a row may be from that of the same text in another batch or on another device, as a part of its length. Half
# precision and integers round by a few hundredths; dropout, or another model, moves rows by tenths.
_TOLERANCE = 0.05
# For a cache, whose rows stand in for those of the model: float32 differs by less from device to device, and another
# epoch of training moves rows by more. A model in half precision counts as another one there.
CACHE_TOLERANCE = 0.005


class Identity(NamedTuple):
    """A model, as saved models and caches know it."""

    name: str  # for messages
    width: int
    probes: np.ndarray | None  # (n_probes, width) float32; None of rows that are looked up

    def is_same(self, probes: np.ndarray, tolerance: float = _TOLERANCE) -> bool:
        """Whether a model with these rows is this one."""
        if self.probes is None:
            return True
        if probes.shape != self.probes.shape:
            return False
        distances = np.linalg.norm(probes.astype(np.float64) - self.probes, axis=1)
        lengths = np.linalg.norm(self.probes.astype(np.float64), axis=1)
        return bool((distances <= tolerance * lengths).all())
