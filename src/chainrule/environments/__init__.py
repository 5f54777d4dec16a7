"""Chapter 9, environments: worlds for decision processes."""

from chainrule.environments.cart_pole import CartPoles
from chainrule.environments.environment import Environments, Transition
from chainrule.environments.grid_world import GridWorld
from chainrule.environments.gym import GymEnvironments
from chainrule.environments.inventory import Inventory

__all__ = [
    "CartPoles",
    "Environments",
    "GridWorld",
    "GymEnvironments",
    "Inventory",
    "Transition",
]
