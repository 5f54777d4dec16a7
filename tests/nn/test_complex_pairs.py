"""Complex matrices as pairs of real ones: the products are those of torch's complex numbers."""

import torch

from chainrule.nn.kernels.complex_pairs import complex_product, real_product


def test_products_and_gradients_are_those_of_complex_numbers():
    torch.manual_seed(0)
    B = torch.randn(2, 3, 4, dtype=torch.float64, requires_grad=True)
    C = torch.randn(2, 5, 3, dtype=torch.float64, requires_grad=True)
    x = torch.randn(6, 7, 4, dtype=torch.float64, requires_grad=True)
    ours = real_product(C, complex_product(B, x))
    theirs = (x.to(torch.complex128) @ torch.complex(*B).T @ torch.complex(*C).T).real
    torch.testing.assert_close(ours, theirs)
    weights = torch.randn_like(ours)
    for one, other in zip(
        torch.autograd.grad((ours * weights).sum(), (B, C, x)),
        torch.autograd.grad((theirs * weights).sum(), (B, C, x)),
        strict=True,
    ):
        torch.testing.assert_close(one, other)
