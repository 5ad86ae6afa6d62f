"""A place in a pattern that is being read."""

__all__ = ["Cursor"]


class Cursor:
    """The pattern's `text`, of which `at` is the next character."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def comes(self, what: str) -> bool:
        """Say whether `what` comes next."""
        return self.text.startswith(what, self.at)

    def skip(self, what: str) -> bool:
        """Step over `what` if it comes next, and say whether it did."""
        found = self.comes(what)
        if found:
            self.at += len(what)
        return found
