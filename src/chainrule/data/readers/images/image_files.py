"""Which images a folder holds, and what their labels are.

DIR/cat/1.png                   the sub-folder is the class
DIR/train/cat/1.png             the same with given splits: train, and validation, test or both
labels.csv: file,label          a table of files within DIR and their classes
"""

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from chainrule.data.files import unreadable
from chainrule.data.readers.tables.columns import listed, read_csv
from chainrule.errors import InputError

SUFFIXES = (".png", ".jpg", ".jpeg", ".webp")
MAX_IMAGES = 1_000_000
SHOWN = 3  # names in a message
PARTS = ("train", "validation", "test")
PART_NAMES = {
    "train": 0,
    "training": 0,
    "val": 1,
    "valid": 1,
    "validation": 1,
    "test": 2,
    "testing": 2,
}
FILE_NAMES, LABEL_NAMES = ("file", "filename", "path", "image"), ("label", "class", "target")


class Kind(NamedTuple):
    """What a folder is searched for.

    name: in messages.
    suffixes: of the files.
    """

    name: str
    suffixes: tuple[str, ...]


IMAGES = Kind("images", SUFFIXES)


class Listing(NamedTuple):
    """Images, or files of another kind, by path.

    paths: of the files, sorted.
    labels: the class of each.
    parts: the split of each, by its place in `PARTS`; empty where the splits are still to be drawn.
    remarks: what was left out.
    """

    paths: list[Path]
    labels: list[str]
    parts: list[int]
    remarks: tuple[str, ...]


def files_of(folder: Path, kind: Kind = IMAGES) -> tuple[list[Path], int]:
    """(files of this kind, number of others) below a folder; hidden ones do not count."""
    if not folder.is_dir():
        what = "is a file" if folder.is_file() else "does not exist"
        raise InputError(f"{folder} {what}; expected a folder of {kind.name}")

    def refuse(error: OSError) -> None:
        raise unreadable(error.filename or folder, error) from error

    found, others = [], 0
    for place, folders, files in os.walk(folder, onerror=refuse):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        shown = [name for name in files if not name.startswith(".")]
        fitting = [name for name in shown if name.lower().endswith(kind.suffixes)]
        found += [Path(place, name) for name in fitting]
        others += len(shown) - len(fitting)
        if len(found) > MAX_IMAGES:
            raise InputError(f"{folder} holds more than {MAX_IMAGES:,} {kind.name}; divide it")
    if not found:
        endings = ", ".join(kind.suffixes)
        raise InputError(f"{folder} holds no {kind.name}; expected files named {endings}")
    return sorted(found, key=str), others


def by_folder(folder: Path, kind: Kind = IMAGES) -> Listing:
    """Every file of a sub-folder, which is its class."""
    paths, others = files_of(folder, kind)
    inside = [path.relative_to(folder).parts[:-1] for path in paths]
    remarks = [f"files that are not {kind.name}, and were ignored: {others:,}"] if others else []
    depth = 1 if are_splits(folder, inside) else 0
    kept = [k for k, parts in enumerate(inside) if len(parts) > depth]
    if not kept:
        raise InputError(
            f"{folder} has {kind.name} but no sub-folders{' in its splits' * depth}; expected one "
            "sub-folder for each class, or `labels`, a CSV file of files and labels"
        )
    if len(kept) < len(paths):
        remarks.append(
            f"{kind.name} outside the sub-folders, which were ignored: {len(paths) - len(kept):,}"
        )
    parts = [PART_NAMES[inside[k][0].lower()] for k in kept] if depth else []
    return Listing(
        [paths[k] for k in kept],
        [inside[k][depth] for k in kept],
        parts,
        (*remarks, *drawn_remarks(parts)),
    )


def are_splits(folder: Path, inside: Sequence[tuple[str, ...]]) -> bool:
    """Whether the sub-folders are splits; a network must not learn to tell these apart.

    folder: for messages.
    inside: the sub-folders above each file.
    """
    firsts = {parts[0].lower() for parts in inside if parts}
    splits = sorted(firsts & {*PART_NAMES})
    if not splits or (len(splits) == 1 and splits != sorted(firsts)):
        return False  # none, or a class such as the train among buses
    deeper = any(len(parts) > 1 and parts[0].lower() in splits for parts in inside)
    if others := sorted(firsts - {*splits}):
        if deeper:
            raise InputError(
                f"{folder} has splits ({', '.join(splits)}) beside other folders "
                f"({listed(others, SHOWN)}); expected train, validation and test alone, or classes"
            )
        return False
    if "train" not in {PARTS[PART_NAMES[name]] for name in splits}:
        raise InputError(
            f"the sub-folders of {folder} have names of splits ({', '.join(splits)}) without "
            "train; expected train, and validation, test or both, with a sub-folder for each class"
        )
    return True


def drawn_remarks(parts: Sequence[int]) -> list[str]:
    """That a split is drawn, where only others are given."""
    missing = {PARTS[k] for k in range(len(PARTS))} - {PARTS[k] for k in {*parts}}
    if not parts or "test" not in missing:
        return []
    return ["there is no split test, so a part of train is drawn for it, the same in every run"]


def by_table(folder: Path, table: str | Path, kind: Kind = IMAGES) -> Listing:
    """The files that a CSV file names: a column of files within the folder, and one of labels."""
    columns = read_csv(table)
    if len(columns) < 2:
        raise InputError(f"{table}: expected two columns, file and label, got one")
    named = {name.casefold(): name for name in columns}
    first, second, *_ = columns
    file = next((named[name] for name in FILE_NAMES if name in named), first)
    label = next((named[name] for name in LABEL_NAMES if name in named), second)
    known = {str(path.relative_to(folder).as_posix()): path for path in files_of(folder, kind)[0]}
    rows = [Path(name).as_posix() for name in columns[file]]
    if absent := [name for name in rows if name not in known]:
        raise InputError(
            f"{table} names {len(absent):,} files that are not in {folder}: "
            f"{listed(absent, SHOWN)}; expected paths of {kind.name} within the folder"
        )
    labels = dict(zip(rows, columns[label], strict=True))
    if len(labels) < len(rows):
        twice = [name for name, number in Counter(rows).items() if number > 1]
        raise InputError(f"{table} names {listed(twice)} more than once; expected each file once")
    if empty := [name for name, word in labels.items() if not word]:
        raise InputError(f"{table} has no label for {listed(empty)}; fill it in, or remove the row")
    left = len(known) - len(labels)
    remarks = (f"{kind.name} without a label, which were ignored: {left:,}",) if left else ()
    paths = sorted(known[name] for name in labels)
    words = [labels[path.relative_to(folder).as_posix()] for path in paths]
    return Listing(paths, words, [], remarks)
