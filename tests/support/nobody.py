"""Doing something as a user without rights, in a fork of this process: root may not even read a file too few."""

import os
import pickle
import traceback
from collections.abc import Callable
from typing import TypeVar, cast

T = TypeVar("T")
NOBODY = 65534


def as_nobody(work: Callable[[], T]) -> T:
    """Return what `work` returned; as it is where this user has no rights to give up."""
    if os.geteuid() != 0:
        return work()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            os.write(writing, pickle.dumps((work(), None)))
        except BaseException:
            os.write(writing, pickle.dumps((None, traceback.format_exc())))
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        result, failure = pickle.load(pipe)
    os.waitpid(child, 0)
    assert failure is None, failure
    return cast(T, result)
