"""Ordinary text is not touched: policies, references, placeholders, numbers, ids, program text."""

from __future__ import annotations

import pytest
from marked_text import rows

from wsmem.redaction.redact import contains_secret, redact

REQUIRED = [
    "密码策略：至少十二位并每季度更换", "令牌：由网关统一签发，不落库", "忘记密码入口放在登录页",
    "密钥轮换周期为 90 天", "4fa1c0ffee4fa1c0ffee4fa1c0ffee4fa1c0ffee",
    "550e8400-e29b-41d4-a716-446655440000", "disk-backed-cache-warmup-strategy",
    "hockey: 周三晚训练", "public_key 在仓库根目录", "SMTP_PASSWORD=\nSMTP_PORT=2525",
    "api_key: ${SERVICE_KEY}", "password: TBD", "token 预算设为 4000",
    "lock 文件 sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
]  # fmt: skip

CHINESE_PROSE = [
    "令牌：由 gateway 签发", "令牌：JWT，由网关签发", "令牌：OAuth2 客户端模式", "令牌：走 SSO",
    "令牌是 JWT", "令牌由 auth-service 颁发", "令牌桶：每秒 100", "访问令牌是短期有效的",
    "密码：bcrypt 哈希存储", "密码：SSO 登录", "密码：LDAP 统一管理", "密码：Vault 中获取",
    "密码：见 1Password", "密码：见 .env", "密码：在 1Password 的 staging 条目", "密码：问 Alice",
    "密码：由运维保管", "密码：与生产一致", "密码：不要写进仓库", "密码：至少 12 位，含大小写字母",
    "密码：从 ~/.pgpass 读取", "密码：通过 ${DB_PASSWORD} 注入", "密码：“由运维保管”",
    "密码：「见保险箱」", "密码是必填项", "密码是 bcrypt 加密的", "密码是 SHA256 哈希存储",
    "密码为空时返回 400", "密码为 8 位", "密码不能为空", "密码由 1Password 管理，见团队文档",
    "密码错误次数=5", "密码强度=高", "密码规则：8-16 位", "密码加密方式：SHA-256",
    "密码学：对称与非对称", "密码框：type=password", "密码重置流程：用户点击邮件链接",
    "密码2024年更换", "密码（必填）", "密码（测试环境）", "密码（见 1Password）",
    "修改密码：PUT /api/v1/users/password", "表 users 的 password 字段用 varchar(255)",
    "口令：参见 docs/ops.md", "口令策略：三个月一换", "口令红包：关闭", "密钥：RSA 2048 位",
    "密钥：KMS 托管", "密钥: AES-256-GCM", "密钥：每 90 天轮换", "密钥：从环境变量 API_KEY 读取",
    "密钥对：已生成", "密钥存放在 KMS 中", "私钥：~/.ssh/id_ed25519",
    "公钥：ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI", "凭证类型：x509", "token：gateway 统一签发",
    "token 是 JWT 格式", "token 为 JWT(RS256)", "登录 token 存 Redis", "secret 放在 Vault",
    "api_key 环境变量名是 DEEPSEEK_API_KEY", "/etc/passwd 文件", "编号：Kx7pQ2vL9z",
    "订单号 Kx7pQ2vL9z", "密碼原則：至少十二碼", "密碼：請洽管理員", "權杖：由閘道簽發",
    "金鑰：存放於 Vault",
]  # fmt: skip

JAPANESE_AND_KOREAN_PROSE = [
    "パスワード：管理者に問い合わせる", "パスワードは12文字以上", "パスワードは暗号化して保存する",
    "トークンはJWT形式", "パスワード：未設定", "비밀번호: 관리자에게 문의", "비밀번호는 8자 이상",
    "비밀번호: 8자 이상", "토큰은 JWT 형식", "암호화: AES-256", "API 키: 환경 변수에서 읽음",
]  # fmt: skip

ENGLISH_PROSE = [
    "Password policy: at least 12 characters", "Password: must be at least 12 characters",
    "password: 16 characters minimum", "Password: 8–64 characters", "password: stored in Vault",
    "password: see docs/security.md", "Token: issued by the gateway, never stored",
    "The secret: never deploy on Friday", "The token is invalid", "a secret sauce",
    "the access token is valid for 3600s", "password reset flow: users click the link",
    "API key: ask the platform team", "API keys: rotate quarterly", "secret rotation: monthly",
    "--token is required", "use --password to set the password", "--password <value>",
    "[--token TOKEN]", "password-protected zip", "username or password", "user -> token -> session",
    "password (string): the user's password", "Secret: kept in Vault", "secretary: Alice",
    "Authorization: required for all routes", "Authorization：由网关校验",
    "Cookie: must be HttpOnly", "authorization code flow", "Basic authentication is disabled",
    "Bearer tokens are required", "the password is hunter2", '"password": "Forgot password?"',
    '"password": "密码"', "1Password: Ensure all vaults are shared", "/etc/passwd: world readable",
]  # fmt: skip

ADDRESSES = [
    "mailto:abc123def@x.com", "contact:dev2024team@corp.com", "邮箱:zhang2024@corp.com",
    "redis:7.2@sha256:9f86d081884c7d659a2f", "repo/image:main-4fa1c0f@sha256:9f86d081",
]  # fmt: skip

NUMBERS = [
    "token: 4096", "max_tokens: 4096", "token=4k", "tokens: 5", "token ≈ 4000", "token: <= 4096",
    "token 上限：4096", "token：7200 秒", "每个 token：0.002 元", "prompt tokens: 1234",
    "secret: 3 of 5", "密钥：2048 位", "密码：8 位以上", "口令：12 位", "密码：90 天更换一次",
    "TOKEN_LIMIT=4096", "key_id: 42", "PASSWORD_MIN_LENGTH=12", "pass: 12 fail: 3",
    "pass=1234 fail=2", "password: 12+",
]  # fmt: skip

PLACEHOLDERS = [
    "password: required", "password: ****", "密码：••••••", "token: sk-****", "api_key: xxxxxxxx",
    "password: <your password>", "API_KEY=<YOUR_API_KEY>", "token: your-token-here", "密码：待定",
    "token: [REDACTED]", "password=[REDACTED]", "password: ...", "密码：【待补充】", "密码：N/A",
    "密码：-", "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
    "https://<user>:<pass>@host", "postgres://user:****@host/db", "Authorization: Bearer <token>",
    'password: "<password>"',
]  # fmt: skip

EMPTY_VALUES = [
    "SMTP_PASSWORD:\nSMTP_PORT=2525", "SMTP_PASSWORD=\\nSMTP_PORT=2525", "password=\r\nport=1",
    "password: ''\nnext: 1", '{"password": "", "port": 1}', "TOKEN=\nNEXT=abc",
    "API_KEY= # fill in", "password:\n  secretKeyRef:\n    name: db", "secret:\n  - a\n", "token=",
    "token=,x", '<input type="password" value="">', "# Password: \n",
]  # fmt: skip

REFERENCES = [
    "password: {{ vault_password }}", "token: ${{ secrets.GITHUB_TOKEN }}", "password=$DB_PASSWORD",
    "password=$(cat /run/secrets/db)", "password: %DB_PASSWORD%", 'password="$(vault kv get x)"',
    "DB_PASSWORD_FILE=/run/secrets/db", "password: /run/secrets/db", "token: GITHUB_TOKEN",
    "secret: vault:secret/data/db#password", "password: op://dev/db/password", "password: !vault |",
    "SECRET_ARN=arn:aws:secretsmanager:us-east-1:1:secret:x", "private key: ~/.ssh/id_rsa",
    "postgres://user:${PASS}@host/db", "curl -u $USER:$PASS x", "Authorization: Bearer ${TOKEN}",
    "token: https://auth.example.com/token", "DB_PASSWORD=${DB_PASSWORD:?missing}",
]  # fmt: skip

PROGRAM_TEXT = [
    "password=os.environ['DB_PASSWORD']", 'password = os.getenv("DB_PASSWORD")',
    "api_key=self.api_key", "token = get_token()", "password=password",
    "connect(user=user, password=password)", "password: Optional[str] = None",
    "password: str = Field(...)", "password?: string",
    "def login(user: str, password: str) -> bool:", "def f(x: Token) -> Style:", "token=Token.Line",
    "cancel: CancellationToken", "token = tokens[0]", "tokens.map(token => token.value)",
    "assert password == expected", "if not password: raise", "`password` varchar(255)",
    "$token = $tokens[$index];", 'token = {"type": "x"}', "hashed = argon2.hash_password(password)",
    "grant_type=password&x=1", "docker run -p 8080:80 x", "ssh -p 2222 host", "mysql -u root -p",
    "docker login -u me --password-stdin", "pwd: /home/dev/proj", "cd $(pwd)/x",
]  # fmt: skip

NAMES_AND_IDS = [
    "mytoken=abc", "monkey: banana", "keyboard: qwerty", "cache key: user:123:profile",
    "primary key: user_id", "compass: north", "passport: A123", "tokenizer: bert-base",
    "task-abcdefghijklmnop", "risk-assessment-document", "sk-learn-compatible-estimator",
    "sk-abcdefghijk", "npm_config_registry", "asia-northeast1",
    "commit 4fa1c0ffee4fa1c0ffee 修复 token", "md5: d41d8cd98f00b204e9800998ecf8427e",
    "session_id=550e8400-e29b-41d4-a716-446655440000", "ws-8d26a3233b5832695aac",
    "token_hash=4fa1c0ffee4fa1c0ffee4fa1c0ffee", "secret_version: v1.2.3",
    "http://localhost:5173/@vite/client", "https://cdn.x.com:8080/pkg@1.2.3/x",
    "http://[::1]:8080/x", "git@github.com:org/repo.git", "ssh://git@github.com/org/repo",
    "mailto:a@b.c", "eyJ",
    "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQ\n-----END PUBLIC KEY-----",
    "-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIE\n-----END CERTIFICATE-----",
    "PEM 以 -----BEGIN PRIVATE KEY----- 开头，以 -----END PRIVATE KEY----- 结尾",
]  # fmt: skip


@pytest.mark.parametrize(
    "text",
    rows(
        [
            *REQUIRED, *CHINESE_PROSE, *JAPANESE_AND_KOREAN_PROSE, *ENGLISH_PROSE, *ADDRESSES,
            *NUMBERS, *PLACEHOLDERS, *EMPTY_VALUES, *REFERENCES, *PROGRAM_TEXT, *NAMES_AND_IDS,
            "", " \n",
        ]
    ),
)  # fmt: skip
def test_ordinary_text_comes_back_as_the_same_object(text: str) -> None:
    assert redact(text) is text
    assert not contains_secret(text)
