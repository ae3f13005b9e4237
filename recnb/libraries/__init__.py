"""Whose number is it? The number another library returns, the way from ours to theirs, and which convention made a printed one."""

from recnb.libraries.reproduce import as_in

__all__ = ["as_in"]
