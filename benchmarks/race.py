"""Pairing: every contestant runs on an input before the next input comes, in an order that turns; ratios are taken input by input."""

import statistics

from .client import Worker, WorkerError


class Contestant:
    """An engine and what it is to do. `label` is how the tables call it."""

    def __init__(self, engine, do, label=None, **options):
        self.engine, self.do, self.options = engine, do, options
        self.label = label or engine


class Result:
    """What became of a contestant: times input by input, or the reason why there are none."""

    def __init__(self, contestant):
        self.contestant = contestant
        self.label = contestant.label
        self.answers = {}       # number of the input -> the worker's answer
        self.refused = None
        self.loaded = None

    def refuse(self, reason):
        self.refused = self.refused or reason

    def times(self, clock="wall"):
        return {turn: answer[clock] for turn, answer in self.answers.items()}

    def median(self, clock="wall", warm_up=0):
        """Nanoseconds; the first `warm_up` inputs do not count."""
        return statistics.median(value for turn, value in self.times(clock).items() if turn >= warm_up)


def differs(answer, reference):
    """Say how an answer differs from the reference's; None where it does not, or where it has nothing to compare."""
    if answer["n"] is None or reference["n"] is None:
        return None
    if answer["n"] != reference["n"]:
        return f"result differs: {answer['n']} items, reference {reference['n']}"
    if answer["print"] and reference["print"] and answer["print"] != reference["print"]:
        return f"result differs, though both have {answer['n']} items"
    return None


class Race:
    """Runs contestants on inputs. `fresh`: a new process for every contestant and input, so that nothing was seen before.

    The first contestant is the reference: who comes to another result on any input is refused, with all its times.
    """

    def __init__(self, setup, encoding, contestants, fresh=False, timeout=300):
        self.setup, self.encoding, self.fresh, self.timeout = setup, encoding, fresh, timeout
        self.results = [Result(contestant) for contestant in contestants]
        self.workers = {}       # engine -> its worker, where it is kept

    def run(self, inputs, **options):
        try:
            for turn, path in enumerate(inputs):
                shift = turn % len(self.results)
                for result in self.results[shift:] + self.results[:shift]:
                    if not result.refused:
                        self._one(result, turn, path, options)
                self._judge(turn)
        finally:
            for worker in self.workers.values():
                worker.close()
            self.workers.clear()
        return self.results

    def _one(self, result, turn, path, options):
        who = result.contestant
        try:
            worker = self.workers.get(who.engine) or Worker(self.setup, who.engine, self.encoding)
            result.loaded = worker.loaded
            if not self.fresh:
                self.workers[who.engine] = worker
            answer = worker.ask(who.do, timeout=self.timeout, input=path, **{**options, **who.options})
            if self.fresh:
                worker.close()
        except WorkerError as error:
            self.workers.pop(who.engine, None)
            result.refuse(str(error))
            return
        if "error" in answer:
            result.refuse(answer["error"])
        else:
            result.answers[turn] = answer

    def _judge(self, turn):
        reference = self.results[0].answers.get(turn)
        for result in self.results[1:]:
            answer = result.answers.get(turn)
            if reference and answer and not result.refused:
                reason = differs(answer, reference)
                if reason:
                    result.refuse(reason)


def ratios(base, result, clock="wall", warm_up=0):
    """How many times as long the base took, input by input: (median, lower quartile, upper quartile), or None."""
    mine, its = result.times(clock), base.times(clock)
    pairs = sorted(its[turn] / max(mine[turn], 1) for turn in mine if turn in its and turn >= warm_up)
    if not pairs:
        return None
    if len(pairs) == 1:
        return pairs * 3
    lower, middle, upper = statistics.quantiles(pairs, n=4, method="inclusive")
    return [middle, lower, upper]
