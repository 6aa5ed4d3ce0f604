"""Runs first in the bundle: stands in for the two OpenGL modules of Qt that pyqtgraph imports, used or not.

Tenon's plots are painted without OpenGL.
"""

import sys
from types import ModuleType

widgets = ModuleType("PySide6.QtOpenGLWidgets")
vars(widgets)["QOpenGLWidget"] = object
sys.modules["PySide6.QtOpenGL"] = ModuleType("PySide6.QtOpenGL")
sys.modules["PySide6.QtOpenGLWidgets"] = widgets
