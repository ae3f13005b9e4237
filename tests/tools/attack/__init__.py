"""The standing attack: what recnb makes of random frames, held against plain Python
(tests/test_attack.py).
"""
