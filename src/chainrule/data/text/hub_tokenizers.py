"""Tokenizers of a folder as `save_pretrained` writes it: BERT's word pieces, GPT-2's byte pairs.

    tokenizer.json                       what the library tokenizers reads
    vocab.txt, tokenizer_config.json     BERT's, in older folders
    vocab.json, merges.txt               GPT-2's, in older folders

A tokenizer that would split texts otherwise than the two do is refused.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from chainrule.data.files import errors_naming, parse_json, read_bytes
from chainrule.data.text.byte_pairs import BytePairs
from chainrule.data.text.vocabulary import read_text
from chainrule.data.text.wordpiece import SPECIAL, WordPiece
from chainrule.errors import InputError

TOKENIZER, CONFIG = "tokenizer.json", "tokenizer_config.json"
PIECES, TOKENS, MERGES = "vocab.txt", "vocab.json", "merges.txt"
MAX_JSON = 2**27  # bytes


def read_object(path: Path) -> dict[str, Any]:
    """The object in a JSON file; empty if there is no such file."""
    if not path.is_file():
        return {}
    try:
        found = parse_json(read_bytes(path, MAX_JSON))
    except ValueError as error:
        raise InputError(f"{path} is not JSON: {error}") from None
    if not isinstance(found, dict):
        raise InputError(f"{path} holds {type(found).__name__}; expected an object")
    return found


def hub_wordpiece(folder: Path, max_length: int) -> WordPiece:
    """BERT's word pieces of a folder, for rows of this length."""
    if (folder / TOKENIZER).is_file():
        with errors_naming(folder / TOKENIZER):
            return parsed_wordpiece(read_object(folder / TOKENIZER), max_length)
    if not (folder / PIECES).is_file():
        raise InputError(f"{folder} has no tokenizer; expected {TOKENIZER} or {PIECES} in it")
    lowercase = read_object(folder / CONFIG).get("do_lower_case", True)
    with errors_naming(folder / PIECES):
        tokens = read_text(folder / PIECES).rstrip("\n").split("\n")
        return WordPiece(tokens, max_length, bool(lowercase))


def parsed_wordpiece(state: Mapping[str, Any], max_length: int) -> WordPiece:
    """The word pieces of a tokenizer.json."""
    model, normalizer = part(state, "model"), part(state, "normalizer")
    lowercase = bool(normalizer.get("lowercase", False))
    check_parts(
        {
            "model": (model.get("type", "WordPiece"), "WordPiece"),
            "prefix": (model.get("continuing_subword_prefix"), "##"),
            "unknown token": (model.get("unk_token"), SPECIAL[1]),
            "normalizer": (normalizer.get("type"), "BertNormalizer"),
            "cleaning of texts": (normalizer.get("clean_text"), True),
            "handling of Chinese characters": (normalizer.get("handle_chinese_chars"), True),
            "pre-tokenizer": (part(state, "pre_tokenizer").get("type"), "BertPreTokenizer"),
        }
    )
    if normalizer.get("strip_accents") not in (None, lowercase):
        raise InputError("expected accents to be stripped exactly if letters are lower-cased")
    return WordPiece(in_order(model.get("vocab")), max_length, lowercase)


def hub_byte_pairs(folder: Path) -> BytePairs:
    """GPT-2's byte pairs of a folder."""
    if (folder / TOKENIZER).is_file():
        with errors_naming(folder / TOKENIZER):
            return parsed_byte_pairs(read_object(folder / TOKENIZER))
    if not ((folder / TOKENS).is_file() and (folder / MERGES).is_file()):
        raise InputError(
            f"{folder} has no tokenizer; expected {TOKENIZER}, or {TOKENS} and {MERGES} in it"
        )
    lines = read_text(folder / MERGES).split("\n")
    merges = [line for line in lines if line and not line.startswith("#version")]
    with errors_naming(folder / TOKENS):
        return BytePairs(in_order(read_object(folder / TOKENS)), merges=tuple(merges))


def parsed_byte_pairs(state: Mapping[str, Any]) -> BytePairs:
    """The byte pairs of a tokenizer.json; special tokens may stand outside of its model."""
    model, before = part(state, "model"), part(state, "pre_tokenizer")
    check_parts(
        {
            "model": (model.get("type", "BPE"), "BPE"),
            "normalizer": (state.get("normalizer"), None),
            "pre-tokenizer": (before.get("type"), "ByteLevel"),
            "space before the first word": (before.get("add_prefix_space"), False),
            "division into words": (before.get("use_regex", True), True),
        }
    )
    merges = model.get("merges")
    if not isinstance(merges, list):
        raise InputError("expected a list of merges")
    added = state.get("added_tokens") or []
    more = {token["content"]: token["id"] for token in added if isinstance(token, dict)}
    written = (pair if isinstance(pair, str) else " ".join(map(str, pair)) for pair in merges)
    return BytePairs(in_order((model.get("vocab") or {}) | more), merges=tuple(written))


def part(state: Mapping[str, Any], name: str) -> dict[str, Any]:
    """An object inside another; empty if there is none."""
    found = state.get(name)
    return found if isinstance(found, dict) else {}


def check_parts(parts: Mapping[str, tuple[Any, Any]]) -> None:
    """Refuse a tokenizer of another kind by its first difference."""
    for name, (got, wanted) in parts.items():
        if got != wanted:
            raise InputError(
                f"this tokenizer is of another kind: expected {wanted!r} as its {name}, got {got!r}"
            )


def in_order(vocab: Any) -> tuple[str, ...]:
    """The tokens by id, which must be 0, 1, 2, …"""
    if not isinstance(vocab, dict) or not vocab:
        raise InputError("expected a vocabulary of tokens and ids")
    numbers = {number: token for token, number in vocab.items() if isinstance(number, int)}
    if sorted(numbers) != list(range(len(vocab))):
        raise InputError(f"expected {len(vocab)} tokens with the ids 0, 1, 2, …, got others")
    return tuple(numbers[number] for number in range(len(vocab)))
