"""The explorer: from the mean of a metric to the users behind it, and to one user's list."""
