"""How similar two texts are, by each of the measures."""

import numpy as np
from numpy.typing import NDArray

Pairs = NDArray[np.uint32]
