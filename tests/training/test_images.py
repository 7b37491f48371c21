"""Photos: where they are cut, what comes out, what is said of broken ones."""

from __future__ import annotations

import io
import random
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from torchvision.transforms.v2 import functional

from nightshift.training import TrainingError
from nightshift.training.images import CentreCrop, RandomCrop, _decoded, centre_box, cut, random_box

SIDES = st.integers(1, 5000)


def photo(path: Path, width: int, height: int, mode: str = "RGB", kind: str = "JPEG") -> Path:
    """Smooth enough that two decoders agree."""
    ramp = torch.linspace(0, 255, width).repeat(height, 1)
    down = torch.linspace(0, 255, height).view(-1, 1).expand(height, width)
    pixels = torch.stack([ramp, down, (ramp + down) / 2], dim=2).to(torch.uint8).contiguous()
    image = Image.frombytes("RGB", (width, height), bytes(pixels.flatten().tolist()))
    image.convert(mode).save(path, kind, quality=95)
    return path


@given(SIDES, SIDES, st.integers(0, 2**32))
def test_a_box_lies_in_the_photo(width: int, height: int, seed: int) -> None:
    random.seed(seed)
    for left, top, right, bottom in (random_box(width, height), centre_box(width, height)):
        assert 0 <= left < right <= width
        assert 0 <= top < bottom <= height


def test_random_boxes_have_the_area_and_the_aspect_they_should() -> None:
    random.seed(0)
    boxes = [random_box(500, 375) for _ in range(2000)]
    areas = [(right - left) * (bottom - top) / (500 * 375) for left, top, right, bottom in boxes]
    aspects = [(right - left) / (bottom - top) for left, top, right, bottom in boxes]
    assert 0.07 < min(areas) < 0.1
    assert max(areas) > 0.9
    assert min(aspects) > 0.7
    assert max(aspects) < 1.4


def test_a_photo_is_cut_as_torchvision_would(tmp_path: Path) -> None:
    path = photo(tmp_path / "a.jpg", 500, 375)
    box = (60, 40, 390, 340)
    ours = cut(path, lambda *_: box, 224)
    theirs = functional.pil_to_tensor(Image.open(path))
    resized = functional.resized_crop(theirs, 40, 60, 300, 330, [224, 224]).permute(1, 2, 0)
    assert (ours.int() - resized.int()).abs().max() <= 3


@pytest.mark.parametrize(("mode", "kind"), [("L", "JPEG"), ("CMYK", "JPEG"), ("RGBA", "PNG"), ("RGB", "PNG")])
def test_every_kind_of_file_comes_out_as_colours(tmp_path: Path, mode: str, kind: str) -> None:
    path = photo(tmp_path / "odd.JPEG", 80, 60, mode, kind)
    pixels = CentreCrop(32)(path)
    assert (pixels.shape, pixels.dtype, pixels.is_contiguous()) == ((32, 32, 3), torch.uint8, True)


def test_a_big_photo_decoded_small_shows_the_same(tmp_path: Path) -> None:
    path = photo(tmp_path / "big.jpg", 2000, 1500)
    box = (200, 300, 1400, 1500)
    assert _decoded(path.read_bytes(), lambda *_: box, 224).size == (300, 300)
    small, whole = cut(path, lambda *_: box, 224), functional.pil_to_tensor(Image.open(path))
    reference = whole[:, 300:1500, 200:1400].float()[None]
    resized = torch.nn.functional.interpolate(reference, size=(224, 224), mode="area")[0].permute(1, 2, 0)
    assert (small.float() - resized).abs().mean() < 2


def test_what_a_crop_draws_is_drawn_from_python_alone(tmp_path: Path) -> None:
    path, read = photo(tmp_path / "a.jpg", 90, 70), RandomCrop(32)
    random.seed(3)
    first = read(path)
    random.seed(3)
    torch.manual_seed(1)
    assert torch.equal(read(path), first)
    assert any(not torch.equal(read(path), first) for _ in range(4))


@pytest.mark.parametrize("content", [b"", b"\xff\xd8\xff", b"no image", b"\x89PNG\r\n\x1a\n"])
def test_a_file_that_is_no_image_is_named(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "broken.jpg"
    path.write_bytes(content)
    with pytest.raises(TrainingError, match=r"broken.jpg: can't be read as an image"):
        RandomCrop(32)(path)


def test_a_photo_cut_short_is_named_or_read(tmp_path: Path) -> None:
    stream = io.BytesIO()
    photo(tmp_path / "a.jpg", 90, 70)
    stream.write((tmp_path / "a.jpg").read_bytes())
    (tmp_path / "a.jpg").write_bytes(stream.getvalue()[:400])
    with pytest.raises(TrainingError, match=r"a.jpg: can't be read"):
        CentreCrop(32)(tmp_path / "a.jpg")
