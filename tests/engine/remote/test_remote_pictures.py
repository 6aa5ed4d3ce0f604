from __future__ import annotations

import base64
import io
import json
from dataclasses import replace

from PIL import Image

from engine.messages import ChatMessage, Generate, LoadOptions, ToAsk
from engine.remote.asking import encoded
from tests.support.seeing import drawing, picture_of


def test_pictures_leave_as_data_at_their_places_and_without_what_their_files_tell() -> None:
    picture = picture_of(drawing(3000, 30), at=6)
    exif = Image.Exif()
    exif[0x010F] = "A camera"
    data = io.BytesIO()
    drawing(40, 30).save(data, "PNG", exif=exif)
    told = replace(picture, content=data.getvalue(), at=0)
    turns = (ChatMessage("user", "Look: what is it?", pictures=(told, picture)),)
    asked = ToAsk(Generate("", LoadOptions(), turns), "m", "", 8192, 1.0)
    found = encoded(asked)
    (message,) = json.loads(found.body)["messages"]
    kinds = [part["type"] for part in message["content"]]
    assert kinds == ["image_url", "text", "image_url", "text"]
    assert [part["text"] for part in message["content"] if part["type"] == "text"] == ["Look: ", "what is it?"]
    images = []
    for part in message["content"][::2]:
        head, _, body = part["image_url"]["url"].partition(",")
        assert head == "data:image/jpeg;base64"
        images.append(Image.open(io.BytesIO(base64.b64decode(body))))
    assert [image.size for image in images] == [(40, 30), (2048, 20)]
    assert not any(image.getexif() for image in images)
    assert found.tokens > 2048
