"""Keys, addresses, headers, commands and key blocks are secrets wherever they stand."""

from __future__ import annotations

import pytest
from marked_text import plain, redacted, rows

from wsmem.redaction.redact import redact

A36 = "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6"
B64 = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQ"

TOKENS = [
    f"key ⟦sk-proj-{A36}_-x⟧ end",
    f"⟦sk-ant-api03-{A36}⟧",
    f"密钥⟦sk-{A36}⟧结束",
    f"⟦sk_live_{A36[:24]}⟧",
    f"github token 是 ⟦ghp_{A36}⟧",
    f"⟦github_pat_{A36[:22]}_{A36}⟧",
    f"⟦glpat-{A36[:20]}⟧",
    f"⟦xoxb-1234567890-{A36[:24]}⟧",
    f"⟦AIza{A36[:35]}⟧",
    f"⟦npm_{A36}⟧",
    f"⟦hf_{A36[:34]}⟧",
    f"⟦SG.{A36[:22]}.{A36}⟧",
    f"⟦ya29.{A36}⟧",
    f"⟦LTAI5t{A36[:18]}⟧",
    f"⟦123456789:AA{A36[:33]}⟧",
    "凭据⟦AKIAABCDEFGHIJKLMNOP⟧已轮换",
    "⟦AKIAIOSFODNN7EXAMPLE⟧:⟦wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY⟧",
    "aws_secret_access_key = ⟦wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY⟧",
    "⟦eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.dBjftJeZ4CVP⟧",
    "https://open.feishu.cn/open-apis/bot/v2/hook/⟦550e8400-e29b-41d4-a716-446655440000⟧",
    "https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=⟦550e8400-e29b-41d4-a716-446655440000⟧",
]

ADDRESSES = [
    "postgres://app:⟦p%40ss%2Fword⟧@db.internal/x",
    "连接串是postgres://app:⟦Kx7pQ2⟧@db.internal/x，只读",
    "[db](mysql://root:⟦hunter2⟧@10.0.0.1/x) 说明",
    "`redis://default:⟦Kx7pQ2vL⟧@cache:6379`",
    "redis://:⟦hunter2⟧@cache:6379/0",
    "mongodb+srv://u:⟦p@ss⟧@h.mongodb.net/x",
    "mongodb://app:⟦Kx7pQ2vL9z⟧@a,b,c/x?replicaSet=r",
    "amqp://guest:⟦guest⟧@mq:5672/",
    "postgres://app:⟦p#ss/w?rd⟧@db.internal:5432/x",
    "http://admin:⟦p@ss:w0rd⟧@10.0.0.1:8080/",
    "https://⟦1Aw71l33SCx9vHjHkm1x72EsSfUQUAkN⟧@sentry.io/1",
    "jdbc:mysql://h/db?user=a&password=⟦hunter2⟧&ssl=true",
    "https://oapi.dingtalk.com/robot/send?access_token=⟦abc123def456⟧",
    "otpauth://totp/x?secret=⟦JBSWY3DPEHPK3PXP⟧&issuer=a",
    "a://b:⟦c⟧@d e://f:⟦g⟧@h",
    "app:⟦Kx7pQ2⟧@tcp(db:3306)/x?parseTime=true",
    "ssh 登录 root:⟦Kx7pQ2vL9z⟧@10.0.0.1:22",
]

HEADERS = [
    f"Authorization: Bearer ⟦{A36}abcd⟧",
    f"Authorization：Bearer ⟦{A36}⟧",
    f'"Authorization": "Bearer ⟦{A36}⟧"',
    f"bearer ⟦{A36}⟧",
    "Authorization: Basic ⟦dXNlcjpodW50ZXIy⟧",
    "Basic ⟦YXBwOktYN3BRMnZMOXo=⟧",
    "curl -H 'Authorization: token ⟦abcdef123456⟧'",
    "X-API-Key: ⟦abc123def⟧",
    "PRIVATE-TOKEN: ⟦Kx7pQ2vL9z⟧",
    "Cookie: session=⟦abcdef123456⟧; theme=dark",
    "Set-Cookie: sid=⟦abcdef123456⟧; Path=/; HttpOnly",
]

COMMANDS = [
    "mysql -u root -p⟦S3cret!⟧ db",
    "mysql -h db -u app -p'⟦Tm4#wZ8⟧' x",
    "sshpass -p '⟦hunter2⟧' ssh a",
    "redis-cli -a ⟦hunter2⟧ ping",
    "docker login -u me -p ⟦hunter2⟧",
    "curl -u admin:⟦hunter2⟧ http://x",
    "curl \\\n  --user 'app:⟦abc123⟧' https://x",
]

KEY_BLOCKS = [
    f"-----BEGIN PRIVATE KEY-----\n⟦{B64}\nEFAASC==⟧\n-----END PRIVATE KEY-----\n后文",
    f"-----BEGIN RSA PRIVATE KEY-----\r\n⟦{B64}⟧\r\n-----END RSA PRIVATE KEY-----",
    f"-----BEGIN PRIVATE KEY-----\\n⟦{B64}\\nabc=⟧\\n-----END PRIVATE KEY-----\\n",
    f"-----BEGIN PRIVATE KEY-----\\\\n⟦{B64}⟧\\\\n-----END PRIVATE KEY-----\\\\n",
    f"-----BEGIN EC PRIVATE KEY----- ⟦{B64}⟧ -----END EC PRIVATE KEY-----",
    f"k: |\n  -----BEGIN PRIVATE KEY-----\n  ⟦{B64}\n  gSj==⟧\n  -----END PRIVATE KEY-----\n",
    f"-----BEGIN RSA PRIVATE KEY-----\n⟦Proc-Type: 4\n\n{B64}⟧\n-----END RSA PRIVATE KEY-----",
    f"-----BEGIN PGP PRIVATE KEY BLOCK-----\n⟦V: x\n\n{B64}⟧\n-----END PGP PRIVATE KEY BLOCK-----",
    f"cut behind\n-----BEGIN OPENSSH PRIVATE KEY-----\n⟦{B64}\n{B64}⟧",
    f"⟦{B64}\nQyNTUx==⟧\n-----END OPENSSH PRIVATE KEY-----\ncut before",
    f"PuTTY-User-Key-File-3: ssh-rsa\nPrivate-Lines: 2\n⟦{B64}\n{B64}⟧\nPrivate-MAC: 00",
]


@pytest.mark.parametrize("marked", rows([*TOKENS, *ADDRESSES, *HEADERS, *COMMANDS, *KEY_BLOCKS]))
def test_a_shape_is_found_without_any_label(marked: str) -> None:
    leaving = redact(plain(marked))
    assert leaving == redacted(marked)
    assert redact(leaving) is leaving
