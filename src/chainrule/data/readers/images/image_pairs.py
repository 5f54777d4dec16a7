"""Images and the masks of the same name."""

from collections.abc import Sequence
from pathlib import Path

from chainrule.data.readers.images.image_files import PART_NAMES, files_of
from chainrule.data.readers.images.images import SHOWN
from chainrule.data.readers.tables.columns import listed
from chainrule.errors import InputError


def pairs(folder: Path, masks: Path) -> tuple[list[Path], list[Path], list[int]]:
    """Images, their masks, and the split of each where sub-folders give it."""
    images, _ = files_of(folder)
    found, _ = files_of(masks)
    if folder.resolve() == masks.resolve():
        raise InputError(f"`images` and `masks` are the same folder {folder}; expected two")
    if lossy := [path for path in found if path.suffix.lower() != ".png"]:
        raise InputError(
            f"{masks} holds {len(lossy):,} masks that are not PNG files: "
            f"{listed([path.name for path in lossy], SHOWN)}; lossy formats change the classes"
        )
    by_name: dict[Path, Path] = {}
    for path in images:
        name = path.relative_to(folder).with_suffix("")
        if name in by_name:
            raise InputError(
                f"{by_name[name]} and {path} would have the same mask; rename one of them"
            )
        by_name[name] = path
    partners = {path.relative_to(masks).with_suffix(""): path for path in found}
    check_partners(by_name, partners, folder, masks)
    firsts = [name.parts[0].lower() if len(name.parts) > 1 else "" for name in by_name]
    numbers = [PART_NAMES.get(first, -1) for first in firsts]
    given = numbers if 0 in numbers and min(numbers) >= 0 else []
    return list(by_name.values()), [partners[name] for name in by_name], given


def check_partners(
    images: dict[Path, Path], masks: dict[Path, Path], folder: Path, place: Path
) -> None:
    """Refuse images without masks and masks without images, both at once."""
    faults = []
    for one, other, what, where in (
        (images, masks, "images without a mask in", place),
        (masks, images, "masks without an image in", folder),
    ):
        if lonely := [path.name for name, path in one.items() if name not in other]:
            faults.append(f"{len(lonely):,} {what} {where}: {listed(lonely, SHOWN)}")
    if faults:
        raise InputError(
            f"{'; '.join(faults)}; expected a PNG mask of the same name for every image"
        )


def check_sizes(unequal: Sequence[str]) -> None:
    """Refuse masks of another size than their images."""
    if unequal:
        more = f" and {len(unequal) - SHOWN:,} more" if len(unequal) > SHOWN else ""
        raise InputError(
            f"{len(unequal):,} masks have another size than their images: "
            f"{', '.join(unequal[:SHOWN])}{more}; expected one mask pixel for every image pixel"
        )
