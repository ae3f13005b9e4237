"""The playground: a ranked list whose items are moved, and its metrics before and after each step."""
