"""playground."""
