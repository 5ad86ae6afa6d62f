"""What tests that compile C for themselves ask of the compiler."""

import re


def lacks_sanitizers(said):
    """Does what a compiler said mean that it has no sanitizers? A folder may be named after them, and is quoted in any error."""
    return re.search(r"-fsanitize|-l(asan|ubsan)|lib(asan|ubsan)", said) is not None
