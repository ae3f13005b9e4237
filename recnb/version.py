"""The version of recnb."""

__version__ = "0.1.0"
