"""The clock that the daemon goes by."""

from midstream.server.runtime.clock import never_back


def test_a_clock_that_goes_back_stands_still_until_it_is_caught_up() -> None:
    times = iter([50, 100, 40, 99, 101])
    clock = never_back(lambda: next(times), since=60)
    assert [clock() for _ in range(5)] == [60, 100, 100, 100, 101]
