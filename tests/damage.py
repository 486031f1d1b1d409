"""Damage of a file, as a disk or a broken copy does it."""

from hypothesis import strategies as st


def damaged(content, data):
    """Return the bytes cut short, or with one to three of them changed."""
    content = bytearray(content)
    if data.draw(st.booleans(), label="truncate"):
        return content[: data.draw(st.integers(0, len(content) - 1))]
    for _ in range(data.draw(st.integers(1, 3), label="flips")):
        content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
    return content
