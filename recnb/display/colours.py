"""Colours of pictures, of middle lightness, so that they are read on white as on near black; and dashes, which go with them."""

ACCENT = "#2f7fc1"  # contrast 4.3 on white, 4.4 on #111111
QUIET = "#7a7a7a"  # contrast 4.3 on white, 4.4 on #111111
OTHER = "#c2601a"
COLOURS = (ACCENT, OTHER, "#3b8f55", "#9a62b8", "#a1801f", "#bf5a7d", "#4a8f96", QUIET)
DASHES = ("", "7 4", "2 4", "10 3 2 3", "4 2", "1 3", "12 4", "")
