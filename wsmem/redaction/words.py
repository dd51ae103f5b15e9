"""Words that tell prose, placeholders and names of algorithms from secrets; all in lower case."""

from __future__ import annotations

PLACEHOLDERS = frozenset(
    """
    tbd tba todo fixme n/a na nil none null undefined nan unknown unset empty blank missing
    nothing true false yes no on off changeme change-me change_me changeit replaceme replace-me
    replace_me placeholder redacted removed masked hidden omitted elided censored dummy fake
    sample example required optional enabled disabled default inherit inherited ditto same
    see-above later pending deprecated revoked expired rotated invalid unused provided
    confidential sensitive encrypted
    """.split()
)
"""Said instead of a value, whatever the separator."""

TYPES = frozenset(
    """
    str string bytes bytearray int integer number float double bool boolean char varchar text any
    object void self cls never unknown optional option list dict map array tuple set uuid buffer
    secretstr securestring pydantic.secretstr await async new lambda return function yield typeof
    input prompt ref var let const this that value raise return pass continue break throw print
    assert if else elif for while del not
    """.split()
)
"""Types and keywords that follow a label in program text."""

ALGORITHMS = frozenset(
    """
    jwt jws jwe jwk jwks oauth oauth1 oauth2 oidc openid saml sso mfa 2fa totp hotp otp ldap
    kerberos kms hsm tpm rsa dsa dh ecdh ecdhe ecdsa eddsa ecc ed25519 ed448 x25519 x448
    curve25519 secp256k1 p256 p-256 p384 p521 aes aes128 aes192 aes256 des 3des tripledes blowfish
    chacha20 poly1305 gcm cbc ctr ecb rc4 sm2 sm3 sm4 sm9 hmac cmac gmac hkdf sha sha1 sha2 sha3
    sha224 sha256 sha384 sha512 md4 md5 crc32 blake2 blake2b blake2s blake3 ripemd160 bcrypt
    scrypt argon2 argon2d argon2i argon2id pbkdf2 base16 base32 base58 base64 base64url hex utf8
    utf-8 utf16 ascii uuid uuid4 uuidv4 uuidv7 ulid nanoid snowflake pem der p12 pfx pkcs1 pkcs5
    pkcs7 pkcs8 pkcs12 x509 x.509 asn1 hs256 hs384 hs512 rs256 rs384 rs512 es256 es384 es512 ps256
    ps384 ps512 tls tls1 ssl mtls https http ssh gpg pgp ssh-rsa ssh-ed25519 bearer basic digest
    apikey hashed salted hash salt nonce pkce
    """.split()
)
"""Names of algorithms and formats: what a policy says a key is made with."""

PRODUCTS = frozenset(
    """
    vault 1password bitwarden lastpass keepass keepassxc keychain keyring dashlane doppler
    infisical secretsmanager ssm aws gcp azure aliyun kubernetes k8s helm docker podman compose
    terraform ansible github gitlab gitea bitbucket jenkins circleci drone argocd nacos apollo
    consul etcd zookeeper redis mysql mariadb postgres postgresql mongodb mongo sqlite kafka
    rabbitmq nginx spring django flask rails express auth0 okta keycloak cognito firebase supabase
    stripe slack gateway nexus npm pypi maven gradle env .env dotenv cookie session header
    localstorage sessionstorage iam ci cd
    """.split()
)
"""Where secrets are kept or used: prose when more text follows, else perhaps a weak password."""

PROSE = frozenset(
    """
    a an the this that these those it its we our ours you your yours they their theirs he she who
    whom which what when where why how i my me us them one two three four five six eight ten
    twelve at in on by for from to with without of off as if is are was were be been being am into
    onto upon within outside inside over under above below between among across along around about
    against through throughout during before after since until till while once unless because
    although though so than then there here also still yet already just now currently previously
    formerly recently soon must should shall can could cannot can't may might will won't would do
    does don't doesn't did not never always often sometimes usually only all any each every both
    either neither no none nobody some many much more most less least fewer several few other
    another such same different own and or but nor per via plus minus up down out please use uses
    used using user users see ask asks check checks contact refer read reads write writes set sets
    get gets put puts pass passes passed keep keeps kept store stores stored storing save saves
    saved hold holds held live lives managed manages issue issues issued generate generates
    generated generating provide provides provisioned created creates create rotate rotates
    rotating rotation expire expires expiry expiration revoke revokes reset resets changed change
    changes load loads loaded send sends sent hashed hashes hashing encrypts encryption signed
    signs signing verify verifies verified verification validate validates validated validation
    require requires requiring injected inject injects fetched fetch fetches handled handles comes
    come came goes go needs need needed includes include contains contain returned returns return
    refresh refreshes refreshed shared shares private public internal external secret secrets
    token tokens password passwords passphrase credential credentials key keys login logins logout
    account accounts username policy policies rule rules management manager bucket field fields
    form forms input value values length size count limit limits budget usage type types format
    formats name names id ids url uri path file files folder page pages screen button link links
    email mail sms code codes string strings number numbers character characters char chars digit
    digits letter letters word words bit bits byte bytes minimum maximum min max exactly
    approximately roughly long longer short shorter strong weak wrong correct incorrect valid
    available unavailable safe unsafe secure securely plain plaintext cleartext random randomly
    unique single multi non pre re auto self server client service services api app apps backend
    frontend database environment variable variables config configuration settings deployment
    pipeline production staging development test tests testing local remote cloud team teams ops
    devops everyone anyone someone owner owners customer tenant tenants prevents protects
    authenticates authorizes authorises identifies means supports allows enables
    """.split()
)
"""Words with which a sentence about secrets begins."""

ACTIONS = frozenset(
    """
    handles manages stores rotates generates issues signs validates verifies provides holds keeps
    knows owns injects encrypts hashes refreshes expires requires supports sends reads writes
    creates controls protects authenticates authorizes authorises uses
    """.split()
)
"""Verbs that make the word before them a subject, not a value."""

CONNECTIVES = frozenset(
    """
    a an the at in on by for from to with without of as into within over under between through
    during before after until every each per when if and or not only via because
    """.split()
)

HAN_POLICY = tuple(
    (
        "签发 簽發 托管 託管 管理 存储 儲存 加密 解密 认证 認證 鉴权 鑑權 统一 統一 生成 产生 "
        "轮换 輪換 保存 保管 格式 算法 演算法 登录 登入 下发 下發 校验 校驗 验证 驗證 获取 "
        "獲取 取得 读取 讀取 提供 负责 負責 维护 維護 注入 方式 模式 机制 機制 协议 協議 策略 "
        "规则 規則 体系 服务 服務 系统 系統 平台 网关 網關 接口 字段 欄位 里面 裡面 中的 内部 "
        "颁发 頒發 发放 派发 控制 长度 長度 位数 哈希 雜湊 签名 簽名 编码 編碼 挂载 掛載 配置 "
        "变量 變數 缓存 快取 同步 入库 落库 加盐 传输 自动 接入 对接 集成 约定 で 에서 発行 "
        "管理"
    ).split()
)
"""What a Chinese sentence says of the system whose name it begins with."""

UNITS = tuple(
    (
        "位 个 個 字 天 日 年 月 周 週 小时 小時 时 時 分 秒 次 轮 輪 条 條 种 種 名 人 万 萬 "
        "亿 億 千 百 元 文字 桁 回 자 일 개 회 년 월"
    ).split()
)
"""What a bare number counts in Chinese, Japanese and Korean."""

LABEL_WORDS = frozenset(
    """
    password passwd pwd pass passphrase passcode secret token key apikey credential credentials
    creds auth authorization username user login
    """.split()
)
"""Names of secrets: as a value they are a variable or a caption, not the secret."""
