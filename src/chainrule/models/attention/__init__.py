"""Chapter 6, attention: transformers for translation, text and images, and cheaper attention."""

from chainrule.models.attention.bert import BERT
from chainrule.models.attention.bert_classifier import BertClassifier
from chainrule.models.attention.bert_pretraining import BertPretraining
from chainrule.models.attention.bert_question_answering import BertQuestionAnswering
from chainrule.models.attention.bert_tagger import BertTagger
from chainrule.models.attention.bigbird import BigBirdAttention
from chainrule.models.attention.detr import DETR
from chainrule.models.attention.gpt import GPT
from chainrule.models.attention.linear_attention import LinearAttention
from chainrule.models.attention.mlp_mixer import MLPMixer
from chainrule.models.attention.t5 import T5
from chainrule.models.attention.transformer import Transformer
from chainrule.models.attention.vit import ViT
from chainrule.models.attention.windowed_attention import WindowedAttention
from chainrule.models.attention.word2vec import Word2Vec

__all__ = [
    "BERT",
    "DETR",
    "GPT",
    "T5",
    "BertClassifier",
    "BertPretraining",
    "BertQuestionAnswering",
    "BertTagger",
    "BigBirdAttention",
    "LinearAttention",
    "MLPMixer",
    "Transformer",
    "ViT",
    "WindowedAttention",
    "Word2Vec",
]
