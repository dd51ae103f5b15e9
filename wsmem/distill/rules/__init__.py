"""The built-in distiller: rules in Chinese and English, no model, no network.

It hears what people say outright: requests to remember, standing preferences and rules, decisions,
corrections. It is deaf to everything else on purpose: a memory that was not kept can be asked for
again, one that was kept by mistake is believed for months.

| module | what it holds |
|---|---|
| `distiller` | one stage in, operations out |
| `sentences` | the user's own words, cut into sentences |
| `gates` | what makes a sentence no statement to keep: questions, hypotheses, tasks of the moment |
| `cues` | what marks a sentence as a request, a preference, a rule or a decision |
| `hearing` | cues and gates together: the statements of one message |
| `corrections` | sentences that say a claim is wrong or has changed, and what they replace |
| `retorts` | terse answers that correct what the assistant just recalled |
| `answers` | short answers that pick an option or take up a proposal |
| `facts` | facts that are announced, or that stand in the way of an offer |
| `targets` | which existing entry a correction is about, if exactly one |
| `contrasts` | in what a claim and a clause of an entry differ |
| `writing` | content, title, tags and terms of a memory |
| `scoping` | whether a statement holds everywhere or in this project |
"""
