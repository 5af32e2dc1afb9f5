"""The standard library as a snippet sees it: named functions and classes, never a real module."""
