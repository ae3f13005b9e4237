"""Forms of input beside those of `recnb.data.forms`.

Each module here is imported with recnb and registers its own; one that is taken out takes
its forms along.
"""
