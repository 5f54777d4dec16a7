"""docs/course.md leads from every section of the notes to what carries it out."""

import re
import runpy
from pathlib import Path

import pytest

from chainrule.registry import entries

ROOT = Path(__file__).parents[1]
COURSE = (ROOT / "docs" / "course.md").read_text("utf-8")
MAP = ROOT.parent / "shared" / "COURSE_MAP.md"

# Every item of the course, chapter by chapter, and files that carry it out and check its claims.
ITEMS = {
    "McCulloch-Pitts neuron": "mcculloch-pitts single-unit-xor xor",
    "Perceptron": "perceptron pocket perceptron-blobs novikoff perceptron-lemmas cover",
    "Hopfield network": "hopfield dense-hopfield exponential-hopfield continuous-hopfield "
    "hopfield-digits hopfield-energy hopfield-flips hopfield-capacity hopfield-errorless "
    "dense-memories hopfield-attention",
    "Linear and ridge regression": "linear-regression ridge-regression least-squares minimum-norm",
    "Logistic / softmax regression": "logistic-regression softmax-regression mnist-logistic "
    "logistic-gradient",
    "Activations, losses": "activations losses tanh-sigmoid saturation",
    "MLP": "mlp digits-mlp hidden-permutation parameter-counts learned-features",
    "Residual layer": "residual-network residual-identity residual-gradients",
    "Densely connected network": "densely-connected",
    "Universal approximation": "relu-interpolant universal-approximation barron lebesgue",
    "ReLU regions": "regions zaslavsky montufar",
    "Decision surfaces": "surfaces moons-mlp",
    "Data sets (A step 0)": "table splits augmentation",
    "Computation graph (A1.3.7)": "computation-graph acyclic",
    "Backpropagation": "backpropagation costate-recursion output-errors central-differences "
    "backward-cost forward-reverse",
    "Gradient descent": "loop curvature sufficient-decrease divergence critical-point "
    "polyak-lojasiewicz convex-rate convex-minima starting-point power-iteration learning-rates "
    "smoothness newton convergence-orders random-search",
    "Momentum and adaptivity": "optimizers lion nesterov constant-gradient saddle-escape "
    "adam-first-step random-minima saddle-index",
    "SGD, mini-batches, epochs": "loop unbiased-batches batch-variance updates-per-epoch "
    "wide-minima",
    "Schedules": "schedules",
    "Convolution and cross-correlation": "convolution convolution-commutes shift-equivariance "
    "toeplitz-fourier equivariant-maps convolution-backward",
    "Layers": "windows profile pooling-invariance invariant-networks dense-parameters",
    "CNN (LeNet-like), ResNet (CIFAR 6n+2 family and 18/34/50), DenseNet, U-Net": "cnn lenet "
    "resnet plain-network densenet unet mnist-cnn fashion-cnn cifar10-resnet20 digits-unet "
    "degradation",
    "Elman RNN": "elman stacked bidirectional deep-transition through-time vanishing-gradient "
    "exploding-gradient",
    "LSTM, GRU": "lstm gru notes-lstm notes-gru adding copy-memory gated-memory weight-matrices",
    "Linear recurrent models": "min-gru min-lstm lru scan scan-equals-loop unit-disc scan-cost",
    "Sequence learning": "seq2seq bahdanau decoding bleu multi30k-gru multi30k-bahdanau",
    "Named in L (5)": "antisymmetric lipschitz state-space selective antisymmetric-stability "
    "lipschitz-stability linear-stability",
    "Attention": "attention attention-variance attention-convex attention-equivariance "
    "attention-cost",
    "Positional encoding": "positions position-rotation order-without-positions",
    "Transformer": "transformer multi30k-transformer path-length",
    "GPT": "gpt shakespeare-gpt key-value-cache",
    "BERT": "bert masking latent-semantics bert-pretrain imdb-bert ewt-bert squad-bert "
    "bert-masking pretraining",
    "ViT": "vit mnist-vit fashion-vit cifar10-vit",
    "Named in L (6)": "windowed-attention linear-attention mlp-mixer linear-cost",
    "Deep Sets": "deep-sets equivariant-deep-sets digit-sum-deepsets set-invariance "
    "set-equivariance",
    "PointNet": "pointnet pointnet-segmentation modelnet10-pointnet pointnet-order critical-points",
    "GCN, message passing, GAT (with edge features)": "gcn message-passing gat graph-classifier "
    "cora-gcn cora-gat coupling-norm two-layer-gcn over-smoothing receptive-hops",
    "Weisfeiler-Leman test": "weisfeiler-leman weisfeiler-leman-pairs",
    "Spectral": "spectral polynomial chebyshev laplacian cora-cheb polynomial-filter filter-hops "
    "ring-fourier",
    "Initialisation": "initialization variance-forward variance-backward symmetric-start",
    "Weight decay, L1, early stopping": "penalties decay-along-axes early-stopping",
    "Dropout": "dropout mnist-mlp-dropout dropout-mean dropout-penalty dropout-ensemble",
    "Batch, layer, weight normalisation": "normalization batch-norm layer-norm weight-norm "
    "batch-norm-direction",
    "Augmentation": "augmentation mnist-augment noise-ridge",
    "Label smoothing, distillation": "soft-labels distillation mnist-distill "
    "distillation-gradient distilled-student",
    "Tuning and ensembles": "ensemble search spam-tuned mnist-ensemble ensemble-jensen",
    "Transfer learning": "transfer imdb-bert",
    "MDP, Bellman": "mdp value-iteration policy-iteration q-learning dqn cartpole-dqn "
    "bellman-contraction q-learning-limit",
    "Learning theory": "bounds vc-dimension random-features hoeffding pac-bound double-descent",
}
# What a second reading of the notes found in them and not in the library, and what carries it out.
SECOND_READING = {
    "share against number of separable labelings": "cover",
    "Hebb's rule with and without diagonal": "hebb-diagonal",
    "linear layers closed under composition": "linear-composition",
    "Weierstrass, lifting lemma by ridge functions": "weierstrass lifting-lemma",
    "Lebesgue in more dimensions": "max-min-network max-min-depth",
    "random networks over the plane": "random-stretch",
    "version space shrinking": "version-space",
    "sup-norm distance": "sup-norm universal-approximation",
    "activation gallery": "activation-slopes",
    "Lipschitz gradient and Hessian norm": "smoothness",
    "loss surfaces with paths of optimizers": "landscape moons-optimizers filter-normalization",
    "saddles: index by loss, p^N": "saddle-index random-minima",
    "curvature of the minimum by batch size": "wide-minima digits-batch-size",
    "perturb and accept": "random-search",
    "higher-order methods": "newton convergence-orders",
    "output activations": "output-activations",
    "updates per epoch": "updates-per-epoch",
    "integral operator, continuous convolution": "integral-operator continuous-convolution",
    "pooling gradients by hand": "windows pooling-backward",
    "hand-made and center-surround filters": "edge-filters center-surround digits-filters",
    "data efficiency of convolution, permuted pixels": "data-efficiency",
    "VGG beside ResNet-34": "vgg vgg-cost",
    "vanilla CIFAR network": "cifar10-vanilla-cnn",
    "associative scan of logarithmic depth": "scan scan-cost",
    "a dense A as an LRU": "lru dense-diagonal",
    "universality of linear recurrence": "linear-universality",
    "activations with slope at most 1/4": "vanishing-gradient",
    "Mamba's block, S4 beyond the diagonal": "mamba s4 s4-kernel",
    "free d_k and d_v, W^O": "attention output-map",
    "unscaled and cosine scores": "attention-scores score-saturation",
    "ViT against CNN by data size": "fashion-data-size",
    "BigBird's random links": "bigbird random-links",
    "positions beyond the trained length": "position-range position-extrapolation",
    "T5": "t5 shakespeare-t5",
    "MLP-Mixer recipe": "mlp-mixer mnist-mixer",
    "word2vec": "word2vec imdb-word2vec",
    "DETR": "detr digits-detr",
    "Deep Sets with d < M": "latent-dimension",
    "over-squashing": "over-squashing",
    "a network beyond 1-WL": "ppgn higher-order-pairs",
    "x * y and signs of eigenvectors": "convolution-signs",
    "Laplacian as a limit of grids": "grid-laplacian",
    "decay as MAP and as a constraint": "decay-radius",
    "DropConnect": "dropout drop-connect-ensemble",
    "weight norm = batch norm on whitened data": "whitened-norm",
    "label noise with the true matrix": "soft-labels noisy-labels",
    "signal learned before noise": "signal-before-noise",
    "data labeled by the teacher": "generated-data",
    "invariance learned from augmentation": "learned-invariance",
    "steps to an optimal policy": "value-iteration-steps",
    "no free lunch": "no-free-lunch",
    "infinite width": "infinite-network infinite-width",
    "ESL 11.7, splines beside the network": "spam-gam",
    "noise and sample size": "noise-sample-map",
    "scaling law of small GPTs": "shakespeare-scaling",
}
LINKS = re.findall(r"\[([\w-]+)\]\(\.\./(src/[^)]+)\)", COURSE)


def test_the_page_is_what_the_files_say() -> None:
    written = runpy.run_path(str(ROOT / "docs" / "write_course.py"))
    assert written["page"]() == COURSE, "run: make tables"


@pytest.mark.parametrize("item", ITEMS | SECOND_READING)
def test_every_item_of_the_course_has_its_links(item: str) -> None:
    missing = set((ITEMS | SECOND_READING)[item].split()) - {name for name, _ in LINKS}
    assert not missing


@pytest.mark.parametrize("kind", ["models", "recipes", "claims"])
def test_every_file_has_a_place_in_the_notes(kind: str) -> None:
    missing = {entry.name for entry in entries(kind)} - {name for name, _ in LINKS}
    assert missing <= {"mlp"}  # the user's own table


def test_links_lead_somewhere() -> None:
    assert len(LINKS) > 200
    for _, path in LINKS:
        assert (ROOT / path).is_file(), path


@pytest.mark.skipif(not MAP.is_file(), reason="needs ../shared/COURSE_MAP.md")
def test_no_row_of_the_map_is_forgotten() -> None:
    rows, chapter = set(), ""
    for line in MAP.read_text("utf-8").splitlines():
        if line.startswith("## "):
            chapter = line.split()[1]
        if line.startswith("| ") and chapter.isdigit() and not line.startswith("| item"):
            name = line.split("|")[1].strip()
            rows.add(f"{name} ({chapter})" if name.startswith("Named") else name)
    in_architecture = {"Parallel distributed processing"}
    assert rows - in_architecture == set(ITEMS)


ERRATA = (ROOT / "docs" / "errata.md").read_text("utf-8")
SLIPS = [
    line.split(" | ") for line in ERRATA.splitlines() if line.startswith(("| J", "| A", "| L"))
]


def test_every_slip_is_shown_by_something() -> None:
    assert len(SLIPS) > 20
    for where, *_, shown in SLIPS:
        links = re.findall(r"\]\(\.\./([^)]+)\)", shown)
        assert links, where
        for link in links:
            assert (ROOT / link).is_file(), link


@pytest.mark.skipif(not MAP.is_file(), reason="needs ../shared/COURSE_MAP.md")
def test_no_slip_of_the_map_is_forgotten() -> None:
    known = " ".join(where for where, *_ in SLIPS)
    rows = MAP.read_text("utf-8").split("## Slips")[1].split("\n\n")[0].splitlines()
    for row in rows[3:]:
        for place in re.findall(r"[JA]\s?[\d.]+|fig\. [\d.]+|L \w+", row.split("|")[1]):
            spaced = re.sub(r"^([JA])(?=\d)", r"\1 ", place)
            found = {"L pooling": "L pooling", "L positional": "L 8"}.get(spaced, spaced)
            assert found in known, row
