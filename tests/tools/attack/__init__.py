"""The standing attack: what recnb makes of random frames, held against plain Python; `python -m tests.tools.attack`."""
