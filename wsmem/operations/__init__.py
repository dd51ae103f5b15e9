"""What a distiller may say: parse it, check its evidence, apply it to entries; pure.

    proposals = parse_output(answer)                       # text or decoded JSON, one document
    ledgers = {"workspace": Ledger(entries)}
    outcome = apply_operations(ledgers, proposals, Circumstances(home="workspace", ...))
    outcome.entries, outcome.audit, outcome.added, outcome.ignored

| module | what it holds |
|---|---|
| `contract` | what passes between the engine and a distiller |
| `parsing` | answers, in every shape and wrapping, into proposals |
| `fields` | fields of an entry as they are kept |
| `statements` | a user's own words, told apart from pasted and quoted ones |
| `evidence` | who said it, and whether the quotes prove a correction |
| `similarity` | near-duplicates: token Dice of at least 0.68, by an index |
| `differences`, `numerals`, `polarity` | what near-duplicates must not differ in |
| `ledger` | a list of entries while operations change it |
| `changes` | how one entry changes |
| `apply`, `outcome` | operations applied one by one; what became of each |
| `candidates` | which entries the distiller is shown |
"""
