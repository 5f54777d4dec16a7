"""Chapter 9, decisions: Markov decision processes, tables and networks that learn by trying."""

from chainrule.models.reinforcement.double_dqn import DoubleDQN
from chainrule.models.reinforcement.dqn import DQN
from chainrule.models.reinforcement.mdp import MDP
from chainrule.models.reinforcement.policy_iteration import PolicyIteration
from chainrule.models.reinforcement.q_learning import QLearning
from chainrule.models.reinforcement.sarsa import Sarsa
from chainrule.models.reinforcement.value_iteration import ValueIteration

__all__ = [
    "DQN",
    "MDP",
    "DoubleDQN",
    "PolicyIteration",
    "QLearning",
    "Sarsa",
    "ValueIteration",
]
