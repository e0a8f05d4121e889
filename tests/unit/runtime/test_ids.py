"""Ids: prefixed, sortable by creation, whatever the clock does."""

from itertools import count, repeat

from midstream.server.runtime.ids import id_maker, milliseconds_of


def test_ids_sort_in_the_order_of_their_creation() -> None:
    clock = count(1_700_000_000_000)
    new_id = id_maker(lambda: next(clock))
    made = [new_id("run") for _ in range(1_000)]
    assert made == sorted(set(made))
    assert all(one.startswith("run_") and len(one) == len(made[0]) for one in made)


def test_many_ids_of_one_millisecond_still_sort() -> None:
    still = repeat(1_700_000_000_000)
    new_id = id_maker(lambda: next(still))
    made = [new_id("itm") for _ in range(1_000)]
    assert made == sorted(set(made))


def test_a_clock_that_goes_back_makes_no_earlier_id() -> None:
    times = iter([5_000_000, 4_000_000, 3_000_000, 6_000_000])
    new_id = id_maker(lambda: next(times))
    made = [new_id("thr") for _ in range(4)]
    assert made == sorted(set(made))


def test_an_id_says_when_it_was_made() -> None:
    make = id_maker(lambda: 1_764_666_000_123)
    assert milliseconds_of(make("run")) == 1_764_666_000_123
