"""A labelled set from one's own store: candidate queries, pools, judgements, agreement, export.

| module | what it holds |
|---|---|
| `candidates` | what users of a store have asked, and may be asked of it again |
| `sources` | scopes of a store as documents and queries without labels |
| `relabelling` | a labelled set, to be labelled again by others |
| `pooling` | the first results of several systems together, in an order that betrays none |
| `making` | what makes a labelling folder of either |
| `folder` | the private folder in which all of this is kept until it is exported |
| `judgements` | one labeller's grades, appended line by line; undo |
| `session` | the conversation in the terminal |
| `settling` | what several labellers say together; the labels that come of it |
| `agreement` | how far two labellers agree |
| `thinness` | how much of what systems return has been judged |
| `pseudonyms`, `rewriting` | names replaced, secrets redacted, line by line |
| `export` | the set without its private parts |
"""
