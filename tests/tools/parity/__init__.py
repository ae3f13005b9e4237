"""Real libraries on random data, each in an environment that has it, and what they say
of it.
"""
