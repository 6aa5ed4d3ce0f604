"""Messages into the engine and out of it: frozen, picklable dataclasses and nothing else.

Commands go in through a queue, events come out; both cross a process boundary, so nothing here holds a tensor,
a lock or a function.
"""

from engine.messages.commands import *
from engine.messages.events import *
from engine.messages.machine import *
from engine.messages.models import *
from engine.messages.reports import *
