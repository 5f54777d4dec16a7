"""Distillation: a student learns the teacher's probabilities instead of labels.

    p = softmax(F/T),  q = softmax(G/T)            teacher F, student G, temperature T
    ℓ = -Σ_y p_y log q_y,      ∂ℓ/∂G = (q - p) / T

J 8.9 prints both without the minus sign. Beside the label's loss ℓ is multiplied by T², since its
gradient falls like 1/T² for large T: (1 - α) (-log softmax(G)_y) + α T² ℓ.
Hinton, Vinyals and Dean (2015). Notes: J 8.9.
"""

from jaxtyping import Float, Int
from torch import Tensor

from chainrule.errors import InputError
from chainrule.learning.losses import Loss, cross_entropy
from chainrule.learning.soft_labels import soft_cross_entropy


def distillation(
    student: Float[Tensor, "batch classes"],
    teacher: Float[Tensor, "batch classes"],
    temperature: float = 1.0,
) -> Float[Tensor, " batch"]:
    """-Σ_y p_y log q_y, both at temperature T; the teacher's logits are constants."""
    return soft_cross_entropy(student / temperature, tempered(teacher.detach(), temperature))


def distillation_gradient(
    student: Float[Tensor, "batch classes"],
    teacher: Float[Tensor, "batch classes"],
    temperature: float = 1.0,
) -> Float[Tensor, "batch classes"]:
    """∂ℓ/∂G = (q - p) / T."""
    return (tempered(student, temperature) - tempered(teacher, temperature)) / temperature


def tempered(logits: Float[Tensor, "batch classes"], T: float) -> Float[Tensor, "batch classes"]:
    """softmax(F/T): the larger T, the flatter."""
    return (logits / T).softmax(1)


def distilling(temperature: float = 4.0, share: float = 0.9) -> Loss:
    """The loss (1 - α) (-log softmax(G)_y) + α T² ℓ of (student's logits, y, teacher's logits)."""
    if not (temperature > 0 and 0 <= share <= 1):
        raise InputError(
            f"expected a temperature above 0 and a share in [0, 1], got {temperature} and {share}"
        )

    def loss(
        output: Float[Tensor, "batch classes"],
        y: Int[Tensor, " batch"],
        teacher: Float[Tensor, "batch classes"],
    ) -> Float[Tensor, " batch"]:
        soft = distillation(output, teacher, temperature)
        return (1 - share) * cross_entropy(output, y) + share * temperature**2 * soft

    return loss
