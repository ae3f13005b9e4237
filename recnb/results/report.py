"""Placeholder while the report is written."""
