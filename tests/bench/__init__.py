"""How long recnb takes and how much memory, beside a hand-written Polars query and other libraries.

`python -m tests.bench` prints tables in Markdown; `--help` lists what can be asked for. Seconds differ from machine to
machine, so what counts are ratios of what was measured side by side in one run.

`data.py` makes the frames · `measure.py` times calls and reads peaks of memory · `contenders.py` and `peers.py` say how
each contender is asked · `alone.py` is the program that measures one of them in a process of its own · `against_query.py`,
`memory.py`, `against_peers.py`, `streamed.py` and `start_up.py` print one table each.
"""
