"""Every kind of attack, by name."""

from campaign import (
    ceilings,
    disks,
    downloads,
    faults,
    files,
    grammar,
    kills,
    misuse,
    orphans,
    repeats,
    terminals,
    writers,
)

ATTACKS = {
    attack.name: attack
    for attack in (
        kills.ATTACK,
        faults.ATTACK,
        writers.ATTACK,
        disks.ATTACK,
        files.ATTACK,
        misuse.ATTACK,
        grammar.ATTACK,
        downloads.ATTACK,
        ceilings.ATTACK,
        repeats.ATTACK,
        orphans.ATTACK,
        terminals.ATTACK,
    )
}
