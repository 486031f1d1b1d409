"""Paraphrases to learn from, and quick settings of `ParaphraseVectorizer`."""

PAIRS = [
    ("A cat sat on the mat.", "A kitten is on the rug"),
    ("Rain fell all day", "It rained the whole day"),
    ("Cheap flights to Rome", "Low cost air tickets to Rome"),
    ("I want to rent a car", "Car hire, please"),
    ("The bank lends money", "Loans from a bank"),
    ("He bakes bread", "Bread comes out of his oven"),
    ("A cat sat on the mat.", "There is a cat on the mat"),
    ("The train is late", "A delay of the train"),
] * 4
FAST = {"n_components": 8, "max_iter": 3, "random_state": 0}
SENTENCES = [sentence for pair in PAIRS[:8] for sentence in pair]
TOPICS = [i // 4 for i in range(16)]
