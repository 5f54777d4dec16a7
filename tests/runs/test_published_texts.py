"""Runs that start from a BERT or a GPT-2 of the hub: its tokenizer, its sizes, its weights."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import tokenizers
import torch
import transformers

from chainrule.cli.main import main
from chainrule.data.text.byte_pairs import BytePairs
from chainrule.data.text.hub_tokenizers import hub_byte_pairs, hub_wordpiece
from chainrule.data.text.wordpiece import train_wordpiece
from chainrule.errors import InputError
from chainrule.pretrained.hub import bert_sizes, gpt2_sizes
from chainrule.runs.run import Run

WORDS = ("lovely", "dull")
SENTENCES = [f"the {WORDS[k % 2]} film number {k} – Café, naïve! 3.50 don't" for k in range(80)]
STRANGE = ["Été 日本 [MASK] unaffable\tfilms", "the lovely film", "ẞ  straße…", "a\nb"]


def make_bert(folder: Path, shard: str = "10GB", lowercase: bool = True) -> transformers.BertModel:
    """A small random BERT with its tokenizer, as `save_pretrained` writes them."""
    pieces = train_wordpiece(SENTENCES, 150, 32, lowercase)
    folder.mkdir()
    (folder / "vocab.txt").write_text("\n".join(pieces.tokens) + "\n")
    settings = {"tokenizer_class": "BertTokenizer", "do_lower_case": lowercase}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    torch.manual_seed(1)
    config = transformers.BertConfig(
        vocab_size=len(pieces),
        hidden_size=8,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=24,
    )
    model = transformers.BertModel(config).eval()
    model.save_pretrained(folder, max_shard_size=shard)
    return model


def make_gpt2(folder: Path, shard: str = "10GB") -> transformers.GPT2LMHeadModel:
    """A small random GPT-2 with vocab.json and merges.txt."""
    made = tokenizers.Tokenizer(tokenizers.models.BPE())
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=320,
        special_tokens=["<|endoftext|>"],
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    made.train_from_iterator(SENTENCES, trainer)
    folder.mkdir()
    made.model.save(str(folder))
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "GPT2Tokenizer"}))
    torch.manual_seed(1)
    sizes = {"n_positions": 48, "n_embd": 8, "n_layer": 2, "n_head": 2}
    config = transformers.GPT2Config(vocab_size=made.get_vocab_size(), **sizes)
    model = transformers.GPT2LMHeadModel(config).eval()
    model.save_pretrained(folder, max_shard_size=shard)
    return model


def as_saved(folder: Path, kind: type) -> Path:
    """The tokenizer as the present transformers writes it: in tokenizer.json alone."""
    tokenizer = kind.from_pretrained(folder)
    for name in ("vocab.txt", "vocab.json", "merges.txt"):
        (folder / name).unlink(missing_ok=True)
    tokenizer.save_pretrained(folder)
    assert (folder / "tokenizer.json").is_file()
    return folder


@pytest.mark.parametrize("lowercase", [True, False])
def test_word_pieces_are_those_of_transformers_from_either_file(
    lowercase: bool, tmp_path: Path
) -> None:
    make_bert(tmp_path / "hub", lowercase=lowercase)
    theirs = transformers.BertTokenizer.from_pretrained(tmp_path / "hub")
    older = hub_wordpiece(tmp_path / "hub", 24)
    newer = hub_wordpiece(as_saved(tmp_path / "hub", transformers.BertTokenizer), 24)
    assert older == newer and older.lowercase == lowercase
    for text in (*SENTENCES[:3], *STRANGE):
        assert newer.encode(text) == theirs.encode(text, add_special_tokens=False), text
        row = newer.encode_texts([text])[0]
        assert row[row > 0].tolist() == theirs.encode(text)[:24]


def test_byte_pairs_are_those_of_transformers_from_either_file(tmp_path: Path) -> None:
    make_gpt2(tmp_path / "hub")
    theirs = transformers.GPT2Tokenizer.from_pretrained(tmp_path / "hub")
    older = hub_byte_pairs(tmp_path / "hub")
    newer = hub_byte_pairs(as_saved(tmp_path / "hub", transformers.GPT2Tokenizer))
    assert older == newer == BytePairs.from_json(older.to_json())
    for text in (*SENTENCES[:3], *STRANGE, "\n", "  two  spaces "):
        assert newer.encode(text) == theirs.encode(text), text
        assert newer.decode(newer.encode(text)) == text


@pytest.mark.parametrize("shard", ["10GB", "3KB"])
def test_a_classifier_starts_from_a_bert_and_needs_its_folder_no_more(
    shard: str, tmp_path: Path
) -> None:
    hub, run, table = tmp_path / "hub", tmp_path / "run", tmp_path / "texts.csv"
    published = make_bert(hub, shard)
    assert (hub / "model.safetensors.index.json").is_file() == (shard == "3KB")
    rows = [f'"{text}",{"good" if "lovely" in text else "bad"}' for text in SENTENCES]
    table.write_text("\n".join(["text,label", *rows]))
    flags = f"--table {table} --text text --target label --model bert --from {hub} --max-length 20"
    more = "--epochs 1 --freeze bert.* --dropout 0 --no-pictures --quiet --out"
    assert main(["train", "text-classifier", *flags.split(), *more.split(), str(run)]) == 0
    first = Run.load(run)
    assert (first.recipe.hidden_size, first.recipe.max_length) == (8, 20)
    (remark,) = (note for note in first.result["remarks"] if "taken" in note)
    assert "tensors taken from hub; new head: output.weight, output.bias" in remark
    x = first.summary.encoder.encode_texts(SENTENCES[:4])
    with torch.no_grad():
        ours = first.model.bert(x)
        theirs = published(x, attention_mask=(x > 0).long()).last_hidden_state
    torch.testing.assert_close(ours[x > 0], theirs[x > 0], rtol=1e-4, atol=1e-5)
    shutil.rmtree(hub)
    again = Run.load(run)
    assert again.predict([SENTENCES[0]]) == first.predict([SENTENCES[0]])
    assert again.evaluate() == first.result["metrics"]


def test_a_tagger_starts_from_a_bert(tmp_path: Path) -> None:
    make_bert(tmp_path / "hub")
    (tmp_path / "tags.txt").write_text("the D\nlovely A\nfilm N\n\n" * 12)
    flags = f"--conll {tmp_path}/tags.txt --model bert --from {tmp_path}/hub --epochs 1"
    more = f"--no-pictures --quiet --out {tmp_path}/run"
    assert main(["train", "tagger", *flags.split(), *more.split()]) == 0
    shutil.rmtree(tmp_path / "hub")
    words = [row["word"] for row in Run.load(tmp_path / "run").predict("the dull film")]
    assert words == ["the", "dull", "film"]


@pytest.mark.parametrize("shard", ["10GB", "6KB"])
def test_a_text_is_learned_from_a_gpt2_that_writes_without_its_folder(
    shard: str, tmp_path: Path
) -> None:
    hub, run, text = tmp_path / "hub", tmp_path / "run", tmp_path / "text.txt"
    published = make_gpt2(hub, shard)
    text.write_text("\n".join(SENTENCES))
    flags = f"--text {text} --from {hub} --context-length 16 --epoch-steps 2 --epochs 1"
    more = f"--freeze blocks.* --learning-rate 1e-12 --dropout 0 --quiet --out {run}"
    assert main(["train", "gpt", *flags.split(), *more.split()]) == 0
    first = Run.load(run)
    x = torch.tensor([first.summary.encoder.encode(SENTENCES[0])[:16]])
    with torch.no_grad():
        torch.testing.assert_close(first.model(x), published(x).logits, rtol=1e-4, atol=1e-5)
        wanted = published.generate(x[:, :8], max_new_tokens=8, do_sample=False, pad_token_id=0)
    (note,) = (note for note in first.result["remarks"] if "taken" in note)
    assert note.startswith("28 of 28 tensors taken from hub") and "left behind" not in note
    assert {p.name for p in run.glob("*.png")} >= {"surprise.png", "attention.png"}
    shutil.rmtree(hub)
    again = Run.load(run)
    prompt = first.summary.encoder.decode(x[0, :8].tolist())
    if 0 not in wanted[0, 8:].tolist():  # <|endoftext|> is never written
        written = again.generate(prompt, 8, temperature=0.0)
        assert written == first.summary.encoder.decode(wanted[0].tolist())
    assert again.generate("the dull", 20) == first.generate("the dull", 20)
    assert again.evaluate() == first.result["metrics"]


def test_a_gpt_of_characters_starts_from_another_run_and_keeps_its_characters(
    tmp_path: Path,
) -> None:
    for name, letters in (("a", "abc \n"), ("b", "bcd \n")):
        (tmp_path / f"{name}.txt").write_text(letters * 100)
    small = "--context-length 8 --hidden-size 8 --num-layers 1 --num-heads 2 --epoch-steps 2"
    flags = [*small.split(), "--epochs", "1", "--quiet", "--no-pictures"]
    first, second = tmp_path / "first", tmp_path / "second"
    assert main(["train", "gpt", "--text", f"{tmp_path}/a.txt", "--out", str(first), *flags]) == 0
    start = ["--text", f"{tmp_path}/b.txt", "--from", str(first), "--out", str(second)]
    assert main(["train", "gpt", *start, *flags]) == 0
    run = Run.load(second)
    assert run.summary.encoder == Run.load(first).summary.encoder
    assert "100 of 500 characters are unknown to the run it starts from" in run.result["remarks"]


@pytest.mark.parametrize(
    ("sizes", "changes", "words"),
    [
        (bert_sizes, {"model_type": "roberta"}, "expected model_type 'bert', got 'roberta'"),
        (bert_sizes, {"hidden_act": "relu"}, "expected hidden_act 'gelu', got 'relu'"),
        (bert_sizes, {"intermediate_size": 5}, "expected intermediate_size 3072, got 5"),
        (bert_sizes, {"hidden_size": "large"}, "expected a whole number as hidden_size"),
        (gpt2_sizes, {"activation_function": "relu"}, "expected activation_function 'gelu_new'"),
        (gpt2_sizes, {"n_inner": 5}, "expected n_inner 3072, got 5"),
    ],
)
def test_a_network_that_computes_something_else_is_refused(
    sizes: Callable[[dict], dict], changes: dict, words: str
) -> None:
    kind = transformers.BertConfig if sizes is bert_sizes else transformers.GPT2Config
    assert sizes(kind().to_dict())["hidden_size"] == 768
    with pytest.raises(InputError, match=words):
        sizes(kind().to_dict() | changes)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"model": {"type": "Unigram"}}, "expected 'WordPiece' as its model, got 'Unigram'"),
        ({"normalizer": None}, "expected 'BertNormalizer' as its normalizer, got None"),
        ({"pre_tokenizer": {"type": "Whitespace"}}, "as its pre-tokenizer, got 'Whitespace'"),
    ],
)
def test_a_tokenizer_of_another_kind_is_refused(change: dict, words: str, tmp_path: Path) -> None:
    make_bert(tmp_path / "hub")
    path = as_saved(tmp_path / "hub", transformers.BertTokenizer) / "tokenizer.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(InputError, match=words):
        hub_wordpiece(tmp_path / "hub", 24)
    path.write_text("{")
    with pytest.raises(InputError, match="is not JSON"):
        hub_wordpiece(tmp_path / "hub", 24)
    path.unlink()
    with pytest.raises(InputError, match=r"has no tokenizer; expected tokenizer.json or vocab.txt"):
        hub_wordpiece(tmp_path / "hub", 24)
