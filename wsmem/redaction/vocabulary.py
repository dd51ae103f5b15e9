"""The labels themselves, in lower case, by what they name; one table for all languages."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wsmem.redaction.gates import Gates
    from wsmem.redaction.judgement import LabelKind

_PASSWORDS = (
    "password passwd passphrase passcode pwd "
    "密码 密碼 口令 通行码 通行碼 授权码 授權碼 提取码 提取碼 "
    "パスワード パスフレーズ パスコード 暗証番号 "
    "비밀번호 비번 암호 패스워드"
)
_TOKENS = (
    "token secret credentials credential creds jsessionid phpsessid "
    "令牌 权杖 權杖 凭证 凭据 憑證 憑據 トークン シークレット クレデンシャル 토큰 시크릿"
)
_KEYS = (
    "密钥 密鑰 密匙 秘钥 秘鑰 秘匙 祕鑰 祕匙 私钥 私鑰 金钥 金鑰 "
    "秘密鍵 暗号鍵 共有鍵 apiキー アクセスキー 秘密キー シークレットキー 暗号キー 暗号化キー "
    "비밀키 개인키 암호키 api키 액세스키 인증키 접근키 시크릿키"
)
_WITH_BLANK: dict[str, LabelKind] = {
    "비밀 번호": "password", "api キー": "key", "api 키": "key", "비밀 키": "key", "개인 키": "key",
    "암호 키": "key", "액세스 키": "key", "인증 키": "key", "접근 키": "key", "시크릿 키": "key",
}  # fmt: skip

LABELS: dict[str, LabelKind] = {
    **dict.fromkeys(_PASSWORDS.split(), "password"),
    **dict.fromkeys(_TOKENS.split(), "token"),
    **dict.fromkeys(_KEYS.split(), "key"),
    **_WITH_BLANK,
}
"""Words that announce a secret."""

QUALIFIED = "key"
"""A label only behind a word that makes it one; the key of a cache or a keyboard is none."""
SHORT = "pass"
"""A label only before a separator."""
BEHIND_BAR = "auth"
"""A label only as `_auth`."""
SEED = ("mnemonic", "seed phrase", "recovery phrase", "助记词", "助記詞")
"""Labels of a row of words."""

BOUNDED = frozenset({"key", "token", "secret", "creds", "credential", "credentials", "pwd", "pass"})
"""Labels that must begin a word: `hockey`, `mytoken` and `compass` are none."""

VAGUE = frozenset({"creds", "credential", "credentials", "凭证", "凭据", "憑證", "憑據", "auth"})
"""Labels that as often name something else, so that the value must look like a secret."""

GATES: Gates = (
    ("", ("pwd", "secret", "token", "mnemonic")),
    ("pass", ("passw", "passphrase", "passcode", "pass:", "pass=", "pass :", "pass =")),
    ("key", (
        "api", "access", "private", "account", "encrypt", "sign", "master", "shared",
        "storage", "auth", "admin", "subscription", "webhook", "crypt", "cipher", "aes",
        "hmac", "jwt", "consumer", "service",
    )),
    ("cred", ("creds", "credential")),
    ("_", ("_auth",)),
    ("sess", ("jsessionid", "phpsessid")),
    ("phrase", ("seed phrase", "recovery phrase")),
    ("密", ("密码", "密碼", "密钥", "密鑰", "密匙", "秘密鍵", "秘密キー")),
    ("令", ("口令", "令牌")),
    ("钥", ("秘钥", "私钥", "金钥")),
    ("鑰", ("秘鑰", "祕鑰", "私鑰", "金鑰")),
    ("匙", ("秘匙", "祕匙")),
    ("杖", ("权杖", "權杖")),
    ("码", ("通行码", "授权码", "提取码")),
    ("碼", ("通行碼", "授權碼", "提取碼")),
    ("凭", ("凭证", "凭据")),
    ("憑", ("憑證", "憑據")),
    ("助", ("助记词", "助記詞")),
    ("ー", ("パスワード", "パスフレーズ", "パスコード", "トークン", "シークレット", "キー")),
    ("", ("号鍵", "有鍵", "暗証番号", "クレデンシャル", "암호", "패스워드", "토큰", "시크릿")),
    ("비", ("비밀", "비번")),
    ("키", (" 키", "i키", "밀키", "인키", "호키", "스키", "증키", "근키")),
)  # fmt: skip
"""Every label is let through here."""
