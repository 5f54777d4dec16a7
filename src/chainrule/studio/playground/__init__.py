"""The playground: points of two classes in the plane, and what learns to tell them apart.

settings   what the page may choose, and what it may change while a model learns
points     the data: toy problems of the course, or the user's own points
learner    what every model of the playground can do
networks   models trained by gradients: one network or several
perceptron algorithm 1, mistake by mistake, and its version space
reference  estimators of scikit-learn, fitted once
script     the same experiment as Python and as a command
"""
