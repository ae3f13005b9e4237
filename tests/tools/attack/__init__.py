"""The standing attack: what recnb makes of random frames, held against plain Python
(tests/laws/test_attack.py).
"""
