"""In what results are shown: language, text, templates and pictures."""
