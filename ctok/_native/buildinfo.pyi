version: str
mode: str
