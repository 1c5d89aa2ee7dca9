"""What does ``python -m reducer`` do? The same as the command ``reduce``."""

import sys

from reducer.cli.app import main

if __name__ == "__main__":
    sys.exit(main())
