"""Against the recorded behaviour of the public plugin: what it catches we catch, with reasons."""

from __future__ import annotations

from shared_data import golden

from wsmem.redaction.redact import contains_secret, redact

DIFFERENCES = {
    # name: (our output, reason)
    "token-newline": ("token=\nabc", "an empty value must not swallow the next line"),
    "token-tab-nl": ("token\t=\n\tabc", "an empty value must not swallow the next line"),
    "token-count": ("max token: 4096", "a number after token counts tokens"),
    "secret-sentence": ("The secret: never deploy on Friday", "prose about a secret is kept whole"),
    "password-json": ('{"password": "[REDACTED]"}', "JSON is the commonest shape of all"),
    "password-json-tight": ('{password:"[REDACTED]"}', "the quotes are not part of the value"),
    "double-colon": ("token::[REDACTED]", "both colons separate"),
    "access_token": ("access_token=[REDACTED]", "an underscore does not hide a label"),
    "github-pat": ("[REDACTED]", "newer prefixes count"),
    "aws": ("[REDACTED]", "so do cloud providers'"),
    "cjk-password": ("密码：[REDACTED]", "Chinese labels and full-width separators"),
    "full-width-colon": ("password：[REDACTED]", "full-width separators"),
    "full-width-letters": ("ｐａｓｓｗｏｒｄ=[REDACTED]", "full-width letters are letters"),
    "bearer": ("Authorization: Bearer [REDACTED]", "bearer credentials"),
    "url-userinfo": ("postgres://user:[REDACTED]@host/db", "credentials in addresses"),
}


def test_every_recorded_text_is_redacted_alike_or_differs_for_a_stated_reason() -> None:
    ours = {
        case["name"]: (redact(text), contains_secret(text), case["expected"])
        for case in golden("secrets.json")["cases"]
        if isinstance(text := case["input"]["value"], str)  # `null` and numbers are not texts here
    }
    for name, (output, found, expected) in ours.items():
        if name in DIFFERENCES:
            assert output == DIFFERENCES[name][0], name
            assert output != expected["redacted"], f"{name} does not differ any more"
        else:
            assert (output, found) == (expected["redacted"], expected["contains"]), name
    assert DIFFERENCES.keys() <= ours.keys()
