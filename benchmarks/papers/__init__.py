"""The tables of the five papers, printed from a run."""
