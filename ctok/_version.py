"""The version, said once: read by ``setup.py`` and ``pyproject.toml``, compiled into the kernels, shown as ``ctok.__version__``."""

__version__ = "0.1.0"
