from .model import Model

class Visible(Model):
    inner: Model

    def __new__(cls, inner: Model) -> Visible: ...

def fail_after(n: int) -> int: ...
