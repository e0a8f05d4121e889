"""How much of a conversation a handoff keeps, beside what others do, and what it costs.

`handoff.py [--transcripts DIR]`: DIR holds real sessions in `data/` and lists of their facts in `truth/`.
"""

import argparse
import asyncio
import contextlib
import json
import re
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).parents[1]))

from baselines import BASELINES, told
from figures import show
from immutables import Map
from planted import PINNED, planted
from transcripts import Conversation, read

from midstream.protocol.errors import MidstreamError
from midstream.protocol.records.item import AgentMessageItem, Item, UserMessageItem
from midstream.protocol.records.run import Run, SwitchPlan
from midstream.server.graph.events import ItemPut
from midstream.server.graph.state import ThreadState
from midstream.server.handoff.build import build, minimum_tokens
from midstream.server.handoff.material import Material
from midstream.server.handoff.tokens import estimate_tokens
from midstream.server.runtime.ingest import Ingest
from midstream.server.runtime.material import gather
from midstream.server.store import Store, Write
from support import records
from support.materials import item_facts
from support.reading import MORE, Folder, folder_at

NONCE: Final = "0123456789abcdef"
BUDGETS: Final = {"1k": 1_000, "2k": 2_000, "4k": 4_000, "8k": 8_000, "16k": 16_000}
CURVE: Final = {"1k": 0.45, "2k": 0.60, "4k": 0.78, "8k": 0.90, "16k": 0.95}
SEEDS: Final = range(5)
KEPT: Final = 0.97
NAMED: Final = re.compile(r"^# Left out: .* (\w+) (\{.*\})$", re.MULTILINE)
COST_MS: Final = 150.0
GROWTH: Final = 1.5
INGEST_MS: Final = 2.0


def material(items: Iterable[Item], runs: Iterable[Run], workspace: str = "") -> Material:
    """Return all of a conversation as what a handoff is made from."""
    facts = tuple(item_facts(item) for item in items)
    runs = tuple(runs)
    return Material(
        thread=records.thread(workspace=f"file://{workspace}"),
        strategy="full_thread_summary",
        runs=runs,
        items=facts,
        standing=tuple(item for item in facts if any(getattr(f, "section", "") == "constraints" for f in item.facts)),
        target="claude",
        providers_of_runs={run.ordinal: run.provider for run in runs if run.ordinal is not None},
        readable=True,
    )


def fold(text: str) -> str:
    return " ".join(text.lower().split())


def stands(text: str, key: str) -> bool:
    """Whether one of a key's alternatives stands in a folded text."""
    return any(fold(word) in text for word in key.split(" | "))


def retained(text: str, facts: list[dict[str, Any]]) -> float:
    """Return the share of facts whose keys all stand in a text."""
    folded = fold(text)
    return statistics.mean(all(stands(folded, key) for key in fact["keys"]) for fact in facts)


class Shelf:
    """Conversations that can be read back through the reader's own tools, over a store."""

    def __init__(self, conversation: Folder) -> None:
        self._library = conversation.library()
        self._read: dict[str, str] = {}

    async def recovered(self, text: str) -> str:
        """Return a handoff with all that the call in its last line returns, page after page."""
        named = NAMED.search(text)
        if named is None:
            return text
        if named[0] not in self._read:
            told, call = "", named
            while call is not None:
                page = await getattr(self._library, call[1])(**json.loads(call[2]))
                told, call = f"{told}\n{page}", MORE.search(page)
            self._read[named[0]] = told
        return f"{text}\n{self._read[named[0]]}"


@asynccontextmanager
async def shelved(items: Iterable[Item], runs: Iterable[Run]) -> AsyncIterator[Shelf]:
    """Store a conversation, and open it for reading."""
    with tempfile.TemporaryDirectory(prefix="midstream-bench-") as temporary, contextlib.chdir(temporary):
        async with folder_at(Path()) as folder:
            await folder.thread(*items, runs=tuple(runs))
            yield Shelf(folder)


async def real(folder: Path) -> bool:
    """Measure the real sessions; return whether ours is above the curve and above every baseline."""
    shares: dict[tuple[str, str], list[float]] = {}
    kept: dict[str, list[float]] = {}
    stale: dict[str, list[float]] = {}
    truths = [json.loads(path.read_text()) for path in sorted((folder / "truth").glob("*.json"))]
    for truth in truths:
        session: Conversation = read(folder / truth["file"])
        made = material(session.items, session.runs, session.workspace)
        async with shelved(session.items, session.runs) as shelf:
            for name, budget in BUDGETS.items():
                whole = await shelf.recovered(handed_over(made, budget))
                kept.setdefault(name, []).append(retained(whole, truth["facts"]))
        for name, budget in BUDGETS.items():
            text = handed_over(made, budget)
            shares.setdefault((name, "ours"), []).append(retained(text, truth["facts"]))
            gone = [entry["string"] for entry in truth.get("superseded", ())]
            stale.setdefault(name, []).extend(float(fold(word) not in fold(text)) for word in gone)
            for baseline, make in BASELINES.items():
                share = retained(make(told(session.items), budget), truth["facts"])
                shares.setdefault((name, baseline), []).append(share)
    holds = True
    for name in BUDGETS:
        ours = statistics.mean(shares[name, "ours"])
        show(f"handoff.real.{name}.retained", ours, "share", 1.0, CURVE[name], higher_is_better=True)
        all_kept = statistics.mean(kept[name])
        show(f"handoff.real.{name}.kept", all_kept, "share", 1.0, KEPT, higher_is_better=True)
        if stale[name]:
            show(
                f"handoff.real.{name}.precision", statistics.mean(stale[name]), "share", 1.0, 0.9, higher_is_better=True
            )
        others = {baseline: statistics.mean(shares[name, baseline]) for baseline in BASELINES}
        for baseline, share in others.items():
            show(f"handoff.real.{name}.baseline.{baseline}.retained", share, "share", ours, 1.0)
        holds = holds and ours >= CURVE[name] and ours > max(others.values()) and all_kept >= KEPT
    return holds


def handed_over(made: Material, budget: int) -> str:
    """Return a handoff's text, empty where it is refused."""
    try:
        return build(made, budget_tokens=budget, nonce=NONCE).sent_text
    except MidstreamError:
        return ""


async def generated() -> bool:
    """Measure the generated conversations; return whether all gates hold."""
    holds = True
    for name, budget in BUDGETS.items():
        kept: dict[str, list[bool]] = {}
        recoverable: list[float] = []
        others: dict[str, list[float]] = {}
        for seed in SEEDS:
            case = planted(seed, 10 * budget)
            runs = tuple(records.run(n) for n in range(1, 25))
            made = material(case.items, runs)
            text = handed_over(made, budget)
            async with shelved(case.items, runs) as shelf:
                whole = await shelf.recovered(text)
            recoverable.append(statistics.mean(all(key in whole for key in fact.keys) for fact in case.facts))
            holds = holds and not any(trap in whole for trap in case.traps)
            for fact in case.facts:
                kept.setdefault(fact.kind, []).append(all(key in text for key in fact.keys))
            holds = holds and not any(trap in text for trap in case.traps)
            holds = holds and estimate_tokens(text) <= budget and handed_over(made, budget) == text
            for baseline, make in BASELINES.items():
                cut = make(told(case.items), budget)
                share = statistics.mean(all(key in cut for key in fact.keys) for fact in case.facts)
                others.setdefault(baseline, []).append(share)
        holds = holds and all(all(kept[kind]) for kind in PINNED)
        for kind, found in kept.items():
            show(
                f"handoff.planted.{name}.{kind.replace(' ', '_')}",
                statistics.mean(found),
                "share",
                1.0,
                0.0,
                higher_is_better=True,
            )
        total = statistics.mean(one for found in kept.values() for one in found)
        all_kept = statistics.mean(recoverable)
        show(f"handoff.planted.{name}.kept", all_kept, "share", 1.0, KEPT, higher_is_better=True)
        holds = holds and all_kept >= KEPT
        show(f"handoff.planted.{name}.retained", total, "share", 1.0, 0.5, higher_is_better=True)
        for baseline, shares in others.items():
            show(f"handoff.planted.{name}.baseline.{baseline}.retained", statistics.mean(shares), "share", total, 1.0)
    return holds


def ingest(folder: Path) -> None:
    """Measure what making facts adds to the commit of an item."""
    items = [item for path in sorted((folder / "truth").glob("*.json")) for item in read(_session(folder, path)).items]
    item_facts(items[0])
    began = time.process_time()
    for item in items:
        item_facts(item)
    milliseconds = (time.process_time() - began) * 1_000 / len(items)
    show("handoff.ingest", milliseconds, "ms/item", INGEST_MS, 1.0)


def _session(folder: Path, truth: Path) -> Path:
    return folder / json.loads(truth.read_text())["file"]


async def thread_of(path: Path, items: int) -> tuple[Store, ThreadState]:
    """Return a store with the facts of a thread of so many items, thirty a run, and the thread's state."""
    store = await Store.open(path)
    maker = Ingest(store, frozenset)
    runs = items // 30
    words = "I moved the parser of `module{0}` into src/part_{0}.py. It passes test_{0} now. More is to do."
    for start in range(0, items, 1_000):
        puts = [
            ItemPut(
                records.item(UserMessageItem, n, n // 30 + 1, text=f"Look at module{n}.")
                if n % 30 == 0
                else records.item(AgentMessageItem, n, n // 30 + 1, text=words.format(n))
            )
            for n in range(start, min(start + 1_000, items))
        ]
        await store.commit(Write(thread_id="thr_1", first_sequence=0, facts=maker.rows(puts)))
    state = ThreadState(thread=records.thread(), runs=Map({f"run_{n}": records.run(n) for n in range(1, runs + 1)}))
    return store, state


async def seconds_for(store: Store, state: ThreadState, ordinals: tuple[int, ...]) -> float:
    """Return the processor's seconds to gather, measure and lay out a handoff over some runs."""
    plan = SwitchPlan(
        strategy="full_thread_summary",
        provider_thread_id=None,
        covered_thread_id="thr_1",
        covered_run_ordinals=None,
        run_ordinals=ordinals,
        transfer_ids=(),
        channel="separateBlock",
        reasons=(),
    )
    began = time.process_time()
    made = await gather(store, state, plan, "full_thread_summary", "claude", None)
    minimum_tokens(made)
    build(made, budget_tokens=16_000, nonce=NONCE)
    return time.process_time() - began


async def cost(folder: Path) -> None:
    """Measure a whole thread of 10,000 items, and a delta on threads of 1,000 and 100,000."""
    deltas = []
    for items in (1_000, 10_000, 100_000):
        store, state = await thread_of(folder / f"{items}.db", items)
        last = items // 30
        if items == 10_000:
            everything = tuple(range(1, last + 1))
            whole = statistics.median([await seconds_for(store, state, everything) for _ in range(5)])
            show("handoff.cost_10k_items", whole * 1_000, "ms", COST_MS, 1.0)
        else:
            three = (last - 2, last - 1, last)
            deltas.append(statistics.median([await seconds_for(store, state, three) for _ in range(9)]))
        await store.aclose()
    show("handoff.delta_growth", deltas[1] * 1_000, "ms", deltas[0] * 1_000, GROWTH)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--transcripts", type=Path, default=Path(__file__).parents[3] / "shared" / "transcripts")
    folder = parser.parse_args().transcripts.absolute()
    gates = asyncio.run(generated())
    if not (folder / "truth").is_dir():
        print(f"There are no real sessions at {folder}; name their folder with --transcripts.", file=sys.stderr)
        return 1
    gates = asyncio.run(real(folder)) and gates
    show("handoff.gates", float(gates), "all", 1.0, 1.0, higher_is_better=True)
    ingest(folder)
    with tempfile.TemporaryDirectory(prefix="midstream-bench-") as temporary:
        asyncio.run(cost(Path(temporary)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
