"""`python -m recnb report recs.parquet truth.csv --k 5 10 -o report.html`."""

import sys

from recnb.cli import main

if __name__ == "__main__":
    sys.exit(main())
