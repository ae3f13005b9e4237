"""The language, text, HTML templates, pictures, fonts and progress bars in which
results are shown.
"""
