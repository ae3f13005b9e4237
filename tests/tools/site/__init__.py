"""The site: the front page, the notebooks, the pages and the reference, as HTML.

Nothing is written for it twice: its pages are the Markdown files and stored notebooks
of the repository and the docstrings of the package. It stands here and not in
`notebooks/`, since it holds the code of a tool, as the other made pages have theirs
beside it.
"""
