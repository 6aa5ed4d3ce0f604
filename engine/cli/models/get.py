"""``tenon models get``: download models, one after the other."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from engine.cli.models.progress import ProgressLine
from engine.cli.terminal import stopped_by_interrupt
from engine.errors import Cancelled, TenonError
from engine.hub.connection import Hub
from engine.hub.download import Download, Progress
from engine.hub.download_queue import stored_downloads
from engine.hub.installed import installed_models
from engine.hub.model_folders import models_folder
from engine.hub.offer import Offer, make_offer
from engine.hub.transfer import StopSignal
from engine.sizes import readable


def run(options: argparse.Namespace) -> int:
    """Run the action; the exit code."""
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
                _say(options, _offered(offer))
                continue
            if _is_installed(offer):
                result["state"] = "installed"
                _say(options, f"{offer.plan.name} is installed already.")
                continue
            code = _fetch(hub, models, offer, options, result)
            if code:
                return code
    finally:
        hub.close()
        if options.json:
            print(json.dumps({"models": results}, ensure_ascii=False))
    return 0


def _offer(hub: Hub, models: Path, reference: str, options: argparse.Namespace) -> Offer:
    """Model of a reference; an unfinished download goes on as it was asked for."""
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
        folder = stopped_by_interrupt(
            lambda: download.run(hub, stop, show, queued_bytes=lambda: others), stop
        )
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
    _say(options, f"{offer.plan.name} is installed in {folder}")
    if offer.drafts:
        _say(options, f"Drafts for it, to get beside it: {', '.join(offer.drafts)}")
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


def _say(options: argparse.Namespace, text: str) -> None:
    if not options.json:
        print(text)
