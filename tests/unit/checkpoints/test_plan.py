"""The plan of a restore, as a function of what is known."""

from midstream.server.checkpoints.claims import Claims
from midstream.server.checkpoints.model import Step, Version
from midstream.server.checkpoints.plan import (
    CHANGED,
    IN_THE_WAY,
    NOT_KEPT,
    SHARED,
    UNSAVED,
    Aim,
    Obstacle,
    Plan,
    aims,
    plan,
)

ONE, TWO, USERS = (Version("100644", letter * 40) for letter in "12c")
ALONE = Claims(None, frozenset())
BACK = {
    b"changed": Step(b"changed", TWO, ONE),
    b"deleted": Step(b"deleted", None, ONE),
    b"made": Step(b"made", TWO, None),
}


def wanted(back=BACK, since=(), named=None, own=None, skipped=()) -> dict[bytes, Aim]:
    return aims(back, {step.path: step for step in since}, named=named, own=own, skipped=skipped)


def planned(aims: dict[bytes, Aim], **known) -> Plan:
    defaults = {"since": (), "claims": ALONE, "dirty": (), "obstacles": (), "unkept": ()}
    return plan(aims, **{**defaults, **known})


def reasons(it: Plan) -> dict[bytes, str]:
    return {conflict.path: conflict.reason for conflict in it.conflicts}


def test_a_whole_restore_is_about_what_differs_from_the_base():
    elsewhere = Step(b"elsewhere", ONE, USERS)
    assert set(wanted(since=[elsewhere])) == set(BACK)


def test_a_restore_of_the_base_itself_is_about_what_changed_since():
    assert wanted(back={}, since=[Step(b"a", ONE, USERS)]) == {b"a": Aim(USERS, ONE)}


def test_a_named_file_or_folder_is_restored_whoever_changed_it_when():
    since = [Step(b"folder/a", ONE, USERS), Step(b"folder-not", ONE, USERS)]
    assert wanted(since=since, named=[b"folder"]) == {b"folder/a": Aim(USERS, ONE)}


def test_a_file_that_changed_twice_is_seen_as_it_is_and_as_it_was():
    assert wanted(since=[Step(b"changed", TWO, USERS)])[b"changed"] == Aim(USERS, ONE)


def test_only_own_work_is_restored_unless_it_is_named():
    assert set(wanted(own=frozenset({b"made"}))) == {b"made"}
    assert set(wanted(own=frozenset(), named=[b"made"])) == {b"made"}


def test_what_the_target_skipped_is_left_alone_with_all_that_is_below():
    assert set(wanted(skipped=[b"made"])) == {b"changed", b"deleted"}
    back = {b"folder/a": Step(b"folder/a", TWO, ONE)}
    assert wanted(back=back, skipped=[b"folder"]) == {}


def test_steps_lead_from_what_is_to_what_is_wanted():
    it = planned(wanted())
    assert it.steps == tuple(BACK.values())
    assert (it.written, it.deleted, it.conflicts) == ((b"changed", b"deleted"), (b"made",), ())


def test_what_already_is_as_wanted_is_no_step_and_no_conflict():
    it = planned({b"a": Aim(ONE, ONE)}, since=[b"a"], dirty=[b"a"], unkept=[b"a"])
    assert (it.steps, it.conflicts) == ((), ())


def test_each_reason_stands_against_a_step_which_a_forced_restore_does():
    it = planned(
        wanted(), since=[b"changed"], claims=Claims(None, frozenset({b"deleted"})), dirty=[b"made", b"elsewhere"]
    )
    assert reasons(it) == {b"changed": CHANGED, b"deleted": SHARED, b"made": UNSAVED}
    assert len(it.steps) == 3


def test_what_no_checkpoint_holds_is_no_step_even_of_a_forced_restore():
    it = planned(wanted(), unkept=[b"changed", b"made"], since=[b"changed"])
    assert reasons(it) == {b"changed": NOT_KEPT, b"made": NOT_KEPT}
    assert it.steps == (BACK[b"deleted"],)


def test_an_ignored_file_in_the_way_is_swept_away_only_by_force_and_what_lies_under_it_is_done():
    aim = {b"a/b": Aim(None, ONE)}
    it = planned(aim, obstacles=[Obstacle(b"a", b"a/b", lasting=False)])
    assert reasons(it) == {b"a": IN_THE_WAY}
    assert it.swept == (b"a",)
    assert it.steps == (Step(b"a", None, None), Step(b"a/b", None, ONE))


def test_an_ignored_file_at_the_very_place_is_replaced():
    it = planned({b"a": Aim(None, ONE)}, obstacles=[Obstacle(b"a", b"a", lasting=False)])
    assert (it.steps, it.swept) == ((Step(b"a", None, ONE),), (b"a",))


def test_what_a_lasting_obstacle_blocks_is_not_done_and_nothing_is_swept_for_it():
    obstacles = [Obstacle(b"a/.git", b"a", lasting=True), Obstacle(b"a/x", b"a", lasting=False)]
    it = planned({b"a": Aim(None, ONE), b"b": Aim(None, ONE)}, obstacles=obstacles)
    assert it.steps == (Step(b"b", None, ONE),)
    assert it.swept == ()
    assert reasons(it) == {b"a/.git": NOT_KEPT, b"a/x": IN_THE_WAY}
