"""Which kind of inputs the service of a run takes."""

from chainrule.data.readers.encoders import ImageEncoder
from chainrule.data.readers.graphs.graph_set import GraphEncoder
from chainrule.data.readers.graphs.link_table import LinkEncoder
from chainrule.data.readers.graphs.node_encoder import NodeEncoder
from chainrule.data.readers.images.photos import PhotoEncoder
from chainrule.data.readers.series.series_encoder import SeriesEncoder
from chainrule.data.readers.tables.table_encoder import TableEncoder
from chainrule.data.text.vocabulary import Vocabulary
from chainrule.errors import InputError
from chainrule.runs.configuration import require
from chainrule.runs.predict import text_encoder
from chainrule.runs.run import Run
from chainrule.serve.images import Images, MaskedImages
from chainrule.serve.inputs import Arrays, Inputs, Rows
from chainrule.serve.series import Series
from chainrule.serve.texts import Prompts, Texts


def inputs_of(run: Run) -> Inputs:
    """What a run can be asked."""
    require(type(run.recipe), run.name, "predict")
    if not run.finished:
        raise InputError(f"the run in {run.folder} is not finished; chainrule resume {run.folder}")
    if isinstance(run.summary.encoder, Vocabulary):
        return Prompts(run)
    encoder = run.summary.encoder
    if text_encoder(run) is not None:
        return Texts(run)
    if isinstance(encoder, NodeEncoder | LinkEncoder | GraphEncoder):
        raise InputError(
            f"{run.name} answers for parts of a graph that lies in files, which a service does not "
            f"read; use chainrule predict {run.folder}"
        )
    kinds: dict[type, type[Inputs]] = {
        SeriesEncoder: Series,
        TableEncoder: Rows,
        ImageEncoder: Images,
        PhotoEncoder: Images,
    }
    if isinstance(encoder, PhotoEncoder) and encoder.mask is not None:
        return MaskedImages(run)
    found = next((kind for type_, kind in kinds.items() if isinstance(encoder, type_)), None)
    if found is None and not run.summary.shape:
        raise InputError(f"the run in {run.folder} has no inputs that a service could take")
    return (found or Arrays)(run)
