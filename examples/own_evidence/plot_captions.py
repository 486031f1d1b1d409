"""
Captions that know what they look like
======================================

Text says that *crimson* and *scarlet* are words. Can a model of sentences learn from pictures that they look alike?

Hill and others (2016) mapped captions to features of their images and called it *CaptionRep*.
:class:`~skembed.TargetVectorizer` does this: `X` are the captions, `y` the features.
"""

# %%
# Pictures and their captions
# ---------------------------
# The pictures of this page are toys that numpy draws: a shape, in a colour, at a place, each with a small change of its
# size, place and colour. A caption is written with one of several words for each of the three.

import numpy as np

COLORS = {
    (0.9, 0.1, 0.1): ["red", "crimson", "scarlet"],
    (0.1, 0.25, 0.9): ["blue", "navy", "azure"],
    (0.1, 0.7, 0.2): ["green", "emerald", "olive"],
    (0.95, 0.85, 0.1): ["yellow", "golden", "lemon"],
}
SHAPES = {"disc": ["disc", "circle"], "square": ["square", "box"], "cross": ["cross"]}
PLACES = {(8, 8): ["top left", "upper left"], (8, 24): ["top right", "upper right"]}
PLACES[24, 8] = ["bottom left", "lower left"]
PLACES[24, 24] = ["bottom right", "lower right"]
FORMS = ["the {} {} at the {}", "this {} {} is in the {} corner", "{} {}, {}"]
rng = np.random.default_rng(0)


def draw(color, shape, place):
    """A picture of 32 x 32 pixels on a white ground."""
    y, x = np.abs(np.indices((32, 32)) - rng.normal(place, 1)[:, None, None])
    size = rng.uniform(4, 6)
    inside = {
        "disc": x**2 + y**2 < size**2,
        "square": np.maximum(x, y) < 0.9 * size,
        "cross": (np.minimum(x, y) < 0.3 * size) & (np.maximum(x, y) < 1.2 * size),
    }[shape]
    colored = np.clip(color + rng.normal(0, 0.06, 3), 0, 1)
    return np.where(inside[..., None], colored, 1.0)


def describe(color, shape, place):
    """A caption in one of the wordings."""
    words = COLORS[color], SHAPES[shape], PLACES[place]
    return rng.choice(FORMS).format(*map(rng.choice, words))


kinds = [(c, s, p) for c in COLORS for s in SHAPES for p in PLACES]
new, known = np.split(rng.permutation(len(kinds)), [12])
of_picture = rng.choice(known, 1000)
pictures = np.array([draw(*kinds[k]) for k in of_picture])
captions = [describe(*kinds[k]) for k in of_picture]
others = np.array([draw(*kind) for kind in kinds])
other_captions = [describe(*kind) for kind in kinds]

# %%
# The model sees 36 of 48 combinations of colour, shape and place. One more picture of each of the 48 is kept aside.
#
# Features, and a model of captions
# ---------------------------------
# The features come from the pixels alone: their principal components, with the size of their Fourier transform, which
# does not depend on the place. With photographs, any vision model gives the array. No word vectors are given:
# the words start at random.

from sklearn.decomposition import PCA
from sklearn.preprocessing import normalize

from skembed import TargetVectorizer


def numbers_of(pictures):
    """Darkness of the pixels, and the low frequencies of each picture."""
    dark = 1 - pictures
    waves = np.abs(np.fft.fft2(dark.sum(axis=-1)))[:, :10, :10]
    dark, waves = (normalize(part.reshape(len(part), -1)) for part in (dark, waves))
    return np.hstack([dark, 2 * waves])


pca = PCA(20, random_state=0)
features = pca.fit_transform(numbers_of(pictures))
options = {"learning_rate": 0.03, "max_iter": 30, "random_state": 0}
model = TargetVectorizer(20, loss="softmax", **options).fit(captions, features)

# %%
# Which caption belongs to the picture?
# -------------------------------------
# A caption is compared with a picture by the cosine of what the model predicts and the picture's features.

import textwrap

import matplotlib.pyplot as plt

of_others = normalize(pca.transform(numbers_of(others)))
cosines = of_others @ model.predict(other_captions).T
best = cosines.argmax(axis=1)
is_right = best == np.arange(len(kinds))
print(f"right: {is_right[known].sum()} of 36 known, {is_right[new].sum()} of 12 new")

figure, axes = plt.subplots(2, 6, figsize=(9, 4), layout="constrained")
for ax, i in zip(axes.flat, new):
    ax.imshow(others[i])
    ax.set(xticks=[], yticks=[])
    color = "black" if is_right[i] else "#D55E00"
    ax.set_title(textwrap.fill(other_captions[best[i]], 19), fontsize=8, color=color)
plt.show()

# %%
# The title is the caption that the model finds best; orange is wrong, mostly in the colour. Known combinations get
# the right caption nearly always, new ones in most cases: the words of a colour, a shape and a place add up. These are
# toys, with few words, and the features and settings were chosen on these captions. A photograph needs the features of
# a vision model, and many more captions.
#
# Words that look alike
# ---------------------
# No caption has two words for one colour, so the text beside it does not tell what "crimson" is, but the pictures do.

learned = model.predict(words := sum(COLORS.values(), []))
figure, ax = plt.subplots(figsize=(5, 4), layout="constrained")
image = ax.imshow(learned @ learned.T, vmin=-1, vmax=1, cmap="RdBu_r")
ax.set_xticks(range(12), words, rotation=90)
ax.set_yticks(range(12), words)
figure.colorbar(image, label="cosine of what the model predicts")
plt.show()

# %%
# The dark red blocks are one colour: "red", "crimson" and "scarlet". With tf-idf, the cosine of any two of these
# words is 0. The cosines between different colours come from these few pictures and mean little.
