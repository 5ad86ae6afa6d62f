from .model import Model

class Visible(Model):
    inner: Model

    def __init__(self, inner: Model) -> None: ...

def fail_after(n: int) -> int: ...
