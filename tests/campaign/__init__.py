"""An attack on the program: seeded, bounded, repeatable, counted.

    make campaign                      a few minutes
    make campaign SIZE=full            an hour on two cores; writes benchmarks/campaign.json
    PYTHONPATH=tests python -m campaign --only kills --attempt 17      one attempt again, in detail

One file holds one kind of attack. Attempt n of a kind draws everything from (seed, kind, n), runs
in a child process, and has one outcome.
"""
