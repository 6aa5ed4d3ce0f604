"""``tenon gpu``: fetch, look at and remove GPU support."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.cli.subcommand import add_json, stopped_by_interrupt, tell
from engine.errors import AddonUnusable, Cancelled, InvalidOption
from engine.sentences import readable

if TYPE_CHECKING:
    from engine.gpu_addon.addon import GpuStatus
    from engine.gpu_addon.installation import AddonPlan, AddonProgress


def add_to(commands: Any) -> None:
    """Add the subcommand to the parser's subcommands."""
    gpu = commands.add_parser(
        "gpu",
        help="fetch GPU support, look at it, or remove it",
        description="GPU support: a build of torch for this machine's graphics card, in a folder of its own. Without "
        "an action, say how it stands.",
    )
    gpu.set_defaults(run=_status, json=False)
    actions = gpu.add_subparsers(title="actions", metavar="ACTION")
    status = actions.add_parser("status", help="say what there is, what is installed and whether it works")
    status.set_defaults(run=_status)
    add_json(status)
    install = actions.add_parser(
        "install",
        help="fetch GPU support for this machine",
        description="Say what would be fetched and how large it is, ask, and fetch it. Ctrl+C pauses; the same command "
        "goes on.",
    )
    install.set_defaults(run=_install)
    install.add_argument("addon", metavar="NAME", nargs="?", help="another one than this machine's")
    install.add_argument("--index", metavar="URL", help="fetch from this package index instead of PyTorch's")
    install.add_argument("--dry-run", action="store_true", help="only say what would be fetched")
    install.add_argument("--yes", action="store_true", help="do not ask")
    add_json(install)
    remove = actions.add_parser("remove", help="remove GPU support, and what is left of an unfinished download")
    remove.set_defaults(run=_remove)
    remove.add_argument("--dry-run", action="store_true", help="only say what would be freed")
    add_json(remove)
    # An installed app starts it to check an add-on; without help it is not listed.
    check = actions.add_parser("check")
    check.set_defaults(run=_check)
    check.add_argument("folder", type=Path)
    check.add_argument("result", type=Path)


def _status(options: argparse.Namespace) -> int:
    from engine.gpu_addon.addon import read_status

    status = read_status()
    if options.json:
        print(json.dumps(_as_json(status), ensure_ascii=False))
        return 0
    print(status.sentence)
    print(_computing(status.chips))
    if status.installed is None and status.choice.addons:
        print("`tenon gpu install` says how large it is, and fetches it.")
    if status.disk_bytes:
        print(f"It takes {readable(status.disk_bytes)}, which `tenon gpu remove` frees.")
    return 0


def _computing(chips: str) -> str:
    """Say which GPU is used now, and by which way; ``chips`` is what the status says of graphics chips."""
    from engine.planning.probes.graphics import read_gpus

    gpu = max(read_gpus(), key=lambda gpu: gpu.free_bytes, default=None)
    if gpu is None or gpu.by_shaders:
        return f"Torch computes on no GPU here. {chips}".rstrip()
    return f"Models compute on {gpu.name} ({gpu.device}) through torch, which is faster than the system's driver."


def _install(options: argparse.Namespace) -> int:
    from engine.gpu_addon.installation import Installation
    from engine.hub.transfer import StopSignal

    plan = _plan(options)
    result: dict[str, Any] = {"state": "offered", **_planned(plan)}
    tell(options, _offered(plan))
    if _is_here(plan):
        result["state"] = "installed"
        tell(options, "It is installed already.")
    elif not options.dry_run and _agreed(options):
        stop = StopSignal()
        installation = Installation(plan, stop, _progress(plan, options.json))
        try:
            outcome = stopped_by_interrupt(installation.run, stop)
        except Cancelled:
            print("Paused: the same command goes on.", file=sys.stderr)
            result["state"] = "paused"
        else:
            result.update(state="installed", problem=outcome.problem, gpus=list(outcome.gpus))
            text = outcome.problem or f"It works with {' and '.join(outcome.gpus)}, from the next start on."
            tell(options, text)
    if options.json:
        print(json.dumps(result, ensure_ascii=False))
    return {"paused": 130}.get(result["state"], 1 if result.get("problem") else 0)


def _plan(options: argparse.Namespace) -> AddonPlan:
    from engine.gpu_addon.addon import known_addons, look_for_addons
    from engine.gpu_addon.installation import make_plan

    choice, torch = look_for_addons()
    if options.addon is None:
        if not choice.addons:
            raise AddonUnusable(choice.sentence)
        addons = choice.addons
        tell(options, choice.sentence)
    else:
        addons = tuple(addon for addon in known_addons() if addon.name == options.addon)
        if not addons:
            names = ", ".join(addon.name for addon in known_addons())
            raise InvalidOption(f"There is no GPU support {options.addon!r}: choose one of {names}.")
    return make_plan(addons, torch, options.index)


def _is_here(plan: AddonPlan) -> bool:
    """Return whether the very same wheels are installed, and work."""
    from engine.gpu_addon.check import checked
    from engine.gpu_addon.installed_addon import find_installed

    installed = find_installed()
    wheels = {wheel.file_name: wheel.sha256 for wheel in plan.wheels}
    return installed is not None and installed.wheels == wheels and checked(installed).problem is None


def _agreed(options: argparse.Namespace) -> bool:
    if options.yes:
        return True
    if options.json or not sys.stdin.isatty():
        raise InvalidOption("Nobody can be asked here: say --yes to fetch it, or --dry-run to only look.")
    return input("Fetch it? [y/N] ").strip().lower() in ("y", "yes")


def _progress(plan: AddonPlan, silent: bool) -> Any:
    from engine.cli.download import ProgressLine

    lines: dict[str, ProgressLine] = {}

    def show(progress: AddonProgress) -> None:
        step = "unpacking" if progress.step == "unpacking" else "fetching"
        if progress.step == "checking":
            if not silent:
                print("Checking whether it works here...", file=sys.stderr)
            return
        if step not in lines:
            lines[step] = ProgressLine(f"{plan.addon.title}, {step}", silent)
        lines[step].show(progress.done_bytes, progress.total_bytes, progress.message)
        if progress.done_bytes == progress.total_bytes:
            lines[step].end()

    return show


def _remove(options: argparse.Namespace) -> int:
    from engine.gpu_addon.installed_addon import removable_bytes, remove_all

    freed = removable_bytes() if options.dry_run else remove_all()
    if options.json:
        print(json.dumps({"dry_run": options.dry_run, "freed_bytes": freed}))
    elif not freed:
        print("There is no GPU support to remove.")
    else:
        print(f"{readable(freed)} {'would be freed' if options.dry_run else 'freed'}.")
    return 0


def _check(options: argparse.Namespace) -> int:
    from engine.gpu_addon.check import run_check

    run_check(options.folder, options.result)
    return 0


def _offered(plan: AddonPlan) -> str:
    lines = [
        f"{plan.addon.title} for torch {plan.torch}: {readable(plan.size_bytes)} to fetch from {plan.address}, "
        f"{readable(plan.unpacked_bytes)} on the disk"
    ]
    lines += [f"  {wheel.name} {wheel.version}  {readable(wheel.size_bytes)}" for wheel in plan.wheels]
    return "\n".join(lines)


def _planned(plan: AddonPlan) -> dict[str, Any]:
    return {
        "addon": plan.addon.name,
        "address": plan.address,
        "torch": plan.torch,
        "size_bytes": plan.size_bytes,
        "unpacked_bytes": plan.unpacked_bytes,
        "wheels": [asdict(wheel) for wheel in plan.wheels],
    }


def _as_json(status: GpuStatus) -> dict[str, Any]:
    installed, outcome = status.installed, status.outcome
    return {
        "cards": [asdict(card) for card in status.cards],
        "addons": [addon.name for addon in status.choice.addons],
        "installed": None if installed is None else {**asdict(installed), "folder": str(installed.folder)},
        "works": status.works,
        "gpus": [] if outcome is None else list(outcome.gpus),
        "disk_bytes": status.disk_bytes,
        "message": status.sentence,
    }
