"""Chapter 9, reinforcement learning: decision processes, tabular methods and deep Q-learning."""

from chainrule.models.reinforcement.double_dqn import DoubleDQN
from chainrule.models.reinforcement.dqn import DQN, Batch, ReplayBuffer
from chainrule.models.reinforcement.mdp import MDP, random_mdp
from chainrule.models.reinforcement.policy_iteration import PolicyIteration
from chainrule.models.reinforcement.q_learning import QLearning
from chainrule.models.reinforcement.sarsa import Sarsa
from chainrule.models.reinforcement.value_iteration import ValueIteration

__all__ = [
    "DQN",
    "MDP",
    "Batch",
    "DoubleDQN",
    "PolicyIteration",
    "QLearning",
    "ReplayBuffer",
    "Sarsa",
    "ValueIteration",
    "random_mdp",
]
