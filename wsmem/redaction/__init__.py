"""Credential shapes: detect and redact; text in, text out.

    redact("连接密码：Kx7pQ2vL9z，端口 5432")   # "连接密码：[REDACTED]，端口 5432"
    contains_secret("password policy: at least 12 characters")   # False
    redact_value({"title": "登录", "tags": ["token=d4"]})   # every text at any depth, keys kept

All of it is in `wsmem.redaction.redact`. Two kinds of rules look at a text: shapes that are a
secret wherever they stand (`tokens`, `private_keys`, `urls`, `headers`, `commands`), and labels
with a value (`labels`), where the work is to tell a value from prose about one (`judgement`).

Promises: the value is gone and the words around it stay; redacting twice is redacting once; a text
without secrets comes back as the same object; time grows linearly with the text, whatever it holds.

| module | what it holds |
|---|---|
| `redact` | the public functions |
| `findings` | where a secret stands, never what it says |
| `folding` | full-width letters read as ordinary ones, position by position |
| `gates` | which rules a text needs at all, by substring search |
| `tokens` | keys of providers by their prefix, JSON web tokens, webhook addresses |
| `private_keys` | PEM and PGP blocks, with real or escaped line ends, whole or cut |
| `urls` | user name and password in an address |
| `headers` | `Authorization`, bearer and basic credentials, cookies |
| `commands` | passwords given to programs known to take them |
| `labels`, `vocabulary` | 密码, password, パスワード … and what follows them |
| `values` | where a value begins and ends |
| `judgement`, `words` | secret or not: numbers, prose, names of algorithms |
| `references` | variables, templates, paths, masks, blanks to fill in |
"""
