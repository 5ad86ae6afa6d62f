"""Every allocation made to fail once: the walk that tests of memory share. It needs a build with CTOK_BUILD=test."""

import pytest


def can_fail(module):
    """Whether this build can make allocations of a module fail."""
    return module.fail_after(0) != -1 or module.fail_after(-1) != -1


def needs_failing(module):
    """The mark of tests that need such a build."""
    return pytest.mark.skipif(not can_fail(module), reason="only builds with CTOK_BUILD=test can make allocations fail")


def walk(modules, call, prepare=lambda: None, check=lambda thing: None, most=400, least=1):
    """Fail allocation after allocation of each module in ``call(prepare())``.

    Each time it is a `MemoryError`, or the result is what it always is. After an error `check` looks at what was prepared, and the same
    call then works. Returns how many calls failed, which must be `least`.
    """
    want, failed = call(prepare()), 0
    for module in modules:
        for n in range(most):
            thing = prepare()
            module.fail_after(n)
            try:
                assert call(thing) == want, (module, n)
            except MemoryError:
                module.fail_after(-1)
                failed += 1
                check(thing)
                assert call(thing) == want, (module, n)
                continue
            finally:
                left = module.fail_after(-1)
            if left >= 0:
                break
        else:
            raise AssertionError(f"{module.__name__}: more than {most} allocations")
    assert failed >= least
    return failed


def walk_calls(modules, make, calls, state, most=400):
    """Fail allocation after allocation of each module in each of some calls on one object: after an error ``state(it)`` is as before."""
    want, failed = None, 0
    for module in modules:
        for n in range(most):
            thing, got, reached = make(), [], False
            for call in calls:
                before = state(thing)
                module.fail_after(n)
                try:
                    result = call(thing)
                except MemoryError:
                    reached = module.fail_after(-1) < 0
                    failed += 1
                    assert state(thing) == before, (module, n)
                    result = call(thing)
                reached |= module.fail_after(-1) < 0
                got.append((result, state(thing)))
            want = want or got
            assert got == want, (module, n)
            if not reached:
                break
        else:
            raise AssertionError(f"{module.__name__}: more than {most} allocations")
    assert failed
