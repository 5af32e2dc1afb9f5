"""The escape corpus: attacks on Python sandboxes as data, one file for each class."""

from coilclaw.sandbox.escapes.corpus import CLASSES, EscapeClass, Payload, read_corpus

__all__ = ["CLASSES", "EscapeClass", "Payload", "read_corpus"]
