"""Products of a constant sparse matrix, with gradients for its values and for the dense factor.

    Y = A H          y_m = Σ_n a_mn h_n
    ∂ℓ/∂H = Aᵀ ∂ℓ/∂Y,       ∂ℓ/∂a_mn = ⟨∂ℓ/∂y_m, h_n⟩

The positions of the entries of A are fixed; their values may change from step to step, as masks and
attention do. So the transpose is laid out once, and both directions are sums over compressed rows,
which `embedding_bag` computes without storing a message per edge. `softmax` acts within each row:

    q_mn = exp e_mn / Σ_n' exp e_mn'

Notes: J 7.4.
"""

from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from chainrule.arguments import Count, checked

DENSE = 0.1  # a matrix with at least this fraction of non-zero entries is kept dense

# ⟨g_m, h_n⟩ for every entry (m, n) without copying a pair of rows for each: the kernel that
# embedding_bag itself uses for the gradient of its weights.
inner_products = torch.ops.aten._embedding_bag_per_sample_weights_backward


@checked
class SparseMatrix(nn.Module):
    """A sparse matrix in compressed rows, with its transpose.

    It is a module so that it moves between devices with the model that holds it. Its buffers are
    not saved: they belong to the data.

    Args:
        index: Row and column of each entry, in any order; entries at one position add up.
        values: Value of each entry.
        shape: Numbers of rows and columns.

    >>> A = SparseMatrix(torch.tensor([[0, 1], [1, 0]]), torch.tensor([2.0, 3.0]), (2, 2))
    >>> (A @ torch.eye(2)).tolist()
    [[0.0, 2.0], [3.0, 0.0]]
    """

    row: Tensor
    column: Tensor
    values: Tensor
    starts: Tensor
    order: Tensor
    row_transposed: Tensor
    starts_transposed: Tensor

    def __init__(
        self,
        index: Int[Tensor, "2 entries"],
        values: Float[Tensor, " entries"],
        shape: tuple[Count, Count],
    ):
        super().__init__()
        self.shape = shape
        sorted_by_row = (index[0] * shape[1] + index[1]).argsort(stable=True)
        (row, column), values = index[:, sorted_by_row], values[sorted_by_row]
        order = column.argsort(stable=True)
        parts = {
            "row": row,
            "column": column,
            "values": values,
            "starts": starts(row, shape[0]),
            "order": order,
            "row_transposed": row[order],
            "starts_transposed": starts(column, shape[1]),
        }
        for name, part in parts.items():
            self.register_buffer(name, part.contiguous(), persistent=False)

    def __matmul__(self, h: Float[Tensor, "columns width"]) -> Float[Tensor, "rows width"]:
        """A h."""
        return self.matmul(h)

    def matmul(
        self, h: Float[Tensor, "columns width"], values: Float[Tensor, " entries"] | None = None
    ) -> Float[Tensor, "rows width"]:
        """A h, with `values` in place of A's own if given."""
        return Product.apply(h, self.values if values is None else values, self)

    def softmax(self, e: Float[Tensor, " entries"]) -> Float[Tensor, " entries"]:
        """exp e_mn / Σ_n' exp e_mn' for the entries of each row m."""
        return Softmax.apply(e, self.row, self.starts)

    def dense(self) -> Float[Tensor, "rows columns"]:
        found = self.values.new_zeros(self.shape)
        return found.index_put((self.row, self.column), self.values, accumulate=True)


@checked
class DenseMatrix(nn.Module):
    """A dense matrix with the interface of `SparseMatrix`.

    Args:
        values: Its entries.
    """

    values: Tensor

    def __init__(self, values: Float[Tensor, "rows columns"]):
        super().__init__()
        self.shape = tuple(values.shape)
        self.register_buffer("values", values, persistent=False)

    def __matmul__(self, h: Float[Tensor, "columns width"]) -> Float[Tensor, "rows width"]:
        """A h."""
        return self.matmul(h)

    def matmul(
        self,
        h: Float[Tensor, "columns width"],
        values: Float[Tensor, "rows columns"] | None = None,
    ) -> Float[Tensor, "rows width"]:
        """A h, with `values` in place of A's own if given."""
        return (self.values if values is None else values) @ h

    def dense(self) -> Float[Tensor, "rows columns"]:
        return self.values


Matrix = SparseMatrix | DenseMatrix


def as_matrix(x: Float[Tensor, "rows columns"]) -> Matrix:
    """x, sparse if fewer than a tenth of its entries are not zero.

    A matrix that needs a gradient stays dense: its zeros have gradients too.
    """
    if x.requires_grad:
        return DenseMatrix(x)
    index = x.nonzero().T
    if index.shape[1] >= DENSE * x.numel():
        return DenseMatrix(x)
    return SparseMatrix(index, x[index[0], index[1]], (x.shape[0], x.shape[1]))


def starts(row: Int[Tensor, " entries"], rows: int) -> Int[Tensor, " rows_and_one"]:
    """Offset of each row among entries sorted by row, and the number of entries."""
    return F.pad(row.bincount(minlength=rows).cumsum(0), (1, 0))


def gathered(h: Tensor, column: Tensor, begin: Tensor, values: Tensor) -> Tensor:
    """y_m = Σ_n a_mn h_n over the entries of each row."""
    h, values = h.detach().to(values.dtype).contiguous(), values.detach()
    return F.embedding_bag(
        column, h, begin, mode="sum", per_sample_weights=values, include_last_offset=True
    )


class Product(torch.autograd.Function):
    """A h, differentiable in h and in the values of A."""

    @staticmethod
    def forward(ctx: Any, h: Tensor, values: Tensor, A: SparseMatrix) -> Tensor:
        ctx.A = A
        ctx.save_for_backward(h, values)
        return gathered(h, A.column, A.starts, values)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        (h, values), A, (g,) = ctx.saved_tensors, ctx.A, grads
        dh = dvalues = None
        if ctx.needs_input_grad[0]:
            turned = values.index_select(0, A.order)
            dh = gathered(g, A.row_transposed, A.starts_transposed, turned).to(h.dtype)
        if ctx.needs_input_grad[1]:
            g, h = (t.detach().to(values.dtype).contiguous() for t in (g, h))
            dvalues = inner_products(g, h, A.column, A.starts, A.row, mode=0)
        return dh, dvalues, None


class Softmax(torch.autograd.Function):
    """Softmax over the entries of each row."""

    @staticmethod
    def forward(ctx: Any, e: Tensor, row: Tensor, begin: Tensor) -> Tensor:
        largest = torch.segment_reduce(e, "max", offsets=begin)
        p = (e - largest.index_select(0, row)).exp_()
        q = p.div_(summed(p, row, len(begin) - 1).index_select(0, row))
        ctx.save_for_backward(q, row)
        ctx.rows = len(begin) - 1
        return q

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        """∂ℓ/∂e_mn = q_mn (g_mn - Σ_n' q_mn' g_mn')."""
        (q, row), (g,) = ctx.saved_tensors, grads
        mean = summed(q * g, row, ctx.rows)
        return q * (g - mean.index_select(0, row)), None, None


def summed(values: Tensor, row: Tensor, rows: int) -> Tensor:
    """Sum of the values of each row."""
    return values.new_zeros(rows).index_add_(0, row, values)
