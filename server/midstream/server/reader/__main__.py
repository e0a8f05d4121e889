"""``python -m midstream.server.reader``: the reader without the rest of the command line."""

import sys

from midstream.server.reader.main import main

sys.exit(main(sys.argv[1:]))
