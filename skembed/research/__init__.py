"""Slow systems of the papers, here to be measured.

Each is a complete estimator. For text of your own begin with :class:`~skembed.TextVectorizer` or
:class:`~skembed.CBOSVectorizer`, which are faster and better on what was measured.
"""

from skembed.research._cphrase import CPhraseVectorizer
from skembed.research._denoising_autoencoder import SequentialDenoisingAutoencoder
from skembed.research._gran import GRANVectorizer
from skembed.research._recursive_autoencoder import RecursiveAutoencoderVectorizer
from skembed.research._skip_thought import SkipThoughtVectorizer

__all__ = [
    "CPhraseVectorizer",
    "GRANVectorizer",
    "RecursiveAutoencoderVectorizer",
    "SequentialDenoisingAutoencoder",
    "SkipThoughtVectorizer",
]
