"""In what results are shown: language, text, templates, pictures, progress bars."""
