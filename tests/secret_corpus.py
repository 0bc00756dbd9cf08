"""Texts with a secret and texts without, for the redactor: what transcripts of coding agents hold.

Every secret is invented, by a seeded generator, and put together at run time, so that no scanner takes this file for a
leak.
"""

from __future__ import annotations

import hashlib
import random
import string
import uuid

LETTERS, DIGITS = string.ascii_letters, string.digits
ALNUM = LETTERS + DIGITS
URL_SAFE = ALNUM + "-_"
HEX = "0123456789abcdef"
UPPER = string.ascii_uppercase + DIGITS
BASE64 = ALNUM + "+/"


class Maker:
    """Random texts that are the same in every run."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def of(self, alphabet: str, length: int) -> str:
        return "".join(self._random.choices(alphabet, k=length))

    def key(self, alphabet: str, length: int) -> str:
        """As `of`, and with digits, as every real key of some length has."""
        text = self.of(alphabet, length)
        at = self._random.randrange(length - 3)
        return text[:at] + self.of(DIGITS, 3) + text[at + 3 :]


def shaped(m: Maker) -> list[str]:
    """One secret for each provider and form."""
    k = m.key
    return [
        "AK" + "IA" + m.of("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 16),
        "AS" + "IA" + m.of("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 16),
        "gh" + "p_" + k(ALNUM, 36),
        "gh" + "s_" + k(ALNUM, 36),
        "github" + "_pat_" + k(ALNUM, 22) + "_" + k(ALNUM, 59),
        "gl" + "pat-" + k(URL_SAFE, 20),
        "xo" + "xb-" + m.of(DIGITS, 11) + "-" + m.of(DIGITS, 11) + "-" + k(ALNUM, 24),
        "xap" + "p-1-A" + m.of(UPPER, 10) + "-" + m.of(DIGITS, 13) + "-" + k(HEX, 64),
        "sk" + "_live_" + k(ALNUM, 24),
        "rk" + "_test_" + k(ALNUM, 24),
        "wh" + "sec_" + k(ALNUM, 32),
        "sk" + "-ant-api03-" + k(URL_SAFE, 93),
        "sk" + "-proj-" + k(ALNUM, 74),
        "sk" + "-or-v1-" + k(HEX, 64),
        "sk" + "-" + k(HEX, 32),
        "AI" + "za" + k(URL_SAFE, 34) + "a",
        "GOC" + "SPX-" + k(URL_SAFE, 28),
        "ya" + "29." + k(URL_SAFE, 120),
        "h" + "f_" + k(ALNUM, 34),
        "np" + "m_" + k(ALNUM, 36),
        "py" + "pi-AgEI" + k(URL_SAFE, 140),
        "ruby" + "gems_" + k(HEX, 48),
        "S" + "G." + k(URL_SAFE, 22) + "." + k(URL_SAFE, 43),
        "S" + "K" + k(HEX, 32),
        "do" + "p_v1_" + k(HEX, 64),
        m.of(DIGITS, 10) + ":A" + "A" + k(URL_SAFE, 32) + "x",
        "shp" + "at_" + k(HEX, 32),
        "sq0" + "atp-" + k(URL_SAFE, 22),
        "ke" + "y-" + k(HEX, 32),
        "da" + "pi" + k(HEX, 32),
        "lin" + "_api_" + k(ALNUM, 40),
        "nt" + "n_" + k(ALNUM, 46),
        "gs" + "k_" + k(ALNUM, 52),
        "xa" + "i-" + k(ALNUM, 80),
        "ppl" + "x-" + k(ALNUM, 48),
        "r8" + "_" + k(ALNUM, 37),
        "hv" + "s." + k(URL_SAFE, 95),
        k(ALNUM, 14) + ".atlas" + "v1." + k(URL_SAFE, 67),
        "d" + "p.pt." + k(ALNUM, 43),
        "sntr" + "ys_" + k(ALNUM, 80),
        "gl" + "sa_" + k(ALNUM, 32) + "_" + m.of(HEX, 8),
        "NR" + "AK-" + m.of(UPPER, 27),
        "ts" + "key-auth-" + k(ALNUM, 12) + "-" + k(ALNUM, 32),
        "PM" + "AK-" + m.of(HEX, 24) + "-" + m.of(HEX, 34),
        "fi" + "gd_" + k(URL_SAFE, 43),
        "sb" + "p_" + k(HEX, 40),
        "AGE-SECRET" + "-KEY-1" + m.of(UPPER, 58),
        "ey" + "JhbGciOiJIUzI1NiJ9.ey" + "J" + k(URL_SAFE, 70) + "." + k(URL_SAFE, 43),
        "M" + "T" + k(ALNUM, 24) + "." + m.of(ALNUM, 6) + "." + k(ALNUM, 38),
        "a1B8" + "Q~" + k(ALNUM, 34),
        "LT" + "AI" + k(ALNUM, 20),
        "AK" + "ID" + k(ALNUM, 32),
        "AQ" + "VN" + k(ALNUM, 36),
        "v1" + ".0-" + m.of(HEX, 24) + "-" + m.of(HEX, 146),
        "HR" + "KU-" + k(URL_SAFE, 60),
        "fm" + "2_" + k(BASE64, 200),
        "nf" + "p_" + k(ALNUM, 40),
        "pa" + "t" + k(ALNUM, 14) + "." + m.of(HEX, 64),
        "ATAT" + "T3" + k(URL_SAFE, 180),
        "xkey" + "sib-" + m.of(HEX, 64) + "-" + k(ALNUM, 16),
        k(HEX, 32) + "-us" + "12",
        "EA" + "A" + k(ALNUM, 180),
        "dck" + "r_pat_" + k(URL_SAFE, 27),
        "CF" + "PAT-" + k(URL_SAFE, 43),
        "access" + "-production-" + str(_uuid(m)),
        "pu" + "l-" + k(HEX, 40),
        "psca" + "le_tkn_" + k(URL_SAFE, 43),
        "tv" + "ly-" + k(ALNUM, 32),
        "pc" + "sk_" + k(ALNUM, 70),
        "ls" + "v2_pt_" + m.of(HEX, 32) + "_" + m.of(HEX, 10),
        "ci" + "o" + k(ALNUM, 32),
        "CLO" + "JARS_" + m.of(HEX, 60),
        "oy" + "2" + k("abcdefghijklmnopqrstuvwxyz" + DIGITS, 43),
        "AK" + "Cp" + k(ALNUM, 69),
        "dt0" + "c01." + m.of(UPPER, 24) + "." + m.of(UPPER, 64),
        "tf" + "p_" + k(URL_SAFE, 59),
        "sg" + "p_" + k(HEX, 40),
        "bk" + "ua_" + m.of(HEX, 40),
        "CCI" + "PAT_" + k(ALNUM, 22) + "_" + m.of(HEX, 40),
        "op" + "s_eyJ" + k(BASE64, 400),
        "EZ" + "AK" + k(ALNUM, 54),
        "ship" + "po_live_" + m.of(HEX, 40),
        "gt" + "a_" + m.of(HEX, 40),
        "sk" + "_" + k(HEX, 48),
        f"organizations/{_uuid(m)}/api" + f"Keys/{_uuid(m)}",
    ]


def _uuid(m: Maker) -> uuid.UUID:
    return uuid.UUID(m.of(HEX, 32))


FRAMES = ("use {} for the call", 'client = Client("{}")', "+    key: {}\n     other: 1", '{{"value":"{}"}}', "{}")
"""Where a secret with a shape stands: in prose, in code, in a diff, in a tool's arguments, alone."""


def assigned(m: Maker) -> list[tuple[str, str]]:
    """(text, secret): secrets without a shape, by the name or the command that they belong to."""
    password, mixed, hexes = "vK4" + "-" + m.key(LETTERS, 9), m.key(ALNUM, 32), m.key(HEX, 40)
    short = "h" + "unter" + m.of(DIGITS, 2)
    frames = [
        ("postgres://shop:{}@db.internal:5432/shop", password),
        ("amqp://worker:{}@queue:5672/%2f", password),
        ("https://oauth2:{}@git.internal/team/app.git", mixed),
        ("Authorization: Bearer {}", mixed),
        ("authorization: Basic {}", m.key(BASE64, 32)),
        ('headers = {{"Authorization": "token {}"}}', hexes),
        ("DATABASE_PASSWORD={}", password),
        ("DB_PASSWORD={}", short),
        ('MYSQL_ROOT_PASSWORD="{}"', short),
        ("export REDIS_PASS={}", short),
        ("password: {}", password),
        ('"password": "{}",', password),
        ("spring.datasource.password={}", password),
        ('db_password = "{}"', password),
        ("passphrase = '{}'", password),
        ("client_secret={}", mixed),
        ('CLIENT_SECRET: "{}"', mixed),
        ("api_key = '{}'", mixed),
        ("x-api-key: {}", mixed),
        ("api-token: {}", hexes),
        ("ACCESS_TOKEN={}", mixed),
        ("refresh_token: '{}'", mixed),
        ("SESSION_SECRET={}", hexes),
        ("JWT_SECRET={}", mixed),
        ("STRIPE_KEY={}", mixed),
        ("MAPS_KEY='{}'", mixed),
        ("APP_KEY={}", m.key(HEX, 64)),
        ("SENTRY_AUTH={}", hexes),
        ("GITHUB_PAT={}", mixed),
        ("PASSWORD_SALT={}", mixed),
        ("AWS_SECRET_ACCESS_KEY={}", m.key(BASE64, 40)),
        ("aws_secret_access_key = {}", m.key(BASE64, 40)),
        ("aws configure set aws_secret_access_key {}", m.key(BASE64, 40)),
        ("curl -u admin:{} https://host/api", password),
        ("curl -s --user 'ci:{}' https://host/api", password),
        ("sshpass -p {} ssh root@host", password),
        ("sshpass -p '{}' scp a b", password),
        ("mysql -u root -p{} shop", password),
        ("mysqldump --single-transaction -p'{}' shop", password),
        ("redis-cli -h cache -a {} ping", password),
        ("docker login -u ci -p {} registry.internal", mixed),
        ("machine host.internal login dev password {}", password),
        ("  password {}\n", mixed),
        ("tool --token {} --verbose", mixed),
        ("tool --password {} run", password),
        ("tool --api-key '{}'", hexes),
        ("Cookie: session={}", mixed),
        ("Set-Cookie: sid={}; Path=/; HttpOnly", hexes),
        ('{{"auths": {{"registry": {{"auth": "{}"}}}}}}', m.key(BASE64, 28)),
        ("//registry.internal/:_authToken={}", hexes),
        ("AccountName=a;AccountKey={}", m.key(BASE64, 86) + "=="),
        ("https://account.blob/c?sv=1&sig={}", m.key(ALNUM, 44)),
        ("credential: {}", mixed),
        ("DB_CREDENTIALS={}", mixed),
        ("PGPASSWORD={} psql -h db", password),
        ("kubectl create secret generic a --from-literal=password={}", password),
        ("Server=db;User Id=sa;Password={};", password),
        ("ENCRYPTION_KEY={}", m.key(HEX, 64)),
        ("private_key_passphrase: {}", password),
        ('{{\\"apiKey\\": \\"{}\\"}}', mixed),
    ]
    return [(frame.format(secret), secret) for frame, secret in frames]


def block(m: Maker, kind: str) -> tuple[str, str]:
    body = "\n".join(m.of(BASE64, 64) for _ in range(12))
    dashes = "-" * 5
    return f"{dashes}BEGIN {kind}{dashes}\n{body}\n{dashes}END {kind}{dashes}", body.split("\n")[3]


def true_examples() -> list[tuple[str, str]]:
    """(text, secret in it)."""
    m = Maker(7)
    found = [(FRAMES[(n + turn) % len(FRAMES)].format(s), s) for turn in range(3) for n, s in enumerate(shaped(m))]
    found += [pair for _ in range(2) for pair in assigned(m)]
    kinds = ("PRIVATE " + "KEY", "RSA PRIVATE " + "KEY", "EC PRIVATE " + "KEY", "OPENSSH PRIVATE " + "KEY")
    return found + [block(m, kind) for kind in kinds]


# -- texts without secrets ---------------------------------------------------------------------------------------------

CODE = """
def login(user: str, password: str) -> Session:
password = request.form["password"]
password_hash = hash_password(password)
if not check_password(password, user.password_hash):
const token = await getToken();
const { token, secret } = useAuth();
let token = localStorage.getItem("token");
token := r.Header.Get("Authorization")
tok, err := lexer.NextToken()
self.token_count += len(tokens)
return jwt.encode(payload, settings.SECRET_KEY, algorithm="HS256")
SECRET_KEY = os.environ["SECRET_KEY"]
SECRET_KEY = env.str("DJANGO_SECRET_KEY")
api_key = config.get("openai", "api_key")
apiKey: process.env.OPENAI_API_KEY,
apiKey: import.meta.env.VITE_API_KEY,
api_key=settings.api_key.get_secret_value()
PASSWORD = getpass.getpass()
password: Mapped[str] = mapped_column(String(128))
password = forms.CharField(widget=forms.PasswordInput)
String password = System.getenv("DB_PASSWORD");
private static final String TOKEN_HEADER = "X-Auth-Token";
public string Password { get; set; } = string.Empty;
password TEXT NOT NULL,
ALTER TABLE users ADD COLUMN password_digest varchar(255);
foreign_key = ForeignKey("users.id")
primary_key=True, autoincrement=True
cache_key = f"user:{user_id}:profile"
CACHE_KEY = "user-profile-v2"
SORT_KEY = "created_at_desc_nulls_last"
PARTITION_KEY = "tenant_id#2026-11"
REDIS_KEY=queue:default:processing
PRIMARY_KEY=customer_id
export const QUERY_KEY = ["sessions", "list"];
const STORAGE_KEY = "app.settings.v1";
const EVENT_KEY = 'checkout.session.completed';
KEY_LEFT, KEY_RIGHT = 1073741904, 1073741903
token: Token::Identifier(name),
Token { kind: TokenKind::OpenParen, span: 12..13 }
expected token `}` but found `;`
tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")
pad_token_id=tokenizer.pad_token_id
max_new_tokens=512, do_sample=False
next_page_token = response.get("nextPageToken")
csrf_token = "{{ csrf_token() }}"
<input type="password" name="password" autocomplete="current-password">
<input type="hidden" name="csrf_token" value="{{ csrf_token }}">
secrets: inherit
secret: "${{ secrets.GITHUB_TOKEN }}"
token: ${{ secrets.NPM_TOKEN }}
GITHUB_TOKEN: ${{ github.token }}
env: { TOKEN: "$CI_JOB_TOKEN" }
password: "{{ vault_db_password }}"
password: !vault |
secretKeyRef: { name: db-secret, key: password }
secretName: wildcard-tls-2026
imagePullSecrets: [{ name: regcred }]
valueFrom: { secretKeyRef: { name: api, key: token } }
POSTGRES_PASSWORD_FILE=/run/secrets/postgres-passwd
password_file: /etc/erst/password.txt
--password-file /run/secrets/db
--password "$DB_PASSWORD"
--password=$PASSWORD
--token "$GITHUB_TOKEN"
--token <your-token>
--secret id=npmrc,src=.npmrc
curl -u "$USER:$PASS" https://example.org
curl -u user:password https://example.org
curl -u admin:<password> https://example.org
curl -H "Authorization: Bearer $TOKEN" https://example.org
curl -H "X-Api-Key: ${API_KEY}" https://example.org
docker login -u ci --password-stdin
docker login -u "$USER" -p "$PASSWORD" registry
mysql -u root -p shop < dump.sql
mysql -u root -p"$MYSQL_PWD" shop
mysql --protocol=tcp -P 3306
sshpass -p "$PASSWORD" ssh host
redis-cli -h localhost -p 6379 ping
redis-cli -a "$REDIS_PASSWORD" ping
machine example.org login anonymous password <password>
Authorization: Bearer <access-token>
Authorization: Basic <base64(user:password)>
www-authenticate: Bearer realm="https://auth.example.org/token",service="registry"
Cookie: theme=dark; lang=en
Set-Cookie: theme=dark; Max-Age=31536000; Path=/; SameSite=Lax
Set-Cookie: session=; expires=Thu, 01 Jan 1970 00:00:00 GMT
"auth": "none",
"auth": "required",
postgres://user:password@localhost:5432/app
postgres://postgres:postgres@localhost:5432/test
redis://localhost:6379/0
mongodb://localhost:27017/test
amqp://guest:guest@localhost:5672/
https://user:pass@example.org/
git clone https://github.com/team/app.git
git remote add origin git@github.com:team/app.git
ssh://git@host.example.org:2222/repo.git
from "@scope/package-name-with-long-parts"
npm_config_user_agent=npm/10.2.4 node/v20.11.0
resource "aws_secretsmanager_secret" "db" {}
aws_secret_access_key = var.aws_secret_access_key
aws configure set aws_secret_access_key "$AWS_SECRET_ACCESS_KEY"
arn:aws:iam::123456789012:role/deploy-role
arn:aws:secretsmanager:eu-west-1:123456789012:secret:prod/db-AbCdEf
sk-button-primary-large-with-icon
task-runner-parallel-execution-2026
disk-usage-report-for-all-volumes-12
risk-assessment-2026-q4-final-version-3
key-value-store-with-expiry-and-lru-eviction
key-bindings-for-the-terminal-emulator-2
pattern.matches(input) && pattern.length
path.resolve(__dirname, "../dist")
patch.object(module, "function_name_that_is_long")
access-control-allow-origin: *
access-log-format: combined
MTU 1500 qdisc mq state UP
MT19937 is a Mersenne Twister
NOTICE: table "users" does not exist, skipping
NTLM and Kerberos are supported
ODBC Driver 18 for SQL Server
EAABEAABEAAB
SKU12345678901234567890
SK_BUFFER_SIZE = 4096
AKIAIOSFODNN7EXAMPLE
AIzaSyExampleExampleExampleExampleExamp
hf_hub_download(repo_id="org/model")
npm_lifecycle_event=postinstall_and_then_some_more
pypi-publish-action-with-trusted-publishing
whsec_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
sk-...
sk-proj-...
sk-ant-xxxxx
xoxb-your-token-here
eyJ is how every JWT begins
cio.run(main()), ciolib, ciosomething
oy2b
fm2_client_config = load()
tfp_model_layer_normal_distribution
sgp_optimizer_step_size_schedule
""".strip().splitlines()

PROSE = """
The password field must not be empty.
Please rotate the API key and redeploy.
I forgot the passphrase of the key.
Your session token expired after 30 minutes.
The secret to good tests is that they can fail.
Pass the token in the Authorization header.
Use a bearer token, not basic auth.
We should store a salted hash, never the password itself.
Password: at least 12 characters, one digit, one symbol
Password requirements: 8-64 characters
secret: never commit this file
token: the smallest unit of text
token budget: 128000
Tokens used: 48213 of 200000
api key: ask the platform team
credential: see the wiki
credentials: include
The cookie: banner must be accepted
the curl command fails with 401
password reset link sent to dev@example.org
password reset 2026-11-03T08:15:00Z
Enter passphrase (empty for no passphrase):
Permission denied (publickey,password).
error: password authentication failed for user "shop"
fatal: could not read Password for 'https://dev@git.example.org'
WARNING: Using a password on the command line interface can be insecure.
remote: Support for password authentication was removed on August 13, 2021.
401 Unauthorized: token expired at 2026-11-03
invalid_token: The access token is malformed
InvalidClientTokenId: The security token included in the request is invalid
密码必须至少十二个字符
トークンの有効期限が切れました
비밀번호를 입력하세요
Der Schlüssel liegt unter der Matte.
Le mot de passe est vide.
""".strip().splitlines()


def random_looking(m: Maker) -> list[str]:
    """What is random and no secret: hashes, ids, checksums, encoded data, versions."""
    found: list[str] = []
    for number in range(12):
        digest = hashlib.sha256(str(number).encode()).hexdigest()
        found += [
            f"commit {digest[:40]}",
            f"index {digest[:7]}..{digest[7:14]} 100644",
            f"sha256:{digest}",
            f"{digest}  dist/app-{number}.tar.gz",
            f'"integrity": "sha512-{m.of(BASE64, 86)}=="',
            f"session {uuid.UUID(digest[:32])}",
            f"request_id={uuid.UUID(digest[:32])}",
            f'etag: "{digest[:32]}"',
            f"image@sha256:{digest}",
            f"data:image/png;base64,iVBORw0KGgo{m.of(BASE64, 120)}",
            f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{m.of(BASE64, 43)} dev@host",
            f"/nix/store/{m.of('0123456789abcdfghijklmnpqrsvwxyz', 32)}-bash-5.2",
            f"assets/index-{m.of(ALNUM, 8)}.js",
            f"0x{digest[:40]}",
            f"trace_id={digest[:32]} span_id={digest[:16]}",
        ]
    return found


def false_examples() -> list[str]:
    return [*CODE, *PROSE, *random_looking(Maker(11))]
