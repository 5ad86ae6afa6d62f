"""The other end of a worker: starts it, asks it, and gives up on it when it takes too long."""

import json
import os
import selectors
import subprocess
import sys
import tempfile

WORKER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "worker")


class WorkerError(Exception):
    """The worker could not load its engine, died, or took too long."""


class Setup:
    """Where everything is: the interpreters of the engines, the vocabularies, the core to measure on."""

    def __init__(self, pythons, folder, core):
        self.pythons = pythons      # engine -> its interpreter
        self.folder = folder        # of the vocabularies
        self.core = core            # -1: wherever the system likes

    def command(self, engine, encoding):
        command = [self.pythons[engine], "-X", "utf8", WORKER, engine, encoding, self.folder, str(self.core)]
        return [*command, own_path()] if engine == "ctok" else command


def own_path():
    """The folder to import ctok from, be it installed or a source tree built in place."""
    import ctok

    return os.path.dirname(os.path.dirname(os.path.abspath(ctok.__file__)))


class Worker:
    """One engine in a process of its own. `loaded` is what it told about loading."""

    def __init__(self, setup, engine, encoding, timeout=120):
        environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
        self.errors = tempfile.TemporaryFile()      # a file, for a pipe that nobody reads would fill up
        self.process = subprocess.Popen(
            setup.command(engine, encoding), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, env=environment
        )
        self.loaded = self._answer(timeout)

    def _answer(self, timeout):
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            if not selector.select(timeout):
                self.close(kill=True)
                raise WorkerError(f"no answer within {timeout} s")
        line = self.process.stdout.readline()
        if line:
            return json.loads(line)
        self.errors.seek(0)
        errors = self.errors.read().decode(errors="replace").strip().splitlines()
        self.close(kill=True)
        raise WorkerError(errors[-1][:200] if errors else f"ended with status {self.process.returncode}")

    def ask(self, do, timeout=300, **asked):
        """Return the answer, a dict; it has the key "error" where the engine could not."""
        try:
            self.process.stdin.write(json.dumps({"do": do, **asked}).encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass    # it died; the missing answer says so
        return self._answer(timeout)

    def close(self, kill=False):
        if kill:
            self.process.kill()
        for pipe in (self.process.stdin, self.process.stdout, self.errors):
            try:
                pipe.close()
            except BrokenPipeError:
                pass
        self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def find_pythons(peers, wanted):
    """Return engine -> interpreter: ctok's is this one, a peer's is in PEERS/NAME/bin, NAME being the engine or its distribution."""
    from .worker.engines import ENGINES

    found = {"ctok": sys.executable}
    for engine, (_, distribution) in ENGINES.items():
        for name in (engine, distribution):
            for inside in ("bin/python", "Scripts/python.exe"):
                python = os.path.join(peers or "", name, inside)
                if peers and os.path.exists(python) and (not wanted or engine in wanted):
                    found.setdefault(engine, python)
    return found
