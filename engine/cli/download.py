"""``tenon models search`` and ``tenon models get``: the catalogue's and the hub's matches, fetched in turn."""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from engine.cli.subcommand import as_json, stopped_by_interrupt, tell
from engine.errors import Cancelled, HubError, TenonError
from engine.hub.catalogue import CatalogueModel, catalogue, search_catalogue
from engine.hub.connection import FoundModel, Hub, search
from engine.hub.download import Download, Progress
from engine.hub.download_queue import stored_downloads
from engine.hub.installed import installed_models
from engine.hub.model_folders import models_folder
from engine.hub.offer import Offer, make_offer
from engine.hub.transfer import StopSignal, TransferRate
from engine.sentences import readable
from engine.terminal import Steering

_EVERY_S = 0.2
_EVERY_SHARE = 0.1


class ProgressLine:
    """A progress line: rewritten in place on a terminal; elsewhere a line for every tenth.

    Args:
        label: Subject of the line.
        silent: True to say nothing.
        steps: True if steps are counted, and not bytes.
    """

    def __init__(self, label: str, silent: bool = False, steps: bool = False) -> None:
        self._label = label
        self._steps = steps
        self._silent = silent
        self._terminal = sys.stderr.isatty()
        self._rate = TransferRate()
        self._last_s = float("-inf")
        self._tenths = 0
        self._width = 0

    def show(self, done_bytes: int, total_bytes: int, message: str | None = None) -> None:
        """Show how far it is, not too often, and what it waits for."""
        now_s = time.monotonic()
        self._rate.note(now_s, done_bytes)
        if self._silent:
            return
        if not self._terminal:
            tenths = int(done_bytes / max(1, total_bytes) / _EVERY_SHARE)
            if message is not None or tenths > self._tenths:
                self._tenths = tenths
                print(self._text(done_bytes, total_bytes, message), file=sys.stderr, flush=True)
        elif message is not None or now_s - self._last_s >= _EVERY_S or done_bytes == total_bytes:
            self._last_s = now_s
            text = self._text(done_bytes, total_bytes, message)
            sys.stderr.write(Steering("\r"))
            print(f"{text:<{self._width}}", end="", file=sys.stderr, flush=True)
            self._width = len(text)

    def end(self) -> None:
        """Leave the line."""
        if self._terminal and not self._silent and self._width:
            print(file=sys.stderr)

    def _text(self, done_bytes: int, total_bytes: int, message: str | None) -> str:
        share = done_bytes / max(1, total_bytes)
        if self._steps:
            return f"{self._label}  {share:4.0%}"
        parts = [f"{self._label}  {share:4.0%}  {readable(done_bytes)} of {readable(total_bytes)}"]
        speed = self._rate.bytes_per_s()
        left_s = self._rate.seconds_left(total_bytes - done_bytes)
        if speed and message is None:
            parts.append(f"{readable(int(speed))}/s")
        if left_s is not None and message is None and done_bytes < total_bytes:
            parts.append(f"{_duration(left_s)} left")
        if message is not None:
            parts.append(message)
        return "  ".join(parts)


def _duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.0f} s"
    if seconds < 3600:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def run_get(options: argparse.Namespace) -> int:
    """Run the action and return the exit code."""
    models = models_folder()
    hub = Hub()
    results: list[dict[str, Any]] = []
    try:
        for reference in options.model:
            offer = _offer(hub, models, reference, options)
            result = _result(offer)
            results.append(result)
            if options.dry_run:
                result["state"] = "offered"
                tell(options, _offered(offer))
                continue
            if _is_installed(offer):
                result["state"] = "installed"
                tell(options, f"{offer.plan.name} is installed already.")
                continue
            code = _fetch(hub, models, offer, options, result)
            if code:
                return code
    finally:
        hub.close()
        as_json(options, {"models": results})
    return 0


def _offer(hub: Hub, models: Path, reference: str, options: argparse.Namespace) -> Offer:
    """Return the offer for a reference; an unfinished download goes on as it was asked for."""
    for download in stored_downloads(models):
        if download.plan.name == reference:
            plan = download.plan
            return Offer(plan, gated=False, page=f"{hub.endpoint}/{plan.repo}")
    return make_offer(
        hub,
        models,
        reference,
        options.format,
        options.quantization,
        options.revision,
        options.kind,
        options.name,
    )


def _fetch(
    hub: Hub,
    models: Path,
    offer: Offer,
    options: argparse.Namespace,
    result: dict[str, Any],
) -> int:
    download = Download(models, offer.plan)
    download.keep("queued")
    stop = StopSignal()
    line = ProgressLine(offer.plan.name, silent=options.json)
    others = sum(
        other.remaining_bytes()
        for other in stored_downloads(models)
        if other.plan.name != offer.plan.name and other.stored.state == "queued"
    )

    def show(progress: Progress) -> None:
        line.show(progress.done_bytes, progress.total_bytes, progress.message)

    try:
        folder = stopped_by_interrupt(lambda: download.run(hub, stop, show, queued_bytes=lambda: others), stop)
    except Cancelled:
        download.keep("paused")
        result.update(state="paused", done_bytes=download.done_bytes())
        print(
            f"Paused with {readable(download.done_bytes())} of {readable(offer.plan.size_bytes)}: "
            "the same command goes on.",
            file=sys.stderr,
        )
        return 130
    except TenonError as error:
        download.keep("failed", error.message)
        result.update(state="failed", message=error.message, done_bytes=download.done_bytes())
        raise
    finally:
        line.end()
    result.update(state="installed", folder=str(folder))
    tell(options, f"{offer.plan.name} is installed in {folder}")
    if offer.drafts:
        tell(options, f"Drafts for it, to get beside it: {', '.join(offer.drafts)}")
    return 0


def _is_installed(offer: Offer) -> bool:
    return any(
        model.record is not None
        and (model.name, model.record.repo, model.record.revision)
        == (offer.plan.name, offer.plan.repo, offer.plan.commit)
        for model in installed_models()
    )


def _result(offer: Offer) -> dict[str, Any]:
    plan = offer.plan
    return {
        "name": plan.name,
        "state": None,
        "repo": plan.repo,
        "revision": plan.commit,
        "format": plan.format,
        "quantization": plan.quantization,
        "quantizations": list(offer.alternatives),
        "licence": plan.licence,
        "gated": offer.gated,
        "page": offer.page,
        "size_bytes": plan.size_bytes,
        "files": [{"name": file.name, "size_bytes": file.size_bytes} for file in plan.files],
        "drafts": list(offer.drafts),
    }


def _offered(offer: Offer) -> str:
    plan = offer.plan
    lines = [
        f"{plan.name}: {readable(plan.size_bytes)} in {len(plan.files)} file{'s' if len(plan.files) > 1 else ''} "
        f"of {plan.repo}, licence {plan.licence or 'not stated'}"
    ]
    lines += [f"  {file.name}  {readable(file.size_bytes)}" for file in plan.files]
    if offer.gated:
        lines.append(f"  gated: accept the terms at {offer.page} first")
    if offer.alternatives:
        lines.append(f"  quantizations: {', '.join(offer.alternatives)}")
    if offer.drafts:
        lines.append(f"  drafts for it: {', '.join(offer.drafts)}")
    return "\n".join(lines)


def run_search(options: argparse.Namespace) -> int:
    """Run the action and return the exit code."""
    text = " ".join(options.text)
    listed = search_catalogue(text) if text else catalogue()
    found: tuple[FoundModel, ...] = ()
    note = ""
    if (text or options.author) and not options.offline:
        hub = Hub()
        try:
            found = search(hub, text, options.format, options.limit, options.author)
        except HubError as error:
            if not listed:
                raise
            note = f"Only the catalogue was searched. {error.message}"
        finally:
            hub.close()
    catalogued, on_hub = [_found_as_json(model) for model in listed], [asdict(model) for model in found]
    if as_json(options, {"catalogue": catalogued, "hub": on_hub, "note": note}):
        return 0
    for model in listed:
        size = readable(model.typical_bytes())
        print(f"{model.name:<26} {_count(model.parameters):>6}  about {size} in 4 bits  {model.licence}")
        print(f"{'':<26} {model.title}: {model.about}{' It sees pictures.' if model.sees else ''}")
    if found:
        print("\nOn the hub:")
    for other in found:
        size = "" if other.parameters is None else _count(other.parameters)
        notes = [other.format, other.licence or "no licence stated", *(["gated"] if other.gated else [])]
        print(f"{other.repo:<52} {size:>6}  {', '.join(notes)}{f'  ({other.problem})' if other.problem else ''}")
    if note:
        print(f"\n{note}", file=sys.stderr)
    elif not listed and not found:
        print("Nothing found: try fewer words.", file=sys.stderr)
    return 0


def _found_as_json(model: CatalogueModel) -> dict[str, Any]:
    return {**asdict(model), "context_length": model.context_length}


def _count(parameters: int) -> str:
    return f"{parameters / 1e9:.1f}B" if parameters >= 999.5e6 else f"{parameters / 1e6:.0f}M"
