"""Learning in shards: how a text is dealt to them, who computes a round, and how their changes become one model.

Knows no method: a shard learns by the training loop.
"""

# Modules that other packages of skembed may import.
__all__ = ["engines", "plan", "rounds"]
