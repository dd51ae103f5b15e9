"""What stands where a secret would: templates, variables, paths, masks, blanks to fill in."""

from __future__ import annotations

import re
from functools import cache


def is_template(value: str) -> bool:
    """Whether a value is filled in from elsewhere: `${NAME}`, `$(cmd)`, `{{ x }}`, `vault:x`."""
    return _template().match(value) is not None


def is_code(value: str) -> bool:
    """Whether a bare value is program text: an attribute, a call, an index, a type.

    Only what its writer could not have meant as a value: dotted names on a known root, brackets
    behind a name.
    """
    return _code().match(value) is not None


def is_name(value: str) -> bool:
    """Whether a value is a name called after a secret: `GITHUB_TOKEN`, `userPassword`."""
    return _name().fullmatch(value) is not None


def is_attribute(value: str) -> bool:
    """Whether a value is words joined by points; tokens with points in them have digits too."""
    return _attribute().fullmatch(value) is not None


def is_path(value: str) -> bool:
    """Whether a value is a file's path; passwords in base64 mix cases within a part."""
    return _path().fullmatch(value) is not None


def is_placeholder(value: str) -> bool:
    """Whether a value is masked or a blank to fill in: `sk-****`, `your-api-key`, `[token]`."""
    return bool(_masked().search(value) or _blank().search(value.lower()))


@cache
def _template() -> re.Pattern[str]:
    stores = (
        "env|vault|file|op|ssm|sops|kms|keyring|keychain|arn|ref|bws|doppler|infisical|lpass|consul"
        "|k8s|aws|gcp|azure|azurekv|awssm|gcpsm|https?"
    )
    return re.compile(
        r"(?i)\$[{(]|\$env:"  # ${NAME}, $(command)
        r"|(?:\$[a-z_]+|(?-i:\$[A-Z_][A-Z0-9_]*))(?:/[\w./-]*)?[)}\]]*$"  # $name, $NAME_1/x
        r"|%[a-z_][a-z0-9_]*%$|\W*%(?:\([a-z_]+\))?[srdv]\W*$|\W*\{[0-9]?\}\W*$"
        r"|[{#]\{|\{%|\{[a-z_.]+(?:[!:][^{}]*)?\}?$|\{[\"']|<[%$?].*>$"
        r"|@[./~][\w./~-]*$|!(?:vault|env|env_var|secret|sub|ref|include|getatt)(?![a-z0-9])"
        rf"|(?:{stores})(?::|\+)|secret://|enc\["
        r"|sha(?:1|224|256|384|512)[:=-]|md5[:=]"  # the digest of a file
    )


@cache
def _code() -> re.Pattern[str]:
    roots = (
        "os|sys|env|environ|process|settings?|config|cfg|conf|options?|opts|args|params|props|self"
        "|this|cls|ctx|context|app|secrets|vars?|local|data|module|request|req|res|response|state"
        "|user|form|body|system|environment|deno|bun|import\\.meta|inputs?|values|github|steps|each"
    )
    return re.compile(
        rf"(?i)(?:{roots})(?:(?:\.|->|::|\?\.)[a-z_]+)+(?=$|[\[(])|(?:{roots})\["
        r"|\$[a-z_]\w*(?:\[|->|::)"
        r"|[a-z_][\w.]{2,80}\((?=[a-z_)\"'\[$*]|$)"  # call(x, call("x
        r"|[a-z_][\w.]{0,80}\[(?:[\"']|[-\w:]*\]?$|[-\w:]+\])"  # table["x", items[0]
        r"|\([a-z_.]+[,)]?$|:[a-z]+:|#[0-9a-f]{3,8}$"  # (name), :role:, a colour
        r"|[a-z.]+[\[<][a-z., |\[\]<>\"']*$"  # Optional[str]
    )


@cache
def _name() -> re.Pattern[str]:
    """A variable, field or type: called after a secret, without digits of its own."""
    lower = r"(?:password|passwd|pwd|passphrase|secret|token|key|pass|credentials?)"
    hump = r"(?:Password|Passwd|Pwd|Passphrase|Secret|Token|Key|Pass|Credentials?)"
    upper = lower.upper()
    return re.compile(
        rf"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*_{upper}(?:_[A-Z]+)*|{upper}(?:_[A-Z]+)+"  # GITHUB_TOKEN
        rf"|_*[a-z]+(?:_[a-z]+)*_{lower}|[a-z_]+(?:\.[a-z_]+)*\.{lower}"  # user_password
        rf"|{hump}(?:\.[A-Za-z]+)+|[A-Za-z_][\w.]*\.[A-Za-z]*{hump}"  # Token.Line, api.OpenToken
        rf"|[A-Za-z][a-z]*(?:[A-Z][a-z]+)*{hump}"  # userPassword, CancellationToken
    )


@cache
def _attribute() -> re.Pattern[str]:
    return re.compile(r"[A-Za-z_]{2,}(?:\.[A-Za-z_]{2,})+")


@cache
def _path() -> re.Pattern[str]:
    return re.compile(
        r"(?:~|\.{1,2})?(?:/[a-z_.@-][a-z0-9_.@-]*|/[A-Z][a-z_.-]+){1,40}/?|[A-Za-z]:\\.*"
        r"|(?:[a-z_.-]+/)+[a-z_.-]+"
    )


@cache
def _masked() -> re.Pattern[str]:
    return re.compile(r"\*{3}|•{2}|●{2}|█{2}|\.{3}|…|[xX]{5}|#{5}")


@cache
def _blank() -> re.Pattern[str]:
    return re.compile(
        r"(?:^|[^a-z])your(?:[^a-z]|$)|^your|(?:^|[-_ ])here$|^(?:insert|enter|paste|put)[-_ ]"
        r"|^example[-_ ]|[-_ ]example$|^(?:x{3,}|0{4,}|\.{2,}|-{2,}|_{2,}|\?{2,}|#{3,})$"
        r"|^\[[^\]\d]{0,40}\]?$"
    )
