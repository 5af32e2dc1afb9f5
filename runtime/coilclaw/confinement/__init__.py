"""What the kernel holds a process to: Landlock, for children of the restricted engine and programs of the shell tool.

Two processes with a bare interpreter import this package, so it depends on the standard library alone, and on
as little of it as possible.
"""

__all__: list[str] = []
