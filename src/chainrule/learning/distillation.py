"""Distillation: a student network learns the probabilities of a teacher network.

    p = softmax(F/T),  q = softmax(G/T)            teacher F, student G, temperature T
    ℓ = -Σ_y p_y log q_y,      ∂ℓ/∂G = (q - p) / T

J 8.9 prints both without the minus sign. Combined with the loss of the labels, ℓ is multiplied by
T², since its gradient falls like 1/T² for large T: (1 - α) (-log softmax(G)_y) + α T² ℓ.
Hinton, Vinyals and Dean (2015). Notes: J 8.9.
"""

from jaxtyping import Float, Int
from torch import Tensor

from chainrule.arguments import Positive, Share, checked
from chainrule.learning.losses import Loss, cross_entropy
from chainrule.learning.soft_labels import soft_cross_entropy


@checked
def distillation(
    student: Float[Tensor, "batch classes"],
    teacher: Float[Tensor, "batch classes"],
    temperature: Positive = 1.0,
) -> Float[Tensor, " batch"]:
    """-Σ_y p_y log q_y, both at temperature T; the teacher's logits are constants."""
    return soft_cross_entropy(student / temperature, softmax_at(teacher.detach(), temperature))


@checked
def distillation_gradient(
    student: Float[Tensor, "batch classes"],
    teacher: Float[Tensor, "batch classes"],
    temperature: Positive = 1.0,
) -> Float[Tensor, "batch classes"]:
    """∂ℓ/∂G = (q - p) / T."""
    return (softmax_at(student, temperature) - softmax_at(teacher, temperature)) / temperature


@checked
def softmax_at(
    logits: Float[Tensor, "batch classes"], T: Positive
) -> Float[Tensor, "batch classes"]:
    """softmax(F/T), which is flatter the larger T is."""
    return (logits / T).softmax(1)


@checked
def distillation_loss(temperature: Positive = 4.0, alpha: Share = 0.9) -> Loss:
    """The loss (1 - α) (-log softmax(G)_y) + α T² ℓ of (student's logits, y, teacher's logits)."""

    def loss(
        output: Float[Tensor, "batch classes"],
        y: Int[Tensor, " batch"],
        teacher: Float[Tensor, "batch classes"],
    ) -> Float[Tensor, " batch"]:
        soft = distillation(output, teacher, temperature)
        return (1 - alpha) * cross_entropy(output, y) + alpha * temperature**2 * soft

    return loss
