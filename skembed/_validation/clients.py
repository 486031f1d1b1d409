"""Clients of a Dask cluster that a user passes; does not import Dask."""

from __future__ import annotations

from typing import Any


def check_client(client: Any, name: str) -> None:
    """Raise a ValueError for a client that is closed or asynchronous; `name` is the parameter."""
    if getattr(client, "asynchronous", False):
        raise ValueError(
            f"{name} is an asynchronous client, and this call waits for results. Connect one without "
            f"asynchronous=True, or make the call in a thread: await asyncio.to_thread(function, ..., {name}=client)."
        )
    if getattr(client, "status", "running") in ("closing", "closed"):
        raise ValueError(f"{name} is a client that is closed. Connect a new one, Client(cluster).")


def advice_on(value: Any) -> str:
    """The end of a message about a value that is no client: what to pass if it is a cluster or an address."""
    if isinstance(value, str) and "://" in value:
        return f" Pass Client({value!r})."
    return " Pass Client(cluster)." if hasattr(value, "get_client") else ""
