"""The restricted engine: snippets compiled by RestrictedPython, each in a confined process of its own.

Every command reads the configuration, which needs the names of the layers and nothing else of this
package. The rest is loaded when it is asked for.
"""

from typing import TYPE_CHECKING

from coilclaw.sandbox.restricted.child.layers import LAYERS, Layer, LayerName

if TYPE_CHECKING:
    from coilclaw.sandbox.restricted.child.confinement import survey
    from coilclaw.sandbox.restricted.engine import RestrictedEngine

__all__ = ["LAYERS", "Layer", "LayerName", "RestrictedEngine", "survey"]


def __getattr__(name: str) -> object:
    if name == "RestrictedEngine":
        from coilclaw.sandbox.restricted.engine import RestrictedEngine

        return RestrictedEngine
    if name == "survey":
        from coilclaw.sandbox.restricted.child.confinement import survey

        return survey
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
