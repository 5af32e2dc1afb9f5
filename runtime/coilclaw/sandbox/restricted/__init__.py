"""The restricted engine: snippets compiled by RestrictedPython, each in a confined process of its own."""

from typing import TYPE_CHECKING

from coilclaw.sdk.exports import lazy_exports

if TYPE_CHECKING:
    from coilclaw.sandbox.restricted.child.confinement import survey
    from coilclaw.sandbox.restricted.child.layers import LAYERS, Layer, LayerName
    from coilclaw.sandbox.restricted.engine import RestrictedEngine
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "child.confinement": "survey",
            "child.layers": "LAYERS Layer LayerName",
            "engine": "RestrictedEngine",
        },
    )

__all__ = ["LAYERS", "Layer", "LayerName", "RestrictedEngine", "survey"]
