"""BERT's names on the Hugging Face hub (google-bert/bert-base-uncased) → those of our models."""

from chainrule.models.attention import (
    BERT,
    BertClassifier,
    BertPretraining,
    BertQuestionAnswering,
    BertTagger,
)
from chainrule.pretrained.state_dict_rules import State, drop, rename, stack, untie

ENCODER = (
    (r"bert\.", ""),
    (r"(.*)\.gamma$", r"\1.weight"),  # names of a norm's weight and bias in older files
    (r"(.*)\.beta$", r"\1.bias"),
    (r"embeddings\.word_embeddings\.", "embedding."),
    (r"embeddings\.position_embeddings\.", "positions."),
    (r"embeddings\.token_type_embeddings\.", "segments."),
    (r"embeddings\.LayerNorm\.", "norm."),
    (r"encoder\.layer\.(\d+)\.", r"blocks.\1."),
    (r"(blocks\.\d+\.attention)\.self\.", r"\1."),
    (r"(blocks\.\d+)\.attention\.output\.LayerNorm\.", r"\1.norm_1."),
    (r"(blocks\.\d+\.attention\.output)\.dense\.", r"\1."),
    (r"(blocks\.\d+)\.intermediate\.dense\.", r"\1.feed_forward.inner."),
    (r"(blocks\.\d+)\.output\.dense\.", r"\1.feed_forward.outer."),
    (r"(blocks\.\d+)\.output\.LayerNorm\.", r"\1.norm_2."),
)
INSIDE = (  # for models whose encoder is their part `bert`
    (r"(embedding|positions|segments|norm|blocks)\.", r"bert.\1."),
    (r"pooler\.dense\.", "pooler."),
)
PRETRAINING = (
    *INSIDE,
    (r"cls\.predictions\.transform\.dense\.", "transform."),
    (r"cls\.predictions\.transform\.LayerNorm\.", "norm."),
    (r"cls\.predictions\.bias$", "bias"),
    (r"cls\.seq_relationship\.", "next_sentence."),
)


def convert_encoder(model: BERT, state: State, head: bool) -> State:
    """Of files with heads, the encoder alone."""
    return drop(rename_encoder(state), r"(cls|pooler|classifier|qa_outputs)\..*")


def convert_pretraining(model: BertPretraining, state: State, head: bool) -> State:
    state = rename(rename_encoder(state), PRETRAINING)
    state = untie(state, "cls.predictions.decoder.weight", "bert.embedding.weight")
    return untie(state, "cls.predictions.decoder.bias", "bias")


def convert_classifier(model: BertClassifier, state: State, head: bool) -> State:
    return with_head(state, "classifier", head)


def convert_tagger(model: BertTagger, state: State, head: bool) -> State:
    return drop(with_head(state, "classifier", head), r"pooler\..*")


def convert_question_answering(model: BertQuestionAnswering, state: State, head: bool) -> State:
    return drop(with_head(state, "qa_outputs", head), r"pooler\..*")


def with_head(state: State, published_head: str, head: bool) -> State:
    """For a model with the parts `bert` and `output`; without the head, all heads are dropped."""
    state = rename(rename_encoder(state), (*INSIDE, (rf"{published_head}\.", "output.")))
    return state if head else drop(state, r"(cls|classifier|qa_outputs|output)\..*")


def rename_encoder(state: State) -> State:
    """The encoder under the names of `BERT`; heads keep their published names."""
    state = stack(rename(state, ENCODER), ("query", "key", "value"), "projection")
    return drop(state, r"embeddings\.position_ids")  # 0, 1, 2, … in some files
