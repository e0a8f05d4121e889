"""``python -m midstream.server.rehearsal``: the rehearsal agent without the rest of the command line."""

import sys

from midstream.server.rehearsal.main import main

sys.exit(main(sys.argv[1:]))
